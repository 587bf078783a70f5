import type { Browser } from "../../../client/app/visit.ts";
import { isIdp } from "../../../client/app/visit.ts";
import { fieldFor, filled, metaToken, postForms } from "../../../client/app/post-form.ts";
import { redirectOf, type Outgoing, type Reply } from "../../../client/http.ts";
import { idIn, requestWith, type AccountPlace, type MarkHeader } from "./account-place.ts";

/** Recognizes the account that a browser is signed in to, by a text that its user wrote there, or by its id. */

/** What tells an account from others: the text that was written there, or the id. */
export interface Recognized {
  readonly value: string;
  /** In words that follow "showed …": "the text of alice". */
  readonly what: string;
}

export interface Probe {
  /** Writes a new text, or reads the id. @returns a text where that is not possible: why */
  take(browser: Browser, user: string): Promise<Recognized | string>;
  /** Whether the account of this browser is the one that was recognized. */
  isSame(browser: Browser, account: Recognized): Promise<boolean>;
}

interface Around {
  /** The app leads to them where nobody is signed in. */
  readonly issuers: readonly string[];
  readonly signedIn: string;
  readonly random: (bytes: number) => string;
  /** Is told where a text stays. */
  readonly leaves: (key: string, what: string, inReport?: string) => void;
}

const maxRedirects = 10;
/** Letters of a field's name that are shown. */
const maxName = 60;
/** Letters of a mark: so many are on no page by chance. */
const markLength = 12;

const get = (url: string, headers: Readonly<Record<string, string>> = {}): Outgoing => ({
  ...{ method: "GET", url },
  headers: { accept: "text/html,application/json;q=0.9,*/*;q=0.8", ...headers },
});

/** Twelve letters. */
function newMark(random: (bytes: number) => string): string {
  const letters = "abcdefghijklmnopqrstuvwxyz";
  return Array.from(random(markLength), (one) => letters[(one.codePointAt(0) ?? 0) % letters.length])
    .join("")
    .slice(0, markLength);
}

