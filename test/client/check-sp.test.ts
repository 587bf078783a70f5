import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { SAML } from "@node-saml/passport-saml";
import { expect, test } from "vitest";
import type { Browser, Places } from "../../src/client/app/visit.ts";
import { smallBrowser } from "../../src/client/app/small-browser.ts";
import type { Case } from "../../src/check/frame/verdict.ts";
import type { Attempt } from "../../src/check/sp/attempt.ts";
import { allCases, casesFor } from "../../src/check/sp/cases/list.ts";
import { shownBy } from "../../src/check/frame/who.ts";
import type { SpConfig } from "../helpers/careful-sp.ts";
import { checkedSp } from "../helpers/checked-sp.ts";
import { named } from "../helpers/checked-app.ts";
import { newKey } from "../helpers/saml.ts";

/** `idp check sp`: what decides, and when a case says nothing. What each case finds: neglect-sp.test.ts. */

const check = await checkedSp();
const casesOf = (...names: readonly string[]): readonly Case<Attempt>[] =>
  allCases.filter(({ name }) => names.includes(name));

test("a forged response counts by who is signed in", async () => {
  const result = await check(casesOf("xsw-3", "xsw-7", "comment-in-nameid"), { neglects: ["first-assertion"] });
  expect(result.cases.slice(2, -1).map(({ name, verdict, did }) => [name, verdict, did])).toEqual([
    ["xsw-3", "unnoticed", "signed in alice, whom the signature does not cover"],
    ["xsw-7", "noticed", "signed in the user whom the signature covers"],
    ["comment-in-nameid", "noticed", "signed in the user whom the signature covers"],
  ]);
  expect(result.passed).toBe(false);
});

test("an app that sends strangers to its own sign-in page, with 200, is checked", async () => {
  const result = await check(casesOf("unsigned", "xsw-3"), { strangers: "elsewhere", neglects: ["unsigned"] });
  expect(result.cases.map(({ verdict }) => verdict)).toEqual(["works", "works", "unnoticed", "noticed", "works"]);
});

test("an app that answers 200 to everybody is checked by a text that only users see", async () => {
  const setting = { strangers: "page", neglects: ["unsigned"] } as const;
  const untold = await check(casesOf("unsigned"), setting);
  expect(untold.cases[0]).toMatchObject({ verdict: "not-reached", did: expect.stringContaining("--signed-in-text") });
  const told = await check(casesOf("unsigned", "xsw-3"), { ...setting, app: { signedInText: "nameId" } });
  expect(told.cases.map(({ verdict }) => verdict)).toEqual(["works", "works", "unnoticed", "noticed", "works"]);
});

test("a page that shows no name leaves the forging cases not reached, and no others", async () => {
  const result = await check(casesOf("xsw-3", "unsigned"), { neglects: ["first-assertion"], shows: "nothing" });
  expect(result.cases.find(({ name }) => name === "xsw-3")).toMatchObject({
    verdict: "not-reached",
    did: expect.stringContaining("--who shows neither NameID, e-mail nor name of alice"),
  });
  expect(named(result, "noticed")).toEqual(["unsigned"]);
});

test("an app that admits only known users needs --attacker", async () => {
  const cases = casesOf("unsigned", "xsw-3", "comment-in-nameid");
  const known = { admits: ["alice@example.com", "bob@example.com"] };
  const refused = await check(cases, known);
  expect(refused.passed).toBe(false);
  expect(refused.cases.map(({ name, verdict }) => [name, verdict])).toEqual([
    ["control", "works"],
    ["control-attacker", "not-reached"],
    ["unsigned", "not-reached"],
    ["xsw-3", "not-reached"],
    ["comment-in-nameid", "not-reached"],
    ["control", "not-reached"],
  ]);
  expect(refused.cases[1]?.did).toContain("--attacker");
  const named = await check(cases, { ...known, attacker: "bob" });
  expect(named.passed).toBe(true);
  expect(named.cases.map(({ name, verdict }) => [name, verdict])).toEqual([
    ["control", "works"],
    ["control-attacker", "works"],
    ["unsigned", "noticed"],
    ["xsw-3", "noticed"],
    ["comment-in-nameid", "not-reached"],
    ["control", "works"],
  ]);
  expect(named.cases[4]?.did).toContain("does not begin");
});

test("a request for an address that is not registered is unnoticed, and the other cases run", async () => {
  const result = await check(casesOf("request-acs", "audience-wrong"), { neglects: ["acs"] });
  expect(result.cases.map(({ verdict }) => verdict)).toEqual(["works", "works", "unnoticed", "noticed", "works"]);
  expect(result.cases[2]?.did).toMatch(/^asked for \S+\/other-acs, which was not registered$/);
});

test("a request of another entityID is a failed control, with the reason", async () => {
  const result = await check(casesOf("unsigned"), { entityId: "https://other.test/metadata" });
  expect(result.passed).toBe(false);
  expect(result.cases[0]).toMatchObject({ verdict: "not-reached", did: expect.stringContaining("https://other.test") });
});

test("an app without an address for LogoutRequests has no cases of it", () => {
  const all = allCases.map(({ name }) => name);
  expect(all.filter((name) => !casesFor(false).some((one) => one.name === name))).toEqual([
    "logout-unsigned",
    "logout-other",
    "redirect-parameter-twice",
  ]);
});

test("requests by HTTP-POST are read, too", async () => {
  const names = ["request-fresh", "request-acs", "other-browser"];
  expect(named(await check(casesOf(...names), { posts: true }), "noticed")).toEqual(names);
});

