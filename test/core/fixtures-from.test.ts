import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import { problemText } from "../../src/core/base/errors.ts";
import { toolNames, type ToolName } from "../../src/migrate/tool-names.ts";
import { foreignFixtures, readFrom } from "../../src/migrate/tools.ts";
import { fixtureText } from "../../src/migrate/draft.ts";
import { problemsOf } from "../helpers/fixtures.ts";
import { foreignFiles } from "../helpers/foreign-files.ts";

/** Files of other tools become fixtures that pass every check; what cannot be converted is reported with its position. */

const sample = (name: string) => ({
  name,
  text: readFileSync(fileURLToPath(new URL(`../fixtures-from/${name}`, import.meta.url)), "utf8"),
});

async function made(tool: ToolName, ...files: readonly { readonly name: string; readonly text: string }[]) {
  const { draft, leftOut } = await readFrom(tool, files);
  const loginClient = { client_id: "idp-cli", redirect_uris: ["http://127.0.0.1:*/callback"] };
  const text = fixtureText(draft, leftOut.map(problemText), {
    command: `idp init --from ${tool}`,
    schema: null,
    loginClient,
  });
  expect(await problemsOf({ name: "idp.fixtures.yaml", text })).toEqual([]);
  return { text, fixtures: load(text) as Fixtures, leftOut: leftOut.map(problemText) };
}

interface Fixtures {
  readonly users: readonly Record<string, unknown>[];
  readonly clients: readonly Record<string, unknown>[];
  readonly settings: Record<string, unknown>;
}

const json = (value: unknown) => ({ name: "file.json", text: JSON.stringify(value) });
const usersOf = async (tool: ToolName, value: unknown) => (await made(tool, json(value))).fixtures.users;
const clientsOf = async (tool: ToolName, value: unknown) => (await made(tool, json(value))).fixtures.clients;
const realm = (fields: object) => ({ realm: "r", enabled: true, ...fields });

describe("the published form of each tool", () => {
  test.each<[ToolName, ...string[]]>(foreignFiles)("%s %s", async (tool, ...names) => {
    const { text, leftOut } = await made(tool, ...names.map(sample));
    expect(text).toMatchSnapshot();
    for (const line of leftOut) expect(line).toMatch(/^[\w.-]+:\d+:\d+ \S+ \S/);
  });

  test.each<[ToolName, ...string[]]>(foreignFiles)(
    "%s %s as a fixture file: refused, with the command that reads it",
    (tool, ...names) => {
      const refusal = foreignFixtures(names.map(sample));
      expect(refusal?.message).toMatch(/^\S+ is .+, and not a fixture file; nothing was applied$/);
      expect(refusal?.hint).toEqual({ text: "Make one of it", command: ["idp", "init", "--from", tool, ...names] });
    },
  );

  test("the order of Soluto's two files does not matter", async () => {
    const [users, clients] = [sample("soluto-users.yaml"), sample("soluto-clients.json")];
    expect((await made("soluto", clients, users)).fixtures).toEqual((await made("soluto", users, clients)).fixtures);
  });
});

