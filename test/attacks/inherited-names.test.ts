import { describe, expect, test } from "vitest";
import { checkTemplates } from "../../src/http/pages/templates/check-templates.ts";
import { readFrom } from "../../src/migrate/tools.ts";
import { register } from "../helpers/app.ts";
import { underAttack } from "../helpers/attack.ts";
import { Browser } from "../helpers/browser.ts";
import { paths, pick, userinfo } from "../helpers/client.ts";
import { openInspector } from "../helpers/inspector.ts";
import { templatesFolder } from "../helpers/templates-folder.ts";

/** Names that every object of JavaScript has already: a map of names knows none of them unless somebody put it there. */

const names = ["constructor", "toString", "hasOwnProperty", "__proto__"];
const named = names.filter((name) => name !== "__proto__");

interface Exported {
  readonly username: string;
  readonly passwordDigest: string | null;
}

const fixtures = {
  users: [
    { username: "alice", password: "alice" },
    ...names.map((username) => ({ username, password: "a password" })),
    { username: "valueOf" },
  ],
  clients: [
    ...names.map((client_id) => ({
      client_id,
      client_secret: "a secret, long enough",
      redirect_uris: ["http://localhost:3000/callback"],
    })),
  ],
  scopes: Object.fromEntries(named.map((name) => [name, { claims: named }])),
  workloads: Object.fromEntries(named.map((name) => [name, { as: "github-actions" as const }])),
};
const issuers = Object.fromEntries(named.map((name) => [name, fixtures]));
const idp = await underAttack({ fixtures: [{ ...fixtures, issuers }] });

test.each(named)("a workload: %s", async (name) => {
  const { keys } = (await (await fetch(`${idp.issuer}/w/${name}/.well-known/jwks`)).json()) as { keys: unknown[] };
  expect(keys).toHaveLength(1);
  const { token } = await idp.call("workloads.issue", { name });
  expect(token.split(".")).toHaveLength(3);
});

test.each([...names, "valueOf"])("there is no other workload: %s", async (name) => {
  const { status } = await fetch(`${idp.issuer}/w/${name}/.well-known/openid-configuration`);
  expect(status).toBe(named.includes(name) ? 200 : 404);
});

test.each(named)("an issuer: %s", async (name) => {
  expect((await fetch(`${idp.issuer}/i/${name}/api/v2/oauth/jwks`)).status).toBe(200);
  expect((await fetch(`${idp.issuer}/i/valueOf/api/v2/oauth/jwks`)).status).toBe(404);
});

describe("claims and scopes", () => {
  test.each(names)("the claim %s, which no user has, is on no page and in no answer", async (name) => {
    const app = await register(idp);
    const browser = new Browser(idp.issuer);
    const claims = `{"userinfo":{"${name}":null},"id_token":{"${name}":{"essential":true}}}`;
    const login = await browser.open(app.url({ claims, scope: `openid ${named.join(" ")}` }));
    const consent = await pick(browser, login, "alice");
    expect([consent.status, consent.page]).toEqual([200, "consent"]);
    expect(consent.body).not.toMatch(/native code|undefined/);
    const { left } = await browser.press(consent, "consent-allow");
    const { json } = await app.exchange(left?.searchParams.get("code") ?? "");
    const answer = (await userinfo(idp, json.access_token)).json;
    for (const one of names) expect(Object.hasOwn(answer, one)).toBe(false);
    const { browser: operator, at } = await openInspector(idp);
    for (const tab of ["", "users", "clients", "grants", "tokens"])
      expect((await operator.open(at(tab))).status).toBe(200);
  });
});

test.each(named)("parameters that no request sent: %s", async (name) => {
  await fetch(idp.issuer + paths.token, { method: "POST", body: new URLSearchParams({ grant_type: "x" }) });
  const { met, nearest } = await idp.call("expect", {
    endpoint: "token",
    param: Object.fromEntries([[name, "x"]]),
  });
  expect(met).toBe(false);
  expect(nearest.flatMap(({ differs }) => differs)).toContainEqual(expect.stringContaining(`${name} is missing`));
});

test("users of these names are the same after a reset, and none has a password that nobody gave", async () => {
  const before = await idp.call("users.list", {});
  await idp.call("users.edit", { username: "alice", about: "changed" });
  await idp.reset();
  expect(await idp.call("users.list", {})).toEqual(before);
  const { users } = (await idp.call("export", {})) as unknown as { readonly users: readonly Exported[] };
  const digests = users.flatMap(({ username, passwordDigest }) => (passwordDigest === null ? [] : [username]));
  expect(digests.sort()).toEqual(["__proto__", "alice", "constructor", "hasOwnProperty", "toString"]);
  for (const username of names) {
    await idp.call("users.suspend", { username });
    await idp.call("users.restore", { username });
    await idp.call("clients.show", { client_id: username });
  }
});

test.each(named)("a text of a locale: %s", (name) => {
  const folder = templatesFolder({ "locales/en.json": JSON.stringify({ [name]: "x" }) });
  expect(checkTemplates(folder)).toEqual([expect.stringContaining(`"${name}" is no text of a page`)]);
});

test("clients, groups and attributes of another tool", async () => {
  const realm = {
    realm: "shop",
    enabled: true,
    sslRequired: "external",
    clients: named.map((clientId) => ({ clientId, redirectUris: ["http://localhost:3000/cb"], publicClient: true })),
    roles: { realm: [], client: Object.fromEntries(named.map((name) => [name, [{ name: "editor" }]])) },
    groups: [{ name: "staff", path: "/staff", attributes: Object.fromEntries(named.map((name) => [name, ["group"]])) }],
    users: [
      {
        username: "ada",
        enabled: true,
        clientRoles: Object.fromEntries(named.map((name) => [name, ["editor"]])),
        attributes: { other: ["x"] },
        groups: ["/staff"],
      },
    ],
  };
  const { draft } = await readFrom("keycloak", [{ name: "realm.json", text: JSON.stringify(realm) }]);
  expect(draft.clients).toHaveLength(named.length);
  const [ada] = draft.users;
  for (const name of named) expect(ada?.fields.claims).toMatchObject({ [name]: "group" });
});
