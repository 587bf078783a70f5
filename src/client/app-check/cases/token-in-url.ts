import type { Attempt } from "../attempt.ts";
import { noticed, notReached, unnoticed, type Case } from "../../verdicts/case.ts";

const names = ["access_token", "id_token", "refresh_token", "token", "id_token_hint"];
/** It begins only where a word begins, so that no part of a long word is read twice. */
const jwt = /(?<![\w-])ey[\w-]{10,}\.ey[\w-]{10,}\.[\w-]*/;

export const tokenInUrl: Case<Attempt> = {
  name: "token-in-url",
  mustNot: "a token stands in an address, where logs and the Referer header repeat it",
  should: "keep tokens in the session, or in a cookie that is HttpOnly",
  paragraph: "RFC 9700 4.3.2, RFC 6750 5.3",
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
