import { another, flawsOf, wrongNames, type Apply } from "./flaw.ts";

/** Flaws of the authorization response. */

const refuse = "refuse the response, and not exchange the code";
const fixState = "keep state in the session before the redirect, and compare it at the callback";
const fixIss = "give the whole callback URL to the library's check, with iss";

const changed = (needs: string, change: Extract<Apply, { kind: "parameters" }>["change"]): Apply => ({
  ...{ kind: "parameters", needs, change },
});
const without = (needs: string): Apply => changed(needs, (pairs) => pairs.filter(([name]) => name !== needs));
const replaced = (needs: string, value: (old: string) => string): Apply =>
  changed(needs, (pairs) => pairs.map(([name, old]) => [name, name === needs ? value(old) : old]));

export const responseFlaws = flawsOf("authorize", "response", [
  {
    name: "state-missing",
    wrong: "a response without state",
    ...{ should: refuse, must: "refuse", rule: "RFC 6749 4.1.2, 10.12, ASVS 5.0 10.2.1", fix: fixState },
    apply: without("state"),
  },
  {
    name: "state-wrong",
    wrong: "a response with the state of another request",
    ...{ should: refuse, must: "refuse", rule: "RFC 6749 4.1.2, 10.12, ASVS 5.0 10.2.1", fix: fixState },
    apply: replaced("state", another),
  },
  {
    name: "iss-missing",
    wrong: "a response without iss",
    mustNot: "a response without iss signs a user in, although discovery announces iss",
    ...{ should: refuse, must: "refuse", rule: "RFC 9207 2.4, ASVS 5.0 10.2.2", fix: fixIss },
    apply: without("iss"),
  },
  {
    name: "iss-wrong",
    wrong: "a response of another issuer",
    ...{ should: refuse, must: "refuse", rule: "RFC 9207 2.4, ASVS 5.0 10.2.2", fix: fixIss },
    apply: replaced("iss", () => wrongNames.issuer),
  },
  {
    name: "code-missing",
    wrong: "a response without code",
    ...{ should: "show that the sign-in failed", must: "refuse", rule: "RFC 6749 4.1.2" },
    fix: "end the callback with an error where code is absent",
    apply: without("code"),
  },
  {
    name: "code-twice",
    wrong: "a response with two codes",
    ...{ should: refuse, must: "refuse", rule: "RFC 6749 3.1" },
    fix: "refuse a callback in which a parameter comes twice: query.code is a list then",
    apply: changed("code", (pairs) => [...pairs, ...pairs.filter(([name]) => name === "code")]),
  },
  {
    name: "error-and-code",
    wrong: "a response with an error",
    ...{ should: refuse, must: "refuse", rule: "RFC 6749 4.1.2.1", fix: "look at error before code" },
    apply: changed("code", (pairs) => [...pairs, ["error", "access_denied"]]),
  },
]);