test("an address at another machine, which the app asks for, gets nothing", async () => {
  const result = await check(casesOf("request-acs"), { acs: "https://192.0.2.1/acs" });
  expect(result.passed).toBe(false);
  expect(result.cases[0]?.did).toContain("neither this machine nor a private network");
});

test("an app that takes unsolicited responses need not tell browsers apart, unless --no-unsolicited says so", async () => {
  const cases = casesOf("unsolicited", "other-browser");
  const setting = { takesUnsolicited: true, neglects: ["browser"] } as const;
  expect(named(await check(cases, setting), "not-required")).toEqual(["unsolicited", "other-browser"]);
  // Also where the other case does not run.
  expect(named(await check(casesOf("other-browser"), setting), "not-required")).toEqual(["other-browser"]);
  const required = await check(cases, { ...setting, app: { noUnsolicited: true } });
  expect(named(required, "unnoticed")).toEqual(["unsolicited", "other-browser"]);
});

test("an app that takes no response which the check delivers has noticed none of them", async () => {
  const names = ["unsolicited", "replayed", "other-browser", "relay-state", "response-in-query", "doctype"];
  const refused: Browser["deliver"] = (response) =>
    Promise.resolve({
      ...{ steps: [], request: null, response, callback: null, changed: false },
      end: { kind: "page", url: response.redirectUri, status: 403, text: "" },
    });
  const newBrowser = (places: Places): Promise<Browser> =>
    Promise.resolve({ ...smallBrowser(places), deliver: refused });
  expect(named(await check(casesOf(...names)), "noticed").toSorted()).toEqual(names.toSorted());
  expect(named(await check(casesOf(...names), { newBrowser }), "not-reached").toSorted()).toEqual(names.toSorted());
});

test("an app without a working logout has noticed no LogoutRequest", async () => {
  const result = await check(casesOf("logout-unsigned", "logout-other"), { keepsSessions: true });
  expect(named(result, "not-reached")).toEqual(["logout-unsigned", "logout-other"]);
});

/** node-saml, which decrypts. @param only it refuses what is not encrypted */
function decrypting(only: boolean) {
  const own = newKey();
  return {
    saml: { certificates: [own.certificate], encrypt: only },
    make: ({ entityId, acs, idp }: SpConfig) => {
      const saml = new SAML({
        ...{ issuer: entityId, callbackUrl: acs, audience: entityId, entryPoint: idp.sso, idpCert: idp.certificate },
        ...{
          wantAuthnResponseSigned: false,
          decryptionPvk: own.key.export({ type: "pkcs8", format: "pem" }).toString(),
        },
      });
      const sessions = new Map<string, string>();
      return {
        async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
          const form = new URLSearchParams(await text(req));
          const id = /sp=([\w-]+)/.exec(req.headers.cookie ?? "")?.[1] ?? randomUUID();
          res.setHeader("set-cookie", `sp=${id}`);
          if (req.url === "/login") {
            res.writeHead(302, { location: await saml.getAuthorizeUrlAsync("", undefined, {}) }).end();
          } else if (req.url === "/me") {
            res.writeHead(sessions.has(id) ? 200 : 401).end(sessions.get(id));
          } else {
            const sent = Buffer.from(form.get("SAMLResponse") ?? "", "base64").toString();
            const taken = only && !sent.includes("EncryptedAssertion") ? null : await taking(saml, form);
            if (taken !== null) sessions.set(id, taken);
            res.writeHead(taken === null ? 403 : 200).end();
          }
        },
      };
    },
  };
}

const taking = (saml: SAML, form: URLSearchParams): Promise<string | null> =>
  saml.validatePostResponseAsync(Object.fromEntries(form)).then(
    ({ profile }) => profile?.nameID ?? null,
    () => null,
  );

test("an app that decrypts takes encrypted assertions, too", async () => {
  const result = await check(casesOf("encrypted", "xsw-3"), decrypting(false));
  expect(result.cases.map(({ verdict }) => verdict)).toEqual(["works", "works", "works", "noticed", "works"]);
});

test("an app that takes nothing else is checked with encrypted assertions, where a flaw can be in one", async () => {
  const result = await check(casesOf("sign-assertion", "audience-wrong", "unsigned", "xsw-3"), decrypting(true));
  expect(result.cases.map(({ name, verdict }) => [name, verdict])).toEqual([
    ["control", "works"],
    ["control-attacker", "works"],
    ["sign-assertion", "works"],
    ["audience-wrong", "noticed"],
    ["unsigned", "not-reached"],
    ["xsw-3", "not-reached"],
    ["control", "works"],
  ]);
  expect(result.cases[0]?.did).toBe("signed the user in (signed: assertion; encrypted)");
});

const person = (...names: readonly string[]) => ({ username: "u", names });
const page = (text: string) => ({
  ...{ steps: [], request: null, response: null, callback: null, changed: false },
  end: { kind: "page", url: "http://app.test/me", status: 200, text } as const,
});

test.each([
  ["alice@example.com", true, false],
  ["<b>ALICE@example.com.ab1.example.com</b>", false, true],
  ["alice&#64;example.com", true, false],
  ['{"name":"alice\\u0040example.com.ab1.example.com"}', false, true],
  ["alice@example.com for alice@example.com.ab1.example.com", true, true],
  ["somebody", false, false],
])("%j shows the user: %s, the attacker: %s", (text, user, attacker) => {
  const [alice, mallory] = [
    person("alice@example.com", "Alice"),
    person("alice@example.com.ab1.example.com", "Check ab1"),
  ];
  expect(shownBy(page(text), alice, mallory)).toEqual({ user, attacker });
});
