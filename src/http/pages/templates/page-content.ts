import type { FieldView } from "../views.ts";
import { formatDate, formatTime, timeZoneHere } from "./texts.ts";

/**
 * The content of a page as JSON, for requests with `Accept: application/json`, so that an API test needs no HTML. It has everything that
 * the page shows, and what is needed to answer it: `csrf`, `fields` and `actions`. The body of an action is JSON or a form with `csrf`,
 * what the action `sends`, and the fields.
 */

interface Field {
  readonly name: string;
  readonly value?: unknown;
  /** The values to choose from. */
  readonly options?: readonly string[];
}

interface Action {
  readonly name: string;
  readonly method: "GET" | "POST";
  readonly href: string;
  readonly sends?: Readonly<Record<string, string>>;
}

export interface PageContent {
  readonly page: string;
  readonly state: string;
  readonly fields: readonly Field[];
  readonly actions: readonly Action[];
  readonly [content: string]: unknown;
}

/** The data of a page that only people need: its look. */
const look = new Set([
  "fixWords",
  "gives",
  "grantedTitles",
  "lang",
  "theme",
  "base",
  "brand",
  "keptQuery",
  "avatar",
  "passwordFirst",
  "passwordOpen",
  "wrong",
  "script",
  "passkeyOptions",
]);

function withoutLook(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutLook);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, item]) => (look.has(name) ? [] : [[name, withoutLook(item)]])),
  );
}

type Data = Readonly<Record<string, unknown>>;
type Answers = Pick<PageContent, "fields" | "actions">;

const text = (data: Data, name: string): string => (typeof data[name] === "string" ? data[name] : "");

const post = (href: string, name: string, sends?: Record<string, string>): Action => ({
  name,
  method: "POST",
  href,
  ...(sends !== undefined && { sends }),
});
const get = (href: string, name: string): Action => ({ name, method: "GET", href });

const namesIn = (list: unknown, member: string): string[] =>
  Array.isArray(list) ? list.map((item) => String((item as Data)[member])) : [];

/** Begins a sign-in by "Try it". */
const begin = (data: Data): Action[] =>
  typeof data["beginAction"] === "string" ? [post(data["beginAction"], "begin")] : [];

const otherSessions = (data: Data): string[] =>
  namesIn(
    (data["sessions"] as readonly Data[]).filter(({ current }) => current !== true),
    "sid",
  );

/** How to answer each page, by its template. */
const answers: Readonly<Record<string, (data: Data) => Answers>> = {
  login: (data) => ({
    fields: [{ name: "username", value: data["username"] }, { name: "password" }],
    actions: [
      post(text(data, "action"), "sign-in"),
      ...(data["picker"] === null ? [] : [post(text(data, "action"), "pick", { pick: "1" })]),
      ...(typeof data["switchHref"] === "string" ? [get(data["switchHref"], "switch-user")] : []),
      ...(data["canCancel"] === true ? [post(text(data, "action"), "cancel", { cancel: "1" })] : []),
    ],
  }),
  factor: (data) => ({
    fields: data["asked"] === "otp" ? [{ name: "otp" }] : [],
    actions: [
      ...(data["asked"] === "otp" ? [post(text(data, "action"), "continue")] : []),
      ...(data["button"] === true ? [post(text(data, "action"), "button", { passkey: "button" })] : []),
      ...(typeof data["insteadHref"] === "string" ? [get(data["insteadHref"], "instead")] : []),
      typeof data["cancelHref"] === "string"
        ? get(data["cancelHref"], "cancel")
        : post(text(data, "action"), "cancel", { cancel: "1" }),
    ],
  }),
  consent: (data) => {
    const { fresh, granted } = data["scopes"] as Data;
    const options = [...namesIn(fresh, "name"), ...namesIn(granted, "name")];
    return {
      fields: [{ name: "scope", value: options, options }],
      actions: [
        post(text(data, "action"), "allow", { decision: "allow" }),
        post(text(data, "action"), "deny", { decision: "deny" }),
        get(text(data, "switchUserAction"), "switch-user"),
      ],
    };
  },
  device: (data) => {
    const sends = { user_code: text(data, "userCode") };
    if (data["state"] === "confirm") {
      const decide = (decision: string): Action => post(text(data, "action"), decision, { ...sends, decision });
      return { fields: [], actions: [decide("allow"), decide("deny")] };
    }
    if (data["state"] === "done" || data["state"] === "denied") return { fields: [], actions: [] };
    return { fields: [{ name: "user_code", value: data["typed"] }], actions: [post(text(data, "action"), "continue")] };
  },
  logout: (data) => ({
    fields: [],
    actions: [
      post(text(data, "action"), "sign-out", { decision: "sign-out" }),
      post(text(data, "action"), "stay", { decision: "stay" }),
    ],
  }),
  account: (data) => ({
    fields: [
      { name: "language", value: data["language"], options: namesIn(data["languages"], "code") },
      { name: "theme", value: data["chosenTheme"], options: namesIn(data["themes"], "name") },
    ],
    actions: [
      post(text(data, "preferencesAction"), "save"),
      post(text(data, "signOutAction"), "sign-out"),
      post(text(data, "signOutAction"), "sign-out-everywhere", { everywhere: "1" }),
      ...namesIn(data["apps"], "revokeHref").map((href) => get(href, "remove")),
      ...otherSessions(data).map((sid) => post(text(data, "endSessionAction"), "end-session", { sid })),
    ],
  }),
  home: (data) => ({
    fields: [],
    actions: [...begin(data), get(text(data, "accountHref"), "account")],
  }),
  "try-it": (data) => ({
    fields: [],
    actions: [
      ...(data["answered"] === true
        ? [
            post(text(data, "action"), "call", { access_token: text(data, "accessToken") }),
            post(text(data, "action"), "remove", { access_token: text(data, "accessToken"), remove: "1" }),
          ]
        : begin(data)),
      get(text(data, "homeHref"), "home"),
    ],
  }),
  "try-it-failed": (data) => ({ fields: [], actions: [...begin(data), get(text(data, "homeHref"), "home")] }),
  "account-revoke": (data) => ({
    fields: [],
    actions: [post(text(data, "action"), "remove"), get(text(data, "cancelHref"), "keep")],
  }),
};

