import { CookieJar } from "tough-cookie";
import { Problem, Unanswered } from "../check.ts";
import { resolved } from "../http.ts";
import { codeOnceLeft } from "../one-time-code.ts";
import { keptCookie } from "./held.ts";
import { FarAddressError } from "./near.ts";
import { refusedIn, type RecordOfRequest } from "./refused.ts";
import { SignInError } from "./sign-in-error.ts";
import type { Browser, End, Held, HeldCookie, Places, Visit } from "./visit.ts";

/** Signs a user in at an app, through a running idp, and hands over what the browser then holds. */

/** What the running idp does for it. */
export interface SignInServer {
  readonly issuer: string;
  /** The user's one-time code, or in how many seconds there is one. */
  otp(user: string): Promise<{ readonly code: string | null; readonly availableIn: number }>;
  /** Begins the user's session in the browser of a sign-in. @returns the value of the cookie */
  begin(user: string, uid: string, csrf: string): Promise<string>;
  /** The requests that it received, the oldest first. @param since the id of a request: only later ones */
  requests(since: string | undefined): Promise<readonly RecordOfRequest[]>;
}

export interface SignInAtOptions {
  /** The address behind the app's sign-in button. */
  readonly start: string;
  /** An address that only a signed-in user sees; null: the callback is judged. */
  readonly signedIn: string | null;
  readonly user: string;
  readonly startButton?: string | undefined;
  readonly lookup: Places["lookup"];
  readonly newBrowser: (places: Places) => Promise<Browser>;
}

/** @throws {SignInError} */
export async function signInAt(server: SignInServer, options: SignInAtOptions): Promise<Held> {
  const { start, signedIn, user, startButton, lookup, newBrowser } = options;
  const { issuer } = server;
  for (const address of [start, ...(signedIn === null ? [] : [signedIn])]) await requireNear(address, issuer, lookup);
  const since = (await server.requests(undefined)).at(-1)?.id;
  const browser = await newBrowser({
    ...{ issuer, user, lookup, startButton, redirectUris: null, origins: null },
    code: () => codeOnceLeft(() => server.otp(user)),
    begin: (uid, csrf) => server.begin(user, uid, csrf),
  });
  try {
    const visit = await browser.signIn(start);
    let why = whyNotBegun(visit, options, issuer);
    if (why === null) {
      why = signedIn === null ? whyNot(visit) : whyNotIn(await browser.look(signedIn), visit);
    }
    const records = await server.requests(since);
    const { refused, users } = refusedIn(records, visit);
    if (why !== null) throw signInError(user, why, refused);
    if (users.length > 0 && !users.includes(user)) {
      throw new SignInError("refused", `${user} was not signed in: ${users.join(", ")} was`, {
        fix: 'the "login" setting of the server decides who signs in: start it with --login picker',
      });
    }
    return await browser.held();
  } finally {
    await browser.close();
  }
}

/** @throws {SignInError} */
async function requireNear(address: string, issuer: string, lookup: Places["lookup"]): Promise<void> {
  const url = new URL(address);
  if (url.origin === new URL(issuer).origin) return;
  await resolved(url.hostname, lookup).catch((error: unknown) => {
    if (error instanceof Problem && error.cause instanceof FarAddressError) {
      requireOpened({ kind: "stuck", why: error.message, error });
    }
  });
}

/** Why somebody is not signed in, in words that follow "alice was not signed in: ". */
interface Why {
  readonly what: string;
  readonly fix: string | null;
}

function signInError(user: string, { what, fix }: Why, refused: ReturnType<typeof refusedIn>["refused"]): SignInError {
  if (refused === null) return new SignInError("refused", `${user} was not signed in: ${what}`, { fix });
  return new SignInError("refused", `${user} was not signed in: ${refused.what}`, refused);
}

/** @throws {SignInError} where an address may not be opened, or nothing answers */
function requireOpened(end: End): void {
  if (end.kind !== "stuck") return;
  const causes = [end.error, end.error instanceof Error ? end.error.cause : null];
  const far = causes.find((cause) => cause instanceof FarAddressError);
  if (far !== undefined) {
    throw new SignInError("far", end.why, {
      fix: "where it is yours, start idp sign-in or idp mcp-server with --allow-remote",
    });
  }
  if (causes.some((cause) => cause instanceof Unanswered || String(cause).includes("net::ERR_"))) {
    throw new SignInError("unanswered", end.why, { fix: "start the app, or correct the address" });
  }
}

const pathOf = (url: string): string => new URL(url).pathname;

function whyNotBegun(
  { end, request, response, steps }: Visit,
  { start, startButton }: SignInAtOptions,
  issuer: string,
): Why | null {
  requireOpened(end);
  if (response !== null && end.kind === "stuck") return { what: end.why, fix: null };
  if (response !== null) {
    const { parameters } = response;
    const error = parameters.get("error");
    return error === null ? null : { what: `the app was sent ${error}`, fix: parameters.get("error_description") };
  }
  if (end.kind === "stuck") return { what: end.why, fix: null };
  if (request !== null) return { what: "idp never sent the browser back to the app", fix: null };
  const last = steps.at(-1);
  const answer = last === undefined ? "" : `: the app answered ${last.status} at ${pathOf(last.url.href)}`;
  const button = startButton === undefined ? " or name its button with --start-button TEXT," : "";
  return {
    what: `${start} did not lead to ${issuer}${answer}`,
    fix: `give the address behind the app's sign-in button,${button} and add --browser for a page that needs scripts`,
  };
}

/** By the response to the callback. */
function whyNot({ end, callback, changed }: Visit): Why | null {
  if (end.kind === "idp") return { what: "the app sent the browser to sign in again", fix: null };
  if (callback !== null && callback.status >= 400) {
    return { what: `the app answered ${callback.status} at ${callback.url.pathname}`, fix: "read what the app logged" };
  }
  if (changed) return null;
  return {
    what: "the app's callback neither set nor changed a cookie",
    fix: "for an app that keeps its cookie, or its tokens in the page, add --signed-in URL: an address that only a signed-in user sees",
  };
}

/** By what the address shows that only a signed-in user sees. */
function whyNotIn({ end }: Visit, { callback }: Visit): Why | null {
  requireOpened(end);
  const before =
    callback !== null && callback.status >= 400 ? `, after ${callback.status} at ${callback.url.pathname}` : "";
  switch (end.kind) {
    case "page":
      if (end.status < 400) return null;
      return { what: `the app answered ${end.status} at ${pathOf(end.url)}${before}`, fix: null };
    case "idp":
      return { what: `the app's --signed-in leads to sign in${before}`, fix: null };
    case "stuck":
      return { what: end.why, fix: null };
    default:
      return { what: `the app's --signed-in leads elsewhere`, fix: null };
  }
}

/** The value of the `Cookie` header that a browser would send to an address; empty without cookies. */
export function cookieHeader(cookies: readonly HeldCookie[], url: string): string {
  const jar = new CookieJar(undefined, { rejectPublicSuffixes: false });
  for (const held of cookies) {
    const [cookie, setBy] = keptCookie(held);
    jar.setCookieSync(cookie, setBy.href, { ignoreError: true });
  }
  return jar.getCookieStringSync(url);
}
