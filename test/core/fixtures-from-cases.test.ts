import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import { problemText } from "../../src/core/errors.ts";
import { maxText } from "../../src/migrate/text.ts";
import type { ToolName } from "../../src/migrate/tool-names.ts";
import { foreignFixtures, readFrom } from "../../src/migrate/tools.ts";
import { fixtureText } from "../../src/migrate/write.ts";
import { problemsOf } from "../helpers/fixtures.ts";
import { foreignFiles } from "../helpers/foreign-files.ts";

/** Kinds of files of other tools that once went wrong; what each tool says is in fixtures-from.test.ts. */

interface Text {
  readonly name: string;
  readonly text: string;
}

interface Made {
  readonly users: readonly Record<string, unknown>[];
  readonly clients: readonly Record<string, unknown>[];
  readonly settings: Record<string, unknown>;
  readonly leftOut: readonly string[];
  readonly text: string;
}

async function made(tool: ToolName, ...files: readonly (Text | string | object)[]): Promise<Made> {
  const given = files.map((file, index): Text => {
    if (typeof file === "object" && "name" in file && "text" in file) return file;
    return { name: `file${index}`, text: typeof file === "string" ? file : JSON.stringify(file, null, 1) };
  });
  const { draft, leftOut } = await readFrom(tool, given);
  const loginClient = { client_id: "idp-cli", redirect_uris: ["http://127.0.0.1:*/callback"] };
  const lines = leftOut.map(problemText);
  const text = fixtureText(draft, lines, { command: "idp init", schema: null, loginClient });
  expect(await problemsOf({ name: "idp.fixtures.yaml", text })).toEqual([]);
  return { ...(load(text) as Made), leftOut: lines, text };
}

const redirectUris = ["http://localhost:3000/callback"];
const web = { clientId: "web", publicClient: true, redirectUris };
const realm = (fields: object) => ({ realm: "shop", enabled: true, clients: [web], ...fields });
const mapper = (protocolMapper: string, config: object) => ({
  ...{ name: "m", protocol: "openid-connect", protocolMapper: `oidc-${protocolMapper}-mapper` },
  config,
});
const withMappers = (user: object, ...protocolMappers: object[]) =>
  realm({ clients: [{ ...web, protocolMappers }], users: [{ username: "erin", ...user }] });
const attribute = (from: string, claim: string, more = {}) =>
  mapper("usermodel-attribute", { "user.attribute": from, "claim.name": claim, "jsonType.label": "String", ...more });