/** @param data what the template is given */
export function contentOf(template: string, data: object): Answers & Data {
  const none: Answers = { fields: [], actions: [] };
  return { ...(withoutLook(data) as Data), ...(answers[template]?.(data as Data) ?? none) };
}

/** The text of a key, in the language of the page. */
type Say = (key: string) => string;

const isDate = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));

/** A value as a person reads it: dates and booleans in words. @returns null without a value */
export function wordsOf({ name, value }: FieldView, lang: string, say: Say): string | null {
  if (typeof value === "boolean") return say(value ? "value.yes" : "value.no");
  if (value === null) return null;
  if (value === "[]" || value === "{}") return "";
  const time = (iso: string): string => formatTime(iso, lang, timeZoneHere());
  if (name === "createdAt" && !Number.isNaN(Date.parse(value))) return time(value);
  // OpenID Connect Core 5.1: seconds since 1970.
  if (name === "updated_at" && /^\d{1,10}$/.test(value)) return time(new Date(Number(value) * 1000).toISOString());
  if (/^birth_?date$/i.test(name) && isDate(value)) return formatDate(value, lang);
  return value;
}

/** The name of a person comes first in a summary. */
const first: readonly string[] = ["displayName", "username", "email", "name"];
const rank = ({ name }: FieldView): number => (first.includes(name) ? first.indexOf(name) : first.length);

const maxSummary = 3;

/** A value in a summary. A boolean alone would not say what it is about. */
function shortWords(field: FieldView, lang: string, say: Say): string {
  if (typeof field.value !== "boolean") return wordsOf(field, lang, say) ?? "";
  return /verified$/i.test(field.name) ? say(field.value ? "value.verified" : "value.not-verified") : "";
}

/**
 * What a scope gives, in one line: "alice@example.com, verified".
 * @returns "" if it gives no value
 */
export function summaryOf(fields: readonly FieldView[], lang: string, say: Say): string {
  const valueOf = (name: string): FieldView["value"] => fields.find((field) => field.name === name)?.value ?? null;
  const [local, domain] = [valueOf("email.username"), valueOf("email.domain")];
  const parts = local === null || domain === null ? [] : [`${local}@${domain}`];
  const others = fields
    .filter(({ name }) => name !== "email.username" && name !== "email.domain")
    .toSorted((a, b) => rank(a) - rank(b));
  for (const field of others) {
    if (parts.length === maxSummary) break;
    const words = shortWords(field, lang, say);
    // "Alice Adams, Adams, Alice" says nothing more than "Alice Adams".
    if (words !== "" && !parts.some((part) => part.includes(words))) parts.push(words);
  }
  return parts.join(", ");
}