describe("Keycloak", () => {
  test("users: names, status, plain passwords, roles and groups as claims", async () => {
    const [ada, grace] = (await made("keycloak", sample("keycloak-realm.json"))).fixtures.users;
    expect(ada).toMatchObject({
      username: "ada",
      id: "0b2f2c9e-3b0e-4f4e-9f6a-6a3f0c1d2e01",
      displayName: "Ada Lovelace",
      password: "ada-password",
      claims: {
        given_name: "Ada",
        dept: "engines",
        realm_access: { roles: ["default-roles-shop", "admin", "user", "offline_access", "uma_authorization"] },
        resource_access: { "shop-web": { roles: ["editor"] } },
        groups: ["/staff/warehouse"],
      },
    });
    expect(grace).toMatchObject({ status: "suspended" });
    expect(grace).not.toHaveProperty("password");
  });

  test("roles and groups are named as the mappers of the realm say", async () => {
    const mapper = (protocolMapper: string, config: object) => ({ name: "m", protocolMapper, config });
    const protocolMappers = [
      mapper("oidc-usermodel-realm-role-mapper", { "claim.name": "roles" }),
      mapper("oidc-usermodel-client-role-mapper", {
        "claim.name": "roles",
        "usermodel.clientRoleMapping.clientId": "a",
      }),
      mapper("oidc-group-membership-mapper", { "claim.name": "teams", "full.path": "false" }),
      mapper("oidc-usermodel-attribute-mapper", {
        ...{ "user.attribute": "n", "claim.name": "x.level", "jsonType.label": "int" },
      }),
    ];
    const user = { username: "u", realmRoles: ["r"], groups: ["/g/h"], attributes: { n: ["3"] } };
    const [made] = await usersOf(
      "keycloak",
      realm({
        users: [{ ...user, clientRoles: { a: ["of-a"], b: ["of-b"] } }],
        clientScopes: [{ name: "s", protocol: "openid-connect", protocolMappers }],
      }),
    );
    expect(made?.["claims"]).toEqual({ roles: ["r", "of-a"], teams: ["h"], x: { level: 3 } });
  });

  test("clients: kinds, addresses, scopes, and the roles of a service account", async () => {
    const { fixtures } = await made("keycloak", sample("keycloak-realm.json"));
    const byId = Object.fromEntries(fixtures.clients.map((client) => [String(client["client_id"]), client] as const));
    expect(Object.keys(byId)).toEqual(["shop-web", "shop-spa", "shop-worker", "urn:shop:saml", "idp-cli"]);
    expect(byId["shop-web"]).toMatchObject({
      client_secret: "shop-web-secret-from-keycloak",
      redirect_uris: ["http://localhost:3000/auth/callback", "http://localhost:3000/"],
      post_logout_redirect_uris: ["http://localhost:3000/", "http://localhost:3000/bye"],
      scope: "openid profile email address phone offline_access orders",
      audience: "https://api.shop.example.test",
      userinfo_format: "standard",
    });
    expect(byId["shop-web"]).not.toHaveProperty("skip_consent");
    expect(byId["shop-spa"]).toMatchObject({ token_endpoint_auth_method: "none", skip_consent: true });
    expect(byId["shop-worker"]).toMatchObject({
      grant_types: ["client_credentials"],
      claims: { realm_access: { roles: ["admin"] } },
    });
  });

  test.each<[string, unknown]>([
    ["realms in a list", [realm({ users: [{ username: "u" }] })]],
    ["a KeycloakRealmImport", { kind: "KeycloakRealmImport", spec: { realm: realm({ users: [{ username: "u" }] }) } }],
  ])("%s", async (_, value) => {
    expect(await usersOf("keycloak", value)).toEqual([{ username: "u" }]);
  });
});

describe("other forms", () => {
  test("Auth0: one user, and a response of the Management API", async () => {
    const user = { user_id: "auth0|1", email: "a@b.test" };
    for (const value of [user, { users: [user], total: 1 }, [user]]) {
      expect(await usersOf("auth0", value)).toEqual([{ username: "a@b.test", id: "auth0|1", email: "a@b.test" }]);
    }
  });

  test("Hydra: one client, and a list of them", async () => {
    const client = { client_id: "c", client_secret: "s", redirect_uris: ["http://localhost/cb"], scope: "openid" };
    for (const value of [client, [client], { items: [client] }]) {
      expect((await clientsOf("hydra", value))[0]).toMatchObject({ client_id: "c", client_secret: "s" });
    }
  });

  test("Soluto: names with small letters, and secrets that are objects", async () => {
    const client = { clientId: "c", clientSecrets: [{ value: "s" }], allowedGrantTypes: ["client_credentials"] };
    expect((await clientsOf("soluto", [client]))[0]).toMatchObject({ client_id: "c", client_secret: "s" });
    const user = { subjectId: "1", username: "u", password: "p", claims: [{ type: "email", value: "u@b.test" }] };
    expect(await usersOf("soluto", [user])).toEqual([{ username: "u", id: "1", email: "u@b.test", password: "p" }]);
  });
});