describe("Keycloak: claims of a user", () => {
  const hasura = "https://hasura\\.io/jwt/claims";
  const roles = {
    realm: [{ name: "default-roles-shop", composite: true, composites: { realm: ["customer"] } }, { name: "customer" }],
    client: {
      web: [{ name: "lead", composites: { client: { web: ["edit"] }, realm: ["lead", "vip"] } }, { name: "edit" }],
    },
  };
  const groups = [
    {
      ...{ name: "staff", attributes: { floor: ["3"], site: ["x"] }, realmRoles: ["insider"] },
      subGroups: [{ name: "night", attributes: { floor: ["4"] }, clientRoles: { web: ["lead"] } }],
    },
  ];
  test.each<[string, object, object]>([
    [
      "a backslash before a dot makes it part of the name",
      withMappers({ attributes: { tenant: ["t-1"] } }, attribute("tenant", `${hasura}.x-tenant`)),
      { "https://hasura.io/jwt/claims": { "x-tenant": "t-1" } },
    ],
    [
      "the same for roles",
      withMappers({ realmRoles: ["r"] }, mapper("usermodel-realm-role", { "claim.name": `${hasura}.roles` })),
      { "https://hasura.io/jwt/claims": { roles: ["r"] } },
    ],
    [
      "two mappers of one attribute make two claims",
      withMappers({ attributes: { tenant: ["t-1"] } }, attribute("tenant", "tenant_id"), attribute("tenant", "org")),
      { tenant_id: "t-1", org: "t-1" },
    ],
    [
      "a prefix of roles",
      withMappers(
        { clientRoles: { web: ["edit"] } },
        mapper("usermodel-client-role", { "claim.name": "roles", "usermodel.clientRoleMapping.rolePrefix": "web:" }),
      ),
      { roles: ["web:edit"] },
    ],
    [
      "the address, from attributes of the usual and of other names",
      withMappers(
        { attributes: { street: ["1 Main Street"], city: ["Springfield"] } },
        mapper("address", { "user.attribute.locality": "city" }),
      ),
      { address: { street_address: "1 Main Street", locality: "Springfield" } },
    ],
    [
      "a group without full.path is its name",
      withMappers({ groups: ["/a/researchers"] }, mapper("group-membership", { "claim.name": "groups" })),
      { groups: ["researchers"] },
    ],
    [
      "a group with full.path is its path",
      withMappers(
        { groups: ["/a/researchers"] },
        mapper("group-membership", { "claim.name": "groups", "full.path": "true" }),
      ),
      { groups: ["/a/researchers"] },
    ],
    [
      "composite and default roles, of the realm and of clients",
      realm({
        roles,
        users: [{ username: "erin", realmRoles: ["default-roles-shop"], clientRoles: { web: ["lead"] } }],
      }),
      {
        realm_access: { roles: ["default-roles-shop", "customer", "lead", "vip"] },
        resource_access: { web: { roles: ["lead", "edit"] } },
      },
    ],
    [
      "default roles as lists, as before Keycloak 13",
      realm({
        defaultRoles: ["offline_access"],
        clients: [{ ...web, defaultRoles: ["edit"] }],
        users: [{ username: "erin", realmRoles: ["default-roles-shop"] }],
      }),
      {
        realm_access: { roles: ["default-roles-shop", "offline_access"] },
        resource_access: { web: { roles: ["edit"] } },
      },
    ],
    [
      "roles and attributes of groups, and of the groups above",
      realm({ groups, roles, users: [{ username: "erin", groups: ["/staff/night"], attributes: { own: ["o"] } }] }),
      {
        ...{ own: "o", floor: "4", site: "x", groups: ["/staff/night"] },
        realm_access: { roles: ["insider", "lead", "vip"] },
        resource_access: { web: { roles: ["lead", "edit"] } },
      },
    ],
    [
      "aggregated attributes",
      realm({
        groups,
        clients: [{ ...web, protocolMappers: [attribute("floor", "floors", { "aggregate.attrs": "true" })] }],
        users: [{ username: "erin", groups: ["/staff/night"], attributes: { floor: ["1"] } }],
      }),
      { floors: ["1", "4", "3"], site: "x", groups: ["/staff/night"], realm_access: { roles: ["insider"] } },
    ],
  ])("%s", async (_, file, claims) => {
    const { users, leftOut } = await made("keycloak", file);
    expect(users).toEqual([{ username: "erin", claims: expect.objectContaining(claims) }]);
    expect(leftOut).toEqual([]);
  });
});

describe("Keycloak: a realm in several files", () => {
  const scope = { name: "roles", protocolMappers: [mapper("usermodel-realm-role", { "claim.name": "roles" })] };
  const worker = { clientId: "worker", secret: "s", standardFlowEnabled: false, serviceAccountsEnabled: true };
  const main = {
    name: "shop-realm.json",
    text: JSON.stringify(realm({ clientScopes: [scope], clients: [web, worker] })),
  };
  const people = [
    { username: "erin", realmRoles: ["staff"] },
    { username: "service-account-worker", serviceAccountClientId: "worker", realmRoles: ["robot"] },
  ];
  const users = { name: "shop-users-0.json", text: JSON.stringify({ realm: "shop", users: people }) };

  test.each([[[users, main]], [[main, users]]])("in any order", async (files) => {
    const all = await made("keycloak", ...files);
    expect(all.users).toEqual([{ username: "erin", claims: { roles: ["staff"] } }]);
    expect(all.clients[1]).toMatchObject({ client_id: "worker", claims: { roles: ["robot"] } });
    expect(all.leftOut).toEqual([]);
  });
  test("each file alone says what it lacks", async () => {
    expect((await made("keycloak", main)).leftOut).toEqual([expect.stringMatching(/no users.*shop-users-0\.json/)]);
    expect((await made("keycloak", users)).leftOut).toEqual([expect.stringMatching(/only users.*shop-realm\.json/)]);
  });
});

