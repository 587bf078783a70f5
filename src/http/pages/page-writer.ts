import { themes, type FieldView, type ScopeView, type View } from "./views.ts";
import type { Response, RequestHandler } from "express";
import { singleClaim } from "../../core/records/scopes/claims.ts";
import { jsonType, prefersHtml, sendText } from "../answer/answer.ts";
import { contentOf, wordsOf, type PageContent } from "./templates/page-content.ts";
import type { PageFrame, Renderer } from "./templates/render.ts";
import { formPageHeaders, privateApiHeaders, withOwnScript, formPostHeaders } from "../answer/security-headers.ts";
import { directionOf, nameOfLanguage, escapeHtml, type Text, type Texts } from "./templates/texts.ts";
import { hash } from "node:crypto";

/** A page ready to be sent. */
export interface Page {
  readonly html: string;
  /** The security headers. */
  readonly headers: Readonly<Record<string, string>>;
  /** The same content as data, made only if a client asks for it. */
  readonly content: () => PageContent;
}

/** Sends HTML, or the same content as JSON if the client asks for that. */
export function sendPage(response: Response, status: number, page: Page): void {
  // As bytes: a page is put together from many strings, and Node.js would encode it twice.
  const html = (): Buffer => Buffer.from(page.html);
  if (prefersHtml(response.req)) sendText(response, status, page.headers, "text/html; charset=utf-8", html());
  else sendText(response, status, privateApiHeaders, jsonType, JSON.stringify(page.content()));
}

/** How a page is titled and marked, beside the name of its template. */
interface Heading {
  readonly state: string;
  readonly title: string;
  /** `data-page`, if it is not the name of the template. */
  readonly name?: string;
  /** Something was refused. */
  readonly failed?: boolean;
  /** It has a command with a button that copies it. */
  readonly copies?: boolean;
}

/** The links in the footer to the same page in another language or theme. */
function choicesOf({ languages }: Texts, { keptQuery, theme }: View, lang: string): PageFrame["choices"] {
  if (keptQuery === null) return { languages: [], themes: [] };
  const kept = keptQuery === "" ? "" : `${keptQuery}&`;
  const href = (name: string, value: string): string => `?${kept}${name}=${value}`;
  return {
    languages: languages.map((code) => ({
      code,
      name: nameOfLanguage(code),
      href: href("lang", code),
      current: code === lang,
    })),
    themes: themes.map((name) => ({ key: `theme.${name}`, href: href("theme", name), current: name === theme })),
  };
}

/** The words of one page in its language, and the function that renders the page. */
export function writerOf(renderer: Renderer, view: View) {
  const { texts } = renderer;
  const lang = texts.match([view.lang]) ?? texts.fallback;
  const has = (key: string): boolean => texts.has(lang, key);
  const say = (key: string): string => texts.plain(lang, { key, values: {} });
  const label = (name: string): string => {
    const key = `field.${name.replace(/\[\d+\]/g, "[]")}`;
    return has(key) ? say(key) : name;
  };
  const scopeTitle = (name: string): string => {
    // A single claim that was asked for (OpenID Connect Core 5.5).
    const claim = singleClaim(name);
    if (claim !== null) return texts.plain(lang, { key: "scope.claim", values: { claim: label(claim) } });
    return has(`scope.${name}`) ? say(`scope.${name}`) : name;
  };
  return {
    lang,
    say,
    plain: (text: Text): string => texts.plain(lang, text),
    /** A scope with its title: the given one, else that of the catalog, else its name. */
    titled: ({ name, title, titleLang }: ScopeView) => ({
      name,
      title: title ?? scopeTitle(name),
      titleLang: titleLang ?? null,
    }),
    field: ({ name, value }: FieldView) => {
      return {
        name,
        label: label(name),
        value: wordsOf({ name, value }, lang, say),
      };
    },
    page: (template: string, heading: Heading, data: object, headers = formPageHeaders): Page => {
      const frame = {
        name: heading.name ?? template,
        failed: heading.failed ?? false,
        copies: heading.copies ?? false,
        state: heading.state,
        title: heading.title,
        lang,
        dir: directionOf(lang),
        base: view.base,
        brand: view.brand,
        theme: view.theme,
        choices: choicesOf(texts, view, lang),
      };
      return {
        html: renderer.render(template, frame, data),
        headers: frame.copies ? withOwnScript(headers) : headers,
        content: () => ({ page: frame.name, ...heading, lang, ...contentOf(template, data) }),
      };
    },
  };
}

/** Pages that send a message to the page that opened or framed them. Nobody sees them, and they change nothing. */

const script = "const{origin,message}=document.body.dataset;(opener??parent).postMessage(JSON.parse(message),origin)";
const scripts = `script-src 'sha256-${hash("sha256", script, "base64")}'`;

/** @param origin the page that may read the message and frame this one; `*` for any page */
export function sendMessage(res: Response, message: unknown, origin: string): void {
  const frames = origin === "null" ? "'none'" : origin;
  res.set({
    "Content-Security-Policy": `default-src 'none'; ${scripts}; base-uri 'none'; frame-ancestors ${frames}`,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
  });
  const data = `data-origin="${escapeHtml(origin)}" data-message="${escapeHtml(JSON.stringify(message))}"`;
  res
    .type("html")
    .send(`<!doctype html><meta charset="utf-8"><title>…</title><body ${data}><script>${script}</script>`);
}

/** A page that sends the same message to everybody. */
export const frame =
  (message: string): RequestHandler =>
  (_req, res) => {
    sendMessage(res, message, "*");
  };

/** An answer that the browser posts to a client by itself (OAuth 2.0 Form Post Response Mode; SAML 2.0 Bindings 3.5). */
export interface FormPostView extends View {
  /** The redirect URI. */
  readonly action: string;
  readonly parameters: readonly (readonly [name: string, value: string])[];
  /** After a sign-out: service providers that are not told. */
  readonly others?: readonly string[];
}

export function renderFormPost(renderer: Renderer, view: FormPostView): Page {
  const { page, say } = writerOf(renderer, view);
  const parameters = view.parameters.map(([name, value]) => ({ name, value }));
  const heading = { state: "default", title: say("form-post.title") };
  return page("form-post", heading, { action: view.action, parameters }, formPostHeaders);
}

/** A message of SAML that the browser posts. */
export function renderSamlPost(renderer: Renderer, view: FormPostView): Page {
  const { page, say } = writerOf(renderer, view);
  const parameters = view.parameters.map(([name, value]) => ({ name, value }));
  const heading = { state: "default", title: say("form-post.title") };
  return page("saml-post", heading, { action: view.action, parameters, others: view.others ?? [] }, formPostHeaders);
}
