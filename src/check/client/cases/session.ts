import { signOutAt, standingUnknown, whyNotSignedIn, heldSignIn } from "../../frame/app.ts";
import {
  noticed,
  notReached,
  notRequired,
  unnoticed,
  type Case,
  type Finding,
  isFinding,
} from "../../frame/verdict.ts";
import { scriptsOf } from "../../../client/app/html.ts";
import type { Browser, HeldCookie } from "../../../client/app/visit.ts";
import type { Attempt } from "../attempt.ts";

/** The session of the app: whose cookies are signed in, and what its pages show. */

/** Whether a browser that only has these cookies is signed in. */
async function standingWith(attempt: Attempt, cookies: readonly HeldCookie[]) {
  const browser = await attempt.newBrowser();
  await browser.take(cookies);
  return attempt.standing(browser);
}

export const sessionFixed: Case<Attempt> = {
  name: "session-fixed",
  mustNot: "whoever gave the user a cookie before the sign-in is signed in as the user afterwards",
  should: "begin a new session at the callback",
  paragraph: "ASVS 5.0 7.2.4",
  fix: "give the session a new id at the callback, before the user is stored in it",
  async run(attempt) {
    const browser = await attempt.newBrowser();
    const begun = await heldSignIn(attempt, browser);
    if (isFinding(begun)) return begun;
    const { cookies } = await browser.held();
    const visit = await browser.deliver(begun.response);
    const why = whyNotSignedIn(visit, await attempt.standing(browser));
    if (why !== null) return notReached(why);
    if (cookies.length === 0) return noticed("set no cookie before the callback");
    const standing = await standingWith(attempt, cookies);
    if (standing === "broken") return standingUnknown;
    return standing === "in"
      ? unnoticed("signed in a second browser that had the cookies from before the sign-in")
      : noticed("signed in only the browser with the new cookies");
  },
};

export const signedOutCookie: Case<Attempt> = {
  name: "signed-out-cookie",
  mustNot: "cookies that were copied before the sign-out still sign in",
  should: "end the session on the server, not only in the browser",
  paragraph: "ASVS 5.0 7.4.1",
  fix: "delete the session on the server at the sign-out, beside the cookie",
  async run(attempt) {
    const { signOut } = attempt.app;
    if (signOut === null) return notReached("name the address that signs the user out with --sign-out URL");
    const browser = await attempt.newBrowser();
    const why = whyNotSignedIn(await attempt.signIn(browser), await attempt.standing(browser));
    if (why !== null) return notReached(why);
    const { cookies } = await browser.held();
    await signOutAt(browser, signOut);
    const standing = await standingWith(attempt, cookies);
    if (standing === "broken") return standingUnknown;
    if (standing === "out") return noticed("signed nobody in with the cookies from before the sign-out");
    return notRequired("signed in a browser with the cookies from before the sign-out", "ASVS 5.0 7.4.1, 7.4.2");
  },
};

/** Scripts of a page that are read. */
const maxScripts = 20;
/** Bytes of a script, which may be a whole app. */
const maxScript = 10_000_000;
/** Characters: a shorter secret may be on a page by chance. */
const minSecret = 16;
/** It begins only where a word begins, so that no part of a long word is read twice. */
const jwt = /(?<![\w-])(ey[\w-]{10,})\.ey[\w-]{10,}\.[\w-]*/g;

const isRefreshToken = (head: string): boolean => {
  try {
    return (JSON.parse(Buffer.from(head, "base64url").toString()) as { readonly typ?: unknown }).typ === "rt+jwt";
  } catch {
    return false;
  }
};

/** What of a text nobody else may read. */
function secretIn(text: string, clientSecret: string | null): string | null {
  if (clientSecret !== null && clientSecret.length >= minSecret && text.includes(clientSecret)) return "client_secret";
  return [...text.matchAll(jwt)].some(([, head = ""]) => isRefreshToken(head)) ? "a refresh token" : null;
}

export const secretInPage: Case<Attempt> = {
  name: "secret-in-page",
  mustNot: "a page or a script of the app shows the client's secret or a refresh token",
  should: "keep both on the server",
  paragraph: "ASVS 5.0 10.1.1, RFC 9700 4.14",
  fix: "give the page only what it shows, and keep tokens in the session on the server",
  async run(attempt) {
    const { app, control, known } = attempt;
    const browser = await attempt.newBrowser();
    const visit = await attempt.signIn(browser);
    const why = whyNotSignedIn(visit, await attempt.standing(browser));
    if (why !== null) return notReached(why);
    const secret = await control.secret();
    const pages = new Set([
      app.signedIn,
      app.who ?? app.signedIn,
      ...(visit.end.kind === "page" ? [visit.end.url] : []),
    ]);
    const sent = [...known.texts].map((text): Sent => ["a page", text]);
    for (const url of pages) sent.push(...(await textsAt(browser, url)));
    // What everybody may read before the sign-in.
    const stranger = await attempt.newBrowser();
    for (const url of [app.start, app.signedIn]) {
      const { end } = await stranger.look(url);
      if (end.kind === "page") sent.push(...(await textsAt(stranger, end.url)));
    }
    for (const [where, text] of sent) {
      const found = secretIn(text, secret);
      if (found !== null) return told(found, where, control.isConfidential);
    }
    return noticed("showed neither the client's secret nor a refresh token");
  },
};

const told = (found: string, where: string, isConfidential: boolean): Finding =>
  isConfidential
    ? unnoticed(`showed ${found} in ${where}`)
    : notReached(`a public client may keep its refresh token in the browser: it is in ${where}`);

/** What the app sent, and where. */
type Sent = readonly [where: string, text: string];

/** What an address of the app sends, and the scripts that it names. */
async function textsAt(browser: Browser, url: string): Promise<readonly Sent[]> {
  const { text } = await browser.request({ method: "GET", url }, null);
  const { origin, pathname } = new URL(url);
  const scripts = scriptsOf(text, url).filter((script) => new URL(script).origin === origin);
  const all: Sent[] = [[`the page ${pathname}`, text]];
  for (const script of scripts.slice(0, maxScripts)) {
    const reply = await browser.request({ method: "GET", url: script, sizeLimit: maxScript }, url);
    all.push([`the script ${new URL(script).pathname}`, reply.text]);
  }
  return all;
}