describe("Keycloak: clients", () => {
  const clientOf = async (fields: object) => {
    const { clients, leftOut } = await made(
      "keycloak",
      realm({ clients: [{ ...web, ...fields }], users: [{ username: "u" }] }),
    );
    return { client: clients[0] ?? {}, leftOut };
  };
  test.each<[string, object, unknown]>([
    ["none", {}, redirectUris],
    ["empty", { attributes: { "post.logout.redirect.uris": "" } }, redirectUris],
    ["+", { attributes: { "post.logout.redirect.uris": "+" } }, redirectUris],
    ["-", { attributes: { "post.logout.redirect.uris": "-" } }, undefined],
    [
      "two",
      { attributes: { "post.logout.redirect.uris": "http://localhost/a##http://localhost/b" } },
      ["http://localhost/a", "http://localhost/b"],
    ],
  ])("post-logout addresses: %s", async (_, fields, uris) => {
    const { client, leftOut } = await clientOf(fields);
    expect(client["post_logout_redirect_uris"]).toEqual(uris);
    expect(leftOut).toEqual([]);
  });
  test("a front channel is listed", async () => {
    const { leftOut } = await clientOf({ attributes: { "frontchannel.logout.url": "http://localhost/fc" } });
    expect(leftOut).toEqual([
      expect.stringMatching(/:\d+:\d+ clients\[0\]\.attributes\["frontchannel\.logout\.url"\]/),
    ]);
  });
  test.each([
    ["saml", "speaks SAML"],
    ["docker-v2", "speaks docker-v2"],
  ])("a client of the protocol %s", async (protocol, says) => {
    const { leftOut } = await clientOf({ protocol });
    expect(leftOut).toEqual([`file0:5:3 clients[0] client "web" ${says}: it is left out`]);
  });
  test("a client for devices alone is as complete as others", async () => {
    const attributes = { "oauth2.device.authorization.grant.enabled": "true", "pkce.code.challenge.method": "S256" };
    const { client } = await clientOf({ standardFlowEnabled: false, name: "TV", attributes });
    expect(client).toMatchObject({ client_name: "TV", userinfo_format: "standard", skip_consent: true });
    expect(client["grant_types"]).toEqual(["refresh_token", "urn:ietf:params:oauth:grant-type:device_code"]);
  });
});

describe("one record never stops the rest", () => {
  const byKey = (attributes: object) => ({
    ...{ clientId: "service", standardFlowEnabled: false, serviceAccountsEnabled: true },
    ...{ clientAuthenticatorType: "client-jwt", attributes },
  });
  test.each([
    [
      "a certificate",
      { "jwt.credential.certificate": "MIIFLzCCAxegAwIBAgIU", "token.endpoint.auth.signing.alg": "RS256" },
    ],
    ["keys that are not JSON", { "use.jwks.string": "true", "jwks.string": "{oops" }],
    ["no keys", {}],
  ])("Keycloak: client-jwt with %s", async (_, attributes) => {
    const { clients, leftOut } = await made(
      "keycloak",
      realm({ clients: [web, byKey(attributes)], users: [{ username: "u" }] }),
    );
    expect(clients.map(({ client_id }) => client_id)).toEqual(["web", "service", "idp-cli"]);
    expect(clients[1]).toMatchObject({ client_secret: "service-secret" });
    expect(leftOut.filter((line) => /^file0:\d+:\d+ clients\[1\]/.test(line))).toHaveLength(leftOut.length);
    expect(leftOut.length).toBeGreaterThan(0);
  });
  test("Keycloak: client-jwt with keys keeps them", async () => {
    const jwks = { keys: [{ kty: "RSA", n: "AQAB", e: "AQAB", kid: "1" }] };
    const client = byKey({ "use.jwks.string": "true", "jwks.string": JSON.stringify(jwks) });
    const { clients } = await made("keycloak", realm({ clients: [client] }));
    expect(clients[0]).toMatchObject({ token_endpoint_auth_method: "private_key_jwt", jwks });
  });

  /** Each value of a file in turn, replaced by others. */
  function* spoiled(value: unknown, put: (value: unknown) => unknown): Generator {
    for (const other of [null, -1.5, "\u001b[2J", ["x", 1, null], { a: { b: 1 } }]) yield put(other);
    if (typeof value !== "object" || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      const around = (inner: unknown): unknown =>
        put(
          Array.isArray(value)
            ? value.map((one: unknown, at) => (String(at) === name ? inner : one))
            : { ...value, [name]: inner },
        );
      yield* spoiled(member, around);
    }
  }
  test.each(foreignFiles)("%s %s: any one value may be anything", async (tool, ...names) => {
    const texts = names.map((name) =>
      readFileSync(fileURLToPath(new URL(`../fixtures-from/${name}`, import.meta.url)), "utf8"),
    );
    const [first = "", ...others] = texts;
    if (first.includes("\n{") || first.includes("\n---")) return;
    const all = [...spoiled(load(first), (value) => value)];
    // Some three hundred of them, spread over the file.
    for (const file of all.filter((_, index) => index % Math.ceil(all.length / 300) === 0)) {
      const files = [JSON.stringify(file), ...others].map((text) => ({ name: "f", text }));
      const read = await readFrom(tool, files).catch((error: unknown) => error);
      if (read instanceof Error) expect(read).toMatchObject({ name: "OperationError", code: "invalid" });
    }
  });
});

