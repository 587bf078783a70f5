import { describe, expect, test } from "vitest";
import { readFrom } from "../../src/migrate/tools.ts";
import { deepest, NestingError, parseJson } from "../../src/text/json.ts";
import { underAttack } from "../helpers/attack.ts";
import { csrfOf, openInspector } from "../helpers/inspector.ts";
import { idpHere } from "../helpers/command.ts";

/** JSON nested beyond 64 levels is refused wherever it is read, with a clear error, and nothing overflows. */

const idp = await underAttack({ dynamicRegistration: true });
const admin = { authorization: `Bearer ${idp.adminToken}` };
const json = { "content-type": "application/json" };

const lists = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const objects = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
const base64url = (text: string): string => Buffer.from(text).toString("base64url");
const tokenWith = (value: string): string =>
  `${base64url('{"alg":"HS256"}')}.${base64url(`{"sub":"1","x":${value}}`)}.c2ln`;

describe("the reader", () => {
  test.each([
    ["lists", lists],
    ["objects", objects],
  ])("%s: 64 levels pass, 65 do not", (_name, nested) => {
    expect(parseJson(nested(deepest))).toEqual(JSON.parse(nested(deepest)));
    expect(() => parseJson(nested(deepest + 1))).toThrow(NestingError);
    expect(() => parseJson(Buffer.from(nested(3000)))).toThrow("nested more than 64 levels deep");
  });

  test.each([`"${"[".repeat(100)}"`, `"\\"${"[".repeat(100)}"`, `{"\\\\":"${"{".repeat(100)}"}`])(
    "brackets in a text are none: %s",
    (text) => {
      expect(parseJson(text)).toEqual(JSON.parse(text));
    },
  );

  test("many values beside each other are not deep", () => {
    expect(parseJson(`[${"[],".repeat(1000)}[]]`)).toHaveLength(1001);
  });
});

test.each([
  ["JSON in an attribute", "c", lists(20_000)],
  ["a claim of very many steps", `${"c.".repeat(20_000)}c`, "1"],
])("a file of another tool with %s", async (_what, claim, attribute) => {
  const config = { "claim.name": claim, "user.attribute": "a", "jsonType.label": "JSON" };
  const mapper = { name: "m", protocolMapper: "oidc-usermodel-attribute-mapper", config };
  const users = [{ username: "ada", attributes: { a: [attribute] } }];
  const realm = { realm: "r", enabled: true, clientScopes: [{ name: "s", protocolMappers: [mapper] }], users };
  const { draft } = await readFrom("keycloak", [{ name: "realm.json", text: JSON.stringify(realm) }]);
  expect(draft.users.map(({ fields }) => fields.username)).toEqual(["ada"]);
});

describe("bodies", () => {
  test.each([
    ["token endpoint", "/api/v2/oauth/token", {}],
    ["introspection", "/api/v2/oauth/introspect", {}],
    ["registration", "/api/v2/oauth/register", {}],
    ["control API", "/_idp/api/users", admin],
    ["seed", "/_idp/api/seed", admin],
    ["import", "/_idp/api/import", admin],
    ["token/verify", "/_idp/api/token/verify", admin],
  ])("%s", async (_name, path, headers) => {
    for (const nested of [lists(3000), objects(3000), lists(63)]) {
      const body = `{"grant_type":"x","x":{"y":${nested}}}`;
      const answer = await fetch(idp.issuer + path, { method: "POST", headers: { ...json, ...headers }, body });
      const { error_description: said } = (await answer.json()) as { error_description: string };
      expect([answer.status, said]).toEqual([400, "the body is not read: it is nested more than 64 levels deep"]);
    }
  });

  test("the parameter claims", async () => {
    const query = new URLSearchParams({
      ...{ client_id: "demo-app", redirect_uri: "http://localhost:3000/callback", response_type: "code" },
      claims: `{"userinfo":{"a":${lists(3000)}}}`,
    });
    const { headers } = await fetch(`${idp.issuer}/api/v2/oauth/authorize?${query.toString()}`, { redirect: "manual" });
    const back = new URL(headers.get("location") ?? "", idp.issuer);
    expect(back.searchParams.get("error_description")).toContain("nested more than 64 levels deep");
  });
});

describe("what is typed", () => {
  test.each([
    ["lists", lists(5000)],
    ["objects", objects(5000)],
  ])("%s as claims in the inspector are refused on its page", async (_name, value) => {
    const { browser, at } = await openInspector(idp);
    const page = await browser.open(at("users"));
    const headers = { origin: new URL(idp.issuer).origin };
    const fields = { csrf: csrfOf(page), change: "edit-user", target: "alice", claims: `{"x":${value}}` };
    const init = { method: "POST", headers, body: new URLSearchParams(fields) };
    const shown = await browser.request(at("change?change=edit-user"), init);
    expect([shown.status, (await shown.text()).includes("nested more than 64 levels deep")]).toEqual([422, true]);
  });

  test.each([
    [["users", "add", "zoe", "--set"], `claims={"x":${lists(5000)}}`],
    [["token", "issue", "--user", "alice", "--client", "demo-app", "--claim"], `x=${objects(5000)}`],
  ])("a value of a flag: %s", async (words, value) => {
    const env = { IDP_ADMIN_TOKEN: idp.adminToken };
    const { code, stderr } = await idpHere([...words, value, "--url", idp.issuer], "", env);
    expect([code, stderr.includes("nested more than 64 levels deep")]).toEqual([2, true]);
  });
});

describe("tokens", () => {
  test.each([
    ["lists", lists(3000)],
    ["objects", objects(3000)],
  ])("of %s: the inspector, the commands and every endpoint that takes one", async (_name, value) => {
    const token = tokenWith(value);
    const { browser, at } = await openInspector(idp);
    const page = await browser.open(at("tokens"));
    for (const pasted of [token, `{"access_token":"a.b.c","x":${value}}`]) {
      const headers = { origin: new URL(idp.issuer).origin };
      const body = new URLSearchParams({ csrf: csrfOf(page), token: pasted });
      const shown = await browser.request(at("tokens"), { method: "POST", headers, body });
      expect([shown.status, (await shown.text()).includes("nested more than 64 levels deep")]).toEqual([409, true]);
    }
    for (const command of ["decode", "verify", "introspect"]) {
      const { code, stderr } = await idpHere(["token", command, token, "--url", idp.issuer], "", {
        IDP_ADMIN_TOKEN: idp.adminToken,
      });
      expect(stderr).not.toContain("This is a bug");
      expect([0, 6]).toContain(code);
      if (command === "decode") expect(stderr).toContain("nested more than 64 levels deep");
    }
    const statuses = await Promise.all([
      fetch(`${idp.issuer}/api/v2/oauth/userinfo`, { headers: { authorization: `Bearer ${token}` } }),
      fetch(`${idp.issuer}/api/v2/oauth/userinfo`, { headers: { authorization: `DPoP ${token}`, dpop: token } }),
      fetch(`${idp.issuer}/api/v2/oauth/logout?id_token_hint=${token}`),
      fetch(`${idp.issuer}/api/v2/oauth/authorize?client_id=demo-app&request=${token}&id_token_hint=${token}`),
      fetch(`${idp.issuer}/api/v2/oauth/token`, {
        method: "POST",
        body: new URLSearchParams({
          ...{ grant_type: "authorization_code", code: "x", client_id: "demo-app", client_assertion: token },
          client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
        }),
      }),
    ]);
    for (const { status } of statuses) expect(status).toBeLessThan(500);
  });
});
