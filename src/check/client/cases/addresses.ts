import { whyNotBegun } from "../../frame/app.ts";
import type { Attempt } from "../attempt.ts";
import { elsewhere, type Visit } from "../../../client/app/visit.ts";
import { type Case, type Finding, noticed, notReached, unnoticed } from "../../frame/verdict.ts";

/** Addresses: where the app sends a browser, and what stands in them. */

const parameters = ["return_to", "returnTo", "next", "redirect"];
const { host } = new URL(elsewhere);
/**
 * All of them lead away in a browser, which reads `/\\` as `//`, leaves tabs out, and takes what stands before `@` for a user.
 * @param own origin of the app, with which they may begin
 */
const targetsFor = (own: string): readonly string[] => [
  ...[`${elsewhere}/`, `//${host}/`, `/\\${host}/`, `/\t/${host}/`, `https:${host}/`, `${own}@${host}/`],
  ...(new URL(own).port === "" ? [`${own}.${host}/`] : []),
];

export const openRedirect: Case<Attempt> = {
  name: "open-redirect",
  mustNot: "a link to the app leads to the site of somebody else",
  should: "go only to its own addresses after the sign-in",
  paragraph: "RFC 9700 4.11.1, RFC 6749 10.15",
  fix: "resolve the address against your own, and compare its origin: new URL(to, base).origin === base.origin",
  async run(attempt) {
    const all = [...parameters, ...(attempt.app.returnParams ?? [])];
    const followed = await followedOf(attempt, all);
    if ("verdict" in followed) return followed;
    if (followed.length === 0) {
      return notReached(`the app goes nowhere by ${all.join(", ")}: name its parameter with --return-param NAME`);
    }
    for (const name of followed) {
      for (const target of targetsFor(new URL(attempt.app.signedIn).origin)) {
        const visit = await signInWith(attempt, name, target);
        if (visit.end.kind === "foreign") return unnoticed(`sent the browser to ${visit.end.url}`);
        const why = whyNotBegun(visit);
        if (why !== null && visit.end.kind === "stuck") return notReached(why);
      }
    }
    return noticed("stayed at its own addresses");
  },
};

/** The parameters by which the app goes to an address of its own, to which it does not go by itself. */
async function followedOf(attempt: Attempt, all: readonly string[]): Promise<readonly string[] | Finding> {
  const { start, signedIn } = attempt.app;
  const followed: string[] = [];
  for (const name of all) {
    const own = new URL(signedIn);
    own.searchParams.set("idp-check", attempt.random(9));
    // Some apps take paths alone, others whole addresses.
    const targets = [...(own.origin === new URL(start).origin ? [own.pathname + own.search] : []), own.href];
    for (const target of targets) {
      const visit = await signInWith(attempt, name, target);
      if (visit.end.kind === "stuck") return notReached(visit.end.why);
      if (!visit.steps.some(({ url }) => url.href === own.href)) continue;
      followed.push(name);
      break;
    }
  }
  return followed;
}

async function signInWith(attempt: Attempt, name: string, target: string): Promise<Visit> {
  const address = new URL(attempt.app.start);
  address.searchParams.set(name, target);
  return (await attempt.newBrowser()).signIn(address.href);
}

const names = ["access_token", "id_token", "refresh_token", "token", "id_token_hint"];
/** It begins only where a word begins, so that no part of a long word is read twice. */
const jwt = /(?<![\w-])ey[\w-]{10,}\.ey[\w-]{10,}\.[\w-]*/;

export const tokenInUrl: Case<Attempt> = {
  name: "token-in-url",
  mustNot: "a token stands in an address, where logs and the Referer header repeat it",
  should: "keep tokens in the session, or in a cookie that is HttpOnly",
  paragraph: "RFC 9700 4.3.2, RFC 6750 5.3, ASVS 5.0 10.1.1",
  fix: "store the tokens at the callback, and redirect to an address without them",
  async run({ known }) {
    if (known.addresses.length === 0) return notReached("no address of the app was opened");
    const found = known.addresses.find(hasToken);
    if (found === undefined) return noticed("had no token in any address");
    const name = names.find((one) => parametersOf(found).some(([key]) => key === one)) ?? "a token";
    return unnoticed(`had ${name} in an address at ${found.pathname.replace(jwt, "…")}`);
  },
};

const parametersOf = (url: URL): readonly (readonly [string, string])[] => [
  ...url.searchParams,
  ...new URLSearchParams(url.hash.slice(1)),
];

/** The escapes of ASCII, decoded: a token has no other characters. */
const plain = (text: string): string =>
  text.replaceAll(/%([0-7][\da-f])/gi, (_escape, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

const hasToken = (url: URL): boolean =>
  jwt.test(plain(url.href)) || parametersOf(url).some(([name, value]) => names.includes(name) && value.length >= 16);