describe("every value is carried over or listed", () => {
  /** Values of each file that say nothing about its users and clients, or about how they sign in. */
  const silent: Partial<Record<ToolName, RegExp>> = {
    keycloak:
      /^(?:id|realm|keycloakVersion)$|^roles|\.(?:protocol|protocolMapper|rootUrl|description|composite|disableableCredentialTypes|id|name|config)|^groups|clientAuthenticatorType$|createdTimestamp$|^users\[3\]|^clients\[0\]/,
    auth0:
      /grant_types|(?:description|last_login|last_ip|logins_count|updated_at|tenant|identities|connection|\.rotation_type|is_first_party|app_type|alg|value|salt|oidc_conformant)$|password_hash|identities|user_id$|token_endpoint_auth_method$/,
    dex: /^(?:issuer|storage|web|frontend|telemetry|logger|grpc|enablePasswordDB)|oauth2\.responseTypes|connectors|redirectURIs|skipApprovalScreen|expiry/,
    soluto:
      /AllowedGrantTypes|(?:Claims\[[41]\]\.Value|Description|ProtocolType|ValueType|Require\w+|Allow\w+|AlwaysInclude\w+|ClientClaimsPrefix|ClientSecrets\[0\]|Type)$/i,
    navikt: /^(?:interactiveLogin|httpServer|tokenProvider)|issuerId|requestParam|match$|typeHeader/,
    hydra:
      /(?:_at|registration_\w+|subject_type|response_types\[0\]|userinfo_signed_response_alg|skip_logout_consent)$/,
    emulate:
      /grant_types|\.port$|group_memberships|\.okta_id$|\.type$|response_types|token_endpoint_auth_method|status$/,
    fusionauth:
      /enabledGrants|^(?:variables|apiKeys)|method$|url$|tenantId$|applicationId$|application\.roles|skipVerification|generateRefreshTokens|enabled$|active$|Policy$|timeTo|TimeTo|password$|applicationId$/,
    authelia:
      /hmac_secret|lifespans|require_pkce|pkce_challenge_method|client_secret|consent_mode|response_types|password$/,
  };
  const leaves = (value: unknown, path: string): (readonly [string, string])[] => {
    if (value === null || value === false || value === "" || value === true) return [];
    if (typeof value !== "object") return [[path, JSON.stringify(value).replace(/^"(.*)"$/, "$1")]];
    return Object.entries(value).flatMap(([name, member]) => {
      const plain = /^[A-Za-z_$][\w$]*$/.test(name) ? `${path === "" ? "" : "."}${name}` : `[${JSON.stringify(name)}]`;
      return leaves(member, path + (Array.isArray(value) ? `[${name}]` : plain));
    });
  };
  test.each(foreignFiles)("%s %s", async (tool, ...names) => {
    const files = names.map((name) => ({
      name,
      text: readFileSync(fileURLToPath(new URL(`../fixtures-from/${name}`, import.meta.url)), "utf8"),
    }));
    const { leftOut } = await readFrom(tool, files);
    const { text } = await made(tool, ...files);
    const kept = text.replaceAll(/^#.*$/gm, "");
    for (const { name, text: file } of files) {
      const root = name.endsWith("ndjson")
        ? file
            .trim()
            .split(/\s*\n\s*/)
            .map((line) => load(line))
        : load(file);
      const lost = leftOut.flatMap((problem) => (problem.file === name ? [problem.path] : []));
      const missing = leaves(root, "").filter(
        ([path, value]) =>
          !kept.includes(value) && !lost.some((one) => path.startsWith(one)) && silent[tool]?.test(path) !== true,
      );
      expect(missing).toEqual([]);
    }
  });
});

describe("other tools", () => {
  test("Soluto: values are text, with the digits of the file", async () => {
    const users = `- SubjectId: 1\n  Username: 12345\n  Claims: [{ Type: postcode, Value: 0800, ValueType: string }, { Type: v, Value: 1.10 }, { Type: vip, Value: true }, { Type: n, Value: 7, ValueType: "http://www.w3.org/2001/XMLSchema#integer" }]`;
    expect((await made("soluto", users)).users).toEqual([
      { username: "12345", id: "1", claims: { postcode: "0800", v: "1.10", vip: "true", n: 7 } },
    ]);
  });
  test("Soluto: a secret is kept where none is required, and refresh_token is nothing to say", async () => {
    const client = {
      ClientId: "c",
      ClientSecrets: ["s"],
      AllowedGrantTypes: ["authorization_code", "refresh_token"],
      RequireClientSecret: false,
      RedirectUris: redirectUris,
    };
    const { clients, leftOut } = await made("soluto", [client]);
    expect(clients[0]).toMatchObject({ client_secret: "s" });
    expect(leftOut).toEqual([]);
  });
  test("navikt: a mapping by the name that was typed is a user of that name", async () => {
    const requestMappings = [
      { requestParam: "subject", match: "erin", claims: { email: "erin@example.test", oid: "${subject}" } },
      { requestParam: "subject", match: "frank", claims: { sub: "f-1" } },
      { requestParam: "scope", match: "x", claims: { aud: ["a"] } },
    ];
    const { users, leftOut } = await made("navikt", { tokenCallbacks: [{ issuerId: "default", requestMappings }] });
    expect(users).toEqual([
      { username: "erin", id: "erin", email: "erin@example.test", claims: { oid: "erin" } },
      { username: "frank", id: "f-1" },
    ]);
    expect(leftOut).toEqual([expect.stringContaining('scope "x"'), expect.stringContaining("has no sub")]);
  });
  test("the configuration of meigma's mock is not one of navikt's", async () => {
    const text = JSON.stringify({
      interactiveLogin: false,
      tokenProvider: {},
      tokenCallbacks: [{ issuer: "i", subject: "s", claims: { m: 1 } }],
    });
    expect(foreignFixtures([{ name: "config.json", text }])).toBeNull();
    await expect(readFrom("navikt", [{ name: "f", text }])).rejects.toMatchObject({
      message: expect.stringContaining("is not a JSON_CONFIG"),
    });
  });
  test("Auth0: the client of a JSON file, and lines of which one is broken", async () => {
    const client = { name: "My App", app_type: "regular_web", client_secret: "s", callbacks: redirectUris };
    expect((await made("auth0", client)).clients[0]).toMatchObject({ client_id: "my-app", client_secret: "s" });
    const lines =
      '{"user_id":"auth0|1","email":"a@b.test"}\r\n\r\n{"user_id":oops}\n{"user_id":"auth0|3","email":"c@d.test","odd":1}\n';
    const { users, leftOut } = await made("auth0", lines);
    expect(users.map(({ id }) => id)).toEqual(["auth0|1", "auth0|3"]);
    expect(leftOut).toEqual([
      "file0:3:12 this line is not JSON: it is left out",
      "file0:4:41 [1].odd is not carried over",
    ]);
  });
});

describe("a configuration inside another file", () => {
  const dex =
    "issuer: http://d\nstorage: {}\nweb: {}\nodd: 1\nstaticPasswords:\n  - { email: erin@example.test, username: erin, userID: 7 }\n";
  const indented = (by: string): string => dex.replaceAll(/^(?=.)/gm, by);
  const json = JSON.stringify({
    tokenCallbacks: [{ issuerId: "i", requestMappings: [{ requestParam: "subject", match: "erin" }] }],
  });
  test.each<[string, ToolName, string, RegExp | null]>([
    [
      "a ConfigMap",
      "dex",
      `apiVersion: v1\nkind: ConfigMap\ndata:\n  config.yaml: |\n${indented("    ")}  other: x\n`,
      /^file0:8:5 odd /,
    ],
    [
      "a ConfigMap with a folded text",
      "dex",
      `apiVersion: v1\nkind: ConfigMap\ndata: { c: ${JSON.stringify(dex)} }\n`,
      /^file0:3:12 odd /,
    ],
    [
      "a ConfigMap as JSON",
      "dex",
      JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", data: { c: dex } }),
      /^file0:1:51 odd /,
    ],
    ["a Secret", "dex", `apiVersion: v1\nkind: Secret\ndata:\n  c: ${btoa(dex)}\n`, /^file0:4:6 odd /],
    ["a YAML stream", "dex", `# first\n---\napiVersion: v1\nkind: Service\n---\n${dex}`, /^file0:9:1 odd /],
    [
      "a Compose file, by a variable",
      "navikt",
      `services:\n  oidc:\n    environment:\n      JSON_CONFIG: '${json}'\n`,
      null,
    ],
    [
      "a Compose file, by a line",
      "navikt",
      `services:\n  oidc:\n    environment:\n      - 'JSON_CONFIG=${json}'\n`,
      null,
    ],
    [
      "a Compose file, by a config",
      "dex",
      `services: {}\nconfigs:\n  dex:\n    content: |\n${indented("      ")}`,
      /^file0:8:7 odd /,
    ],
  ])("%s", async (_, tool, text, place) => {
    const { users, leftOut } = await made(tool, text);
    expect(users).toEqual([expect.objectContaining({ username: "erin" })]);
    expect(foreignFixtures([{ name: "f.yaml", text }])).toMatchObject({
      hint: { command: ["idp", "init", "--from", tool, "f.yaml"] },
    });
    if (place !== null) expect(leftOut).toContainEqual(expect.stringMatching(place));
  });
  test("Soluto's two lists in one Compose file", async () => {
    const text = `services:\n  oidc:\n    environment:\n      USERS_CONFIGURATION_INLINE: |\n        [{ "SubjectId": "1", "Username": "erin" }]\n      CLIENTS_CONFIGURATION_INLINE: |\n        [{ "ClientId": "c", "RedirectUris": ["http://localhost/cb"] }]\n`;
    const { users, clients } = await made("soluto", text);
    expect([users[0], clients[0]]).toMatchObject([{ username: "erin" }, { client_id: "c" }]);
  });
  test.each([`{{- /* dex */ -}}\n${dex}`, '{ "realm": {{ .Values.realm }} }'])(
    "a template is called one",
    async (text) => {
      await expect(readFrom("dex", [{ name: "f", text }])).rejects.toMatchObject({
        problems: [{ line: 1, message: expect.stringContaining("template") }],
      });
    },
  );
});

describe("a hostile file is refused quickly, with a clear line", () => {
  const deep = (open: string, close: string) => open.repeat(5000) + close.repeat(5000);
  test.each<[string, () => string, RegExp]>([
    ["deep JSON", () => deep("[", "]"), /nested/],
    ["deep JSON in a realm", () => `{"realm":"r","users":${deep("[", "]")}}`, /nested/],
    ["deep YAML", () => `realm: r\nusers: ${deep("[", "]")}`, /nest/],
    [
      "aliases",
      () =>
        `a0: &a0 [x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 9 }, (_, n) => `a${n + 1}: &a${n + 1} [${`*a${n},`.repeat(9)}]`).join("\n")}\nrealm: r\nusers: *a9`,
      /aliases/,
    ],
    [
      "__proto__",
      () => '{"realm":"r","users":[{"username":"u","__proto__":{"polluted":1}}]}',
      /cannot be the name of a field/,
    ],
    ["control characters", () => '{"realm":"r","users":[{"username":"u\u0000"}]}', /control character/],
    ["control characters in YAML", () => "realm: r\nusers: [\u0007]", /YAML/],
    ["too many characters", () => `{"realm":"r","users":["${"x".repeat(maxText)}"]}`, /32 MB/],
    ["too many documents", () => "a: 1\n---\n".repeat(2000), /documents/],
  ])("%s", async (_, text, says) => {
    const started = performance.now();
    const error = (await readFrom("keycloak", [{ name: "f", text: text() }]).catch((one: unknown) => one)) as {
      problems: readonly { message: string }[];
    };
    expect(error.problems.map(({ message }) => message).join()).toMatch(says);
    expect(performance.now() - started).toBeLessThan(5000);
    expect(Object.prototype).not.toHaveProperty("polluted");
  });
  test("a value with escape sequences is left out, and is nowhere in the file", async () => {
    const users = [
      {
        username: "u",
        firstName: "\u001b]0;x\u0007",
        email: "a@b.test",
        attributes: { a: ["\u202eevil"], "b\u009b": ["x"] },
      },
    ];
    const { text, leftOut } = await made("keycloak", realm({ users }));
    for (const letter of ["\u001b", "\u0007", "\u202e", "\u009b"]) expect(text).not.toContain(letter);
    expect(leftOut.filter((line) => line.includes("control characters")).length).toBeGreaterThan(2);
  });
});
