import type { HeldCookie, NamedValue } from "./client/app/visit.ts";
import { signInServerOf, type Call } from "./serve/sign-in-server.ts";

/** `signInAt` of the library: a user signs in at an app, in the process of a test. */

export interface SignInAtOptions {
  /** The username; the user is picked, and one-time codes are given. */
  readonly user: string;
  /** An address that only a signed-in user sees. Absent: the app's callback has to set or change a cookie. */
  readonly signedIn?: string | URL | undefined;
}

/** What the browser holds of the app, and nothing of idp. */
export interface SignedInAt {
  /** As Playwright has them. */
  readonly cookies: HeldCookie[];
  /** For Playwright: `browser.newContext({ storageState })`. */
  readonly storageState: { cookies: HeldCookie[]; origins: { origin: string; localStorage: NamedValue[] }[] };
  /** The value of the header `Cookie` that a browser sends to an address; empty without cookies. */
  readonly header: (url: string | URL) => string;
}

/**
 * Signs a user in at an app, and gives what the browser then holds.
 * @param issuer of the server that signs the user in
 * @param call asks that server
 * @param start the address behind the app's sign-in button
 * @throws {SignInError} if the user is not signed in at the end
 */
export async function signInAt(
  issuer: string,
  call: Call,
  start: string | URL,
  { user, signedIn }: SignInAtOptions,
): Promise<SignedInAt> {
  // Loaded only here: they bring the cookie library, which nobody else who imports this package should wait for.
  const [{ signInAt: signIn, cookieHeader }, { smallBrowser }, { nearLookup }] = await Promise.all([
    import("./client/app/sign-in-at.ts"),
    import("./client/app/small-browser.ts"),
    import("./client/app/near.ts"),
  ]);
  const held = await signIn(signInServerOf(issuer, call), {
    start: new URL(start).href,
    signedIn: signedIn === undefined ? null : new URL(signedIn).href,
    user,
    lookup: nearLookup(false),
    newBrowser: (places) => Promise.resolve(smallBrowser(places)),
  });
  const cookies = [...held.cookies];
  return { cookies, storageState: { cookies, origins: [] }, header: (url) => cookieHeader(cookies, new URL(url).href) };
}
