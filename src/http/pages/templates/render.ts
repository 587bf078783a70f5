import type { BrandView, Theme } from "../views.ts";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { Eta } from "eta";
import { builtInRoot, folderOf, readPages, type Pages } from "./page-file.ts";
import { acting, visible } from "../../../text/terminal.ts";
import { escapeHtml, loadTexts, type Texts, type TextValues } from "./texts.ts";

/** What the layout shows beside the page itself. Every template has it as `it.page`, and the brand also as `it.brand`. */
export interface PageFrame {
  readonly name: string;
  readonly state: string;
  readonly lang: string;
  readonly dir: "ltr" | "rtl";
  /** The path of the issuer, without a trailing slash: "" or "/idp". */
  readonly base: string;
  readonly title: string;
  readonly brand: BrandView;
  readonly theme: Theme;
  /** Links to the same page in another language or theme. */
  readonly choices: {
    readonly languages: readonly {
      readonly code: string;
      readonly name: string;
      readonly href: string;
      readonly current: boolean;
    }[];
    /** `key`: the key of the text. */
    readonly themes: readonly { readonly key: string; readonly href: string; readonly current: boolean }[];
  };
  /** Something was refused: the title says so first. */
  readonly failed: boolean;
  /** Whether it has a command with a button that copies it. */
  readonly copies: boolean;
}

/** A file of the templates folder that pages load. */
interface Asset {
  readonly text: string;
  /** A digest of the content. */
  readonly version: string;
}

/** Renders pages from templates and data. One serves all requests. */
export interface Renderer {
  readonly texts: Texts;
  /** Reads the folders again, after `checkTemplates`. */
  reload(): void;
  stylesheet(): Asset;
  /** The script of the live pages of the inspector, of the pages that ask for a passkey, or of those with a command to copy. */
  script(name?: "inspector" | "passkey" | "copy"): Asset;
  /** The HTML of `<template>.eta` in the layout. */
  render(template: string, frame: PageFrame, data: object): string;
}

/** Below the path of the issuer. */
export const stylesheetPath = "/_idp/assets/style.css";
/** Below the path of the issuer. */
export const copyScriptPath = "/_idp/assets/copy.js";
/** Below the path of the issuer. */
export const scriptPath = "/_idp/assets/inspector.js";
/** Below the path of the issuer. */
export const passkeyScriptPath = "/_idp/assets/passkey.js";

/** The address of the script that asks the browser for a passkey. @param base the path of the issuer */
export const passkeyScript = (renderer: Renderer, base: string): string =>
  `${base}${passkeyScriptPath}?v=${renderer.script("passkey").version}`;

/** Eta would print "undefined" for a missing value, and "[object Object]" for an object. */
function shown(value: unknown): string {
  if (typeof value !== "string" && typeof value !== "number") {
    throw new TypeError(`a template shows text and numbers, not ${value === null ? "null" : typeof value}`);
  }
  return String(value);
}

const unseen = new RegExp(acting.source, "u");

/**
 * Shows the characters of names and requests that nobody sees, or that turn the text around. Values of forms stay as they are, because they are
 * sent again: attributes have no `<` or `>`, which are escaped.
 */
function showUnseen(html: string): string {
  const isClean = !unseen.test(html.replaceAll(/[\n\r\t]/g, ""));
  if (isClean) return html;
  return html.replaceAll(/<textarea[^]*?<\/textarea>|<[^>]*>|[^<]+/g, (piece) =>
    piece.startsWith("<") ? piece : piece.replaceAll(acting, (one) => (/[\n\r\t]/.test(one) ? one : visible(one))),
  );
}

/** An error of a template, in one line for the log: the file, the line number and the text of the line. */
class TemplateError extends Error {}

/** Eta compiles a template when it is first needed, and keeps the function. */
function createEngine(roots: readonly string[], pages: Pages): Eta {
  const eta = new Eta({
    cache: true,
    // Makes errors say where they happened.
    debug: true,
    escapeFunction: (value) => escapeHtml(String(value)),
    autoFilter: true,
    filterFunction: shown,
  });
  eta.readFile = (path) => pages.get(path) ?? "";
  eta.RuntimeErr = (error, template, line, path) => {
    // An error of an included template already says where.
    if (error instanceof TemplateError) throw error;
    const source = template.split("\n")[line - 1]?.trim() ?? "";
    throw new TemplateError(`${path}:${line}: ${error.message}: ${source}`, { cause: error });
  };
  eta.resolvePath = (name) => (eta.filepathCache[name] ??= firstFile(roots, pages, `${name}.eta`));
  return eta;
}

/**
 * @param overrides folders whose files (templates, `style.css`, `locales/*.json`) replace the built-in ones, file by file; the first wins
 * @throws {OperationError} usage, for a path that is not a folder
 */
export function createRenderer(overrides: readonly string[] = []): Renderer {
  const roots = [...overrides.map(folderOf), builtInRoot];
  function load() {
    const pages = readPages(roots);
    return { pages, texts: loadTexts(roots, pages), eta: createEngine(roots, pages), assets: new Map<string, Asset>() };
  }
  let loaded = load();

  function asset(name: string): Asset {
    const known = loaded.assets.get(name);
    if (known !== undefined) return known;
    const text = loaded.pages.get(firstFile(roots, loaded.pages, name)) ?? "";
    const made = { text, version: createHash("sha256").update(text).digest("base64url").slice(0, 16) };
    loaded.assets.set(name, made);
    return made;
  }
  const stylesheet = (): Asset => asset("style.css");
  const script: Renderer["script"] = (name = "inspector") => asset(`${name}.js`);

  return {
    get texts() {
      return loaded.texts;
    },
    reload() {
      loaded = load();
    },
    stylesheet,
    script,
    render(template, frame, data) {
      const { texts, eta } = loaded;
      const { base, brand, lang } = frame;
      const page = {
        stylesheet: `${base}${stylesheetPath}?v=${stylesheet().version}`,
        copyScript: `${base}${copyScriptPath}?v=${script("copy").version}`,
        ...frame,
      };
      const t = (key: string, values: TextValues = {}): string => texts.plain(lang, { key, values });
      const html = (key: string, values: TextValues = {}, hook?: string): string => texts.html(lang, key, values, hook);
      // For loops: Eta's `include` copies every value of the page each time.
      const partial = (name: string, values: object): string =>
        eta.render(name, { page, brand, t, html, partial, ...values });
      return showUnseen(eta.render(template, { page, brand, t, html, partial, ...data }));
    },
  };
}

/** The path of a file in the first folder that has it. */
function firstFile(roots: readonly string[], pages: Pages, name: string): string {
  const path = roots.map((root) => join(root, name)).find((one) => pages.has(one));
  if (path === undefined) throw new Error(`${name} is not in ${roots.join(", ")}`);
  return path;
}