describe("any file", () => {
  test("two users never have one name or one id", async () => {
    const users = [{ username: "a b", id: "1" }, { username: "a-b", id: "1" }, { email: "a-b" }];
    const { fixtures, leftOut } = await made("keycloak", json(realm({ users })));
    expect(fixtures.users.map(({ username, id }) => [username, id])).toEqual([
      ["a-b-2", "1"],
      ["a-b", undefined],
      ["a-b-3", undefined],
    ]);
    expect(leftOut).toHaveLength(4);
  });

  test("a client that the rules of fixtures refuse is changed until they let it pass", async () => {
    const client = { clientId: "c", publicClient: true, serviceAccountsEnabled: true, redirectUris: ["javascript:x"] };
    const { fixtures, leftOut } = await made("keycloak", json(realm({ clients: [client, client, {}] })));
    expect(fixtures.clients[0]).toMatchObject({
      redirect_uris: ["http://localhost:3000/callback"],
      grant_types: ["authorization_code", "refresh_token"],
    });
    expect(leftOut.filter((line) => line.includes("client_credentials"))).toHaveLength(1);
    expect(leftOut.filter((line) => line.includes("is the id of another client, too"))).toHaveLength(1);
    expect(leftOut.filter((line) => line.includes("has no id"))).toHaveLength(1);
  });

  test("nothing in a file ends a comment of the fixture file", async () => {
    const name = "x\nclients: []\u2028settings: {}\r#";
    const { text, fixtures } = await made("keycloak", json(realm({ users: [{ username: name, "\nevil": 1 }] })));
    expect(fixtures.users).toHaveLength(1);
    expect(text.split(/[\n\r\u2028]/).filter((line) => line.startsWith("clients:"))).toEqual(["clients:"]);
  });

  test("a number keeps its digits", async () => {
    const [user] = (await made("keycloak", json(realm({ users: [{ username: "u", id: 17 }] })))).fixtures.users;
    expect(user).toMatchObject({ id: "17" });
    const text = '[{"SubjectId":7123456789012345678,"Username":"u","Claims":[{"Type":"v","Value":1.10}]}]';
    const [other] = (await made("soluto", { name: "f.json", text })).fixtures.users;
    expect(other).toEqual({ username: "u", id: "7123456789012345678", claims: { v: "1.10" } });
  });
});

describe("a file of another tool than the named one", () => {
  const first: Readonly<Record<ToolName, string>> = {
    ...{ keycloak: "keycloak-realm.json", auth0: "auth0-import.json", dex: "dex.yaml" },
    ...{ soluto: "soluto-clients.json", navikt: "navikt.json", hydra: "hydra.json" },
    ...{ emulate: "emulate.yaml", fusionauth: "fusionauth.json", authelia: "authelia.yml" },
  };
  test.each(toolNames)("%s", async (tool) => {
    for (const other of toolNames.filter((name) => name !== tool)) {
      await expect(readFrom(other, [sample(first[tool])])).rejects.toMatchObject({
        code: "invalid",
        hint: { text: "Import it", command: ["idp", "init", "--from", tool, first[tool]] },
      });
    }
  });
  test.each(["{}", "[]", "users: [{ username: alice }]", "[1]", '{"clients":[{"client_id":"x"}]}', "just text"])(
    "%s is recognized as none of them",
    async (text) => {
      for (const tool of toolNames) {
        const hint = { command: ["idp", "seed", "--check", "f"] };
        await expect(readFrom(tool, [{ name: "f", text }])).rejects.toMatchObject({ code: "invalid", hint });
      }
    },
  );
});
