import type { NamedScope } from "../../core/sign-in/consent/consent.ts";
import type { RequestNote, RequestSummary } from "../../core/sign-in/purpose.ts";
import { themes, type RequestView, type ScopeView, type Theme, type View } from "./views.ts";
import type { Request, Response } from "express";
import { authorizeParameters, type RawParameters } from "../../core/protocol/authorize/parameters.ts";
import { logoutParameters } from "../../core/protocol/logout/logout.ts";
import { redacted } from "../../text/redacted.ts";
import { isList, isOpenInAddress } from "../../core/protocol/redaction/places.ts";
import { shownValue } from "../../core/protocol/redaction/values.ts";
import { readPreference, setPreference } from "../input/cookies.ts";
import { queryParameters } from "../input/params.ts";
import { routeOf, type RouteName } from "../route.ts";
import { brandView } from "./brand.ts";
import { notesOf, type Web } from "../web.ts";

/** The language and the theme for the person who reads a page. */

interface Reader {
  /** `ui_locales` of the request that is being answered (OpenID Connect Core 3.1.2.1). */
  readonly uiLocales?: string | null | undefined;
}

/** The interaction that a page belongs to; "" for none. */
const interactionOf = (req: Request): string => /\/interaction\/([^/]+)/.exec(req.originalUrl)?.[1] ?? "";

const text = (query: RawParameters, name: string): string | null => {
  const value = query[name];
  return typeof value === "string" && value !== "" ? value : null;
};

/**
 * The language of a page: the first with texts among `?lang`, `ui_locales`, an earlier choice, and the languages of the browser. A choice
 * made during a sign-in goes before the `ui_locales` of that sign-in. The user's record is test data, so it decides nothing.
 */
function languageFor(web: Web, req: Request, res: Response, query: RawParameters, { uiLocales }: Reader): string {
  const { texts } = web.renderer;
  const uid = interactionOf(req);
  const chosen = texts.match([text(query, "lang")]);
  if (chosen !== null) setPreference(web, res, "language", uid === "" ? chosen : `${chosen}.${uid}`);
  const [kept = null, keptFor = ""] = readPreference(web, req, "language")?.split(".") ?? [];
  const asked = (uiLocales ?? text(query, "ui_locales") ?? "").split(" ");
  return (
    texts.match([
      chosen,
      uid !== "" && keptFor === uid ? kept : null,
      ...asked,
      kept,
      ...(req.headers["accept-language"] === undefined ? [] : req.acceptsLanguages()),
    ]) ?? texts.fallback
  );
}

const themeNamed = (name: string | null | undefined): Theme | null => themes.find((theme) => theme === name) ?? null;

function themeFor(web: Web, req: Request, res: Response, query: RawParameters): Theme {
  const chosen = themeNamed(text(query, "theme"));
  if (chosen !== null) setPreference(web, res, "theme", chosen);
  return chosen ?? themeNamed(readPreference(web, req, "theme")) ?? "system";
}

/** The parameters that each page reads. A page with none would be the same without its query. */
const ownParameters = ({ ctx }: Web): Readonly<Partial<Record<RouteName, readonly string[]>>> => ({
  authorize: authorizeParameters,
  logout: [...logoutParameters, ...(ctx.layout.returnParameter === undefined ? [] : [ctx.layout.returnParameter])],
  login: ["q", "page", "switch"],
  factor: ["instead"],
  account: ["removed", "gone", "saved", "ended", "passkey-added", "passkey-removed", "passkey-refused"],
  root: ["login_hint"],
  inspector: [...["q", "page", "change", "flow"], ...["state", "status", "client", "user", "error", "role", "group"]],
});

/** What the links to another language repeat of the query: parameters of this page alone, and of them nothing that may be a secret. */
function keptOf(web: Web, query: RawParameters, res: Response): string {
  const { registered } = notesOf(res);
  const own = ownParameters(web)[routeOf(res).name] ?? [];
  const shown = (name: string, value: string): string | null => {
    if (!own.includes(name) || !isOpenInAddress(name)) return null;
    const text = shownValue(value, (part) => registered?.has(part) === true, isList(name));
    return text === null ? null : redacted(text);
  };
  const kept = Object.entries(query).flatMap(([name, given]) =>
    [given ?? []].flat().flatMap((one): [string, string][] => {
      const text = shown(name, one);
      return text === null ? [] : [[name, text]];
    }),
  );
  return new URLSearchParams(kept).toString();
}

/** What every page receives. A choice by `?lang` or `?theme` is kept in a cookie. */
export function viewFor(web: Web, req: Request, res: Response, reader: Reader = {}): View {
  const query = queryParameters(req);
  return {
    lang: languageFor(web, req, res, query, reader),
    theme: themeFor(web, req, res, query),
    base: web.base,
    brand: brandView(web),
    keptQuery: req.method === "GET" || req.method === "HEAD" ? keptOf(web, query, res) : null,
  };
}

/** The words that a fixture gives a scope: in the language of the page, else in English, else in the first language. */
export const scopeIn =
  (pageLang: string) =>
  ({ name, description }: NamedScope): ScopeView => {
    const words = description ?? {};
    const lang = pageLang.slice(0, 2);
    const found = [lang, "en", ...Object.keys(words)].find((code) => Object.hasOwn(words, code));
    return {
      name,
      title: found === undefined ? null : (words[found] ?? null),
      titleLang: found === lang ? undefined : found,
    };
  };

const noteText = (note: RequestNote): RequestView["notes"][number] => ({
  key: `note.${note.kind}`,
  values: note.kind === "unknown-scopes" ? { scopes: note.scopes.join(" ") } : {},
});

/** The request at the foot of login and consent. */
export const requestView = ({ details, notes }: RequestSummary): RequestView => ({
  details,
  notes: notes.map(noteText),
});