export function probeOf(place: AccountPlace, around: Around): Probe {
  const { issuers, signedIn, random, leaves } = around;
  const marks: string[] = [];
  const isSignIn = (url: string): boolean => issuers.some((issuer) => isIdp({ issuer }, new URL(url)));

  /** The answer at the end of the redirects; null: the app asks to sign in. */
  async function follow(browser: Browser, first: Outgoing, from: string | null): Promise<Reply | null> {
    let next = first;
    let last = from;
    for (let step = 0; step < maxRedirects; step += 1) {
      if (isSignIn(next.url)) return null;
      const reply = await browser.request(next, last);
      const then = redirectOf(reply);
      if (then === null) return reply;
      last = reply.url;
      next = get(then.url);
    }
    return null;
  }

  /** The page that a flag names. @returns a text: why a signed-in browser is shown nothing there */
  async function pageOf(browser: Browser, flag: string, request: Outgoing): Promise<Reply | string> {
    const { url } = request;
    const page = await follow(browser, request, null);
    if (page === null) return `${flag}: ${url} asks to sign in`;
    if (page.status < 400) return page;
    const hint = page.status === 401 ? "; an app that keeps its token outside cookies cannot be asked" : "";
    return `${flag}: the app answered ${page.status} at ${url}${hint}`;
  }

  async function headersFor(browser: Browser, headers: readonly MarkHeader[]): Promise<Record<string, string>> {
    const all: Record<string, string> = {};
    for (const { name, value, from } of headers) {
      if (from === null) all[name] = value;
      else {
        const page = await follow(browser, get(from.url), null);
        all[name] = value.replace(from.placeholder, () => from.pattern.exec(page?.text ?? "")?.[1] ?? "");
      }
    }
    return all;
  }

  /** @returns the field of the form that has the mark now, or null where it is no form; a text where that is not possible: why */
  async function write(browser: Browser, mark: string): Promise<{ readonly field: string | null } | string> {
    if (place.kind !== "mark") return { field: null };
    const headers = await headersFor(browser, place.headers);
    if (place.mark.kind === "request") {
      const request = requestWith(place.mark, mark);
      const { origin } = new URL(signedIn);
      const page = await follow(browser, get(signedIn), null);
      const copied = { ...(await copiedBy(browser, request.url)), ...metaHeader(page) };
      const reply = await browser.request(
        { ...request, headers: { accept: "application/json", origin, ...copied, ...headers } },
        null,
      );
      return whyRefused(reply, request.method) ?? { field: null };
    }
    const { url, field: named } = place.mark;
    const page = await pageOf(browser, "--mark", get(url, headers));
    if (typeof page === "string") return page;
    for (const form of postForms(page.text, page.url)) {
      const field = fieldFor(form, named, marks);
      if (field === null) continue;
      const sent = filled(form, field, mark, `idp-check-${random(12)}`);
      const reply = await browser.request({ ...sent, headers }, page.url);
      const then = redirectOf(reply);
      if (then !== null && isSignIn(then.url)) return "--mark: the form leads to sign in";
      return whyRefused(reply, "POST") ?? { field };
    }
    return named === null
      ? `--mark: no form of ${url} has method POST and an empty field for text; name the field with --mark-field NAME`
      : `--mark: no form of ${url} has method POST and the field ${named}`;
  }

  const shown = async (browser: Browser, url: string, headers: readonly MarkHeader[]): Promise<string> => {
    const page = await follow(browser, get(url, await headersFor(browser, headers)), null);
    return page !== null && page.status < 400 ? page.text : "";
  };

  async function hasMark(browser: Browser, mark: string): Promise<boolean> {
    if (place.kind !== "mark") return false;
    if ((await shown(browser, place.show, place.headers)).includes(mark)) return true;
    // A script may put it there.
    const { end } = await browser.look(place.show);
    return end.kind === "page" && end.status < 400 && end.text.includes(mark);
  }

  return {
    async take(browser, user) {
      if (place.kind === "id") {
        const page = await pageOf(browser, "--account", get(place.url));
        if (typeof page === "string") return page;
        const value = idIn(page.text, place.id);
        return value === null
          ? `--account: ${place.url} shows no id where --account-id says`
          : { value, what: `the account of ${user}` };
      }
      const mark = newMark(random);
      const written = await write(browser, mark);
      if (typeof written === "string") return written;
      marks.push(mark);
      leaves("mark", `the text "${mark}" of ${user} (${place.mark.url})`, `the text of ${user} (${place.mark.url})`);
      if (await hasMark(browser, mark)) return { value: mark, what: `the text of ${user}` };
      const lacks = `--show: ${place.show} does not show ${user} the text that --mark wrote`;
      return written.field === null
        ? `${lacks}: name an address that does with --show`
        : `${lacks} into the field ${written.field.slice(0, maxName)}: name the right field with --mark-field, or an address that shows it with --show`;
    },
    async isSame(browser, { value }) {
      if (place.kind === "mark") return hasMark(browser, value);
      return idIn(await shown(browser, place.url, []), place.id) === value;
    },
  };
}

function whyRefused({ status }: Reply, method: string): string | null {
  if (status < 400) return null;
  const hint = [401, 403, 419, 422].includes(status)
    ? "; for a token against CSRF in a header, add --mark-header 'NAME: {URL /REGEX/}'"
    : "";
  return `--mark: the app answered ${status} to the ${method}${hint}`;
}

/** Cookies whose value a script sends back as a header. */
const copies: Readonly<Record<string, string>> = {
  "XSRF-TOKEN": "x-xsrf-token",
  csrftoken: "x-csrftoken",
  _xsrf: "x-xsrftoken",
};

/** What a script of the app sends with a request: its own origin, and what protects it from other sites. */
export async function scriptHeaders(browser: Browser, url: string, signedIn: string): Promise<Record<string, string>> {
  const page = await browser.request(get(signedIn), null);
  return { origin: new URL(signedIn).origin, ...(await copiedBy(browser, url)), ...metaHeader(page) };
}

async function copiedBy(browser: Browser, url: string): Promise<Record<string, string>> {
  const { cookies } = await browser.held();
  const { hostname } = new URL(url);
  const own = cookies.filter(({ name, domain, httpOnly }) => {
    const host = domain.replace(/^\./, "");
    return name in copies && !httpOnly && (hostname === host || hostname.endsWith(`.${host}`));
  });
  return Object.fromEntries(own.map(({ name, value }) => [copies[name] ?? "", decoded(value)]));
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

function metaHeader(page: Reply | null): Record<string, string> {
  const token = page === null ? null : metaToken(page.text);
  return token === null ? {} : { "x-csrf-token": token };
}
