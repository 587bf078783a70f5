import { describe, expect, test } from "vitest";
import type { FixtureUser } from "../../src/core/users/schema.ts";
import { badgesOf } from "../../src/core/users/users.ts";
import { newKey } from "../helpers/saml.ts";
import { made, realm, redirectUris, web } from "../helpers/made-fixtures.ts";

/** What files of Keycloak give; the sample of each tool is in fixtures-from.test.ts. */

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

describe("Keycloak: roles where lists look for them", () => {
  const roles = { realmRoles: ["pilot", "offline_access"], clientRoles: { web: ["editor"], other: ["hidden"] } };
  const shown = async (...mappers: object[]) => {
    const [user] = (await made("keycloak", withMappers(roles, ...mappers))).users as [FixtureUser];
    return { badges: badgesOf({ claims: user.claims ?? {}, note: null }), roles: user.claims?.["roles"] };
  };
  const realmRoles = (name: string) => mapper("usermodel-realm-role", { "claim.name": name });
  const webRoles = (name: string) =>
    mapper("usermodel-client-role", { "claim.name": name, "usermodel.clientRoleMapping.clientId": "web" });

  test("in the claims of Keycloak itself, without what everybody has", async () => {
    expect(await shown()).toEqual({ badges: ["pilot", "editor", "hidden"], roles: undefined });
  });
  test("in a claim of another name: in `roles` too, but only those that tokens have", async () => {
    const all = ["pilot", "editor"];
    expect(await shown(realmRoles("x.realm"), webRoles("x.web"))).toEqual({ badges: all, roles: all });
  });
  test("a claim `roles` that a mapper makes stays as it is", async () => {
    expect(await shown(realmRoles("x"), webRoles("roles"))).toEqual({ badges: ["editor"], roles: ["editor"] });
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
  test("a client of another protocol", async () => {
    const { leftOut } = await clientOf({ protocol: "docker-v2" });
    expect(leftOut).toEqual([`file0:5:3 clients[0] client "web" speaks docker-v2: it is left out`]);
  });
  test("a client for devices alone is as complete as others", async () => {
    const attributes = { "oauth2.device.authorization.grant.enabled": "true", "pkce.code.challenge.method": "S256" };
    const { client } = await clientOf({ standardFlowEnabled: false, name: "TV", attributes });
    expect(client).toMatchObject({ client_name: "TV", userinfo_format: "standard", skip_consent: true });
    expect(client["grant_types"]).toEqual(["refresh_token", "urn:ietf:params:oauth:grant-type:device_code"]);
  });
});

describe("Keycloak: service providers of SAML", () => {
  const certificate = newKey().certificate.replaceAll(/-----[^-]+-----|\s/g, "");
  const acs = "http://localhost:3000/saml/acs";
  const spOf = async (attributes: object, fields: object = {}, users: readonly object[] = []) => {
    const sp = { clientId: "urn:app", protocol: "saml", attributes, ...fields };
    const { clients, leftOut } = await made(
      "keycloak",
      realm({ clients: [sp], users: [{ username: "erin" }, ...users] }),
    );
    return { client: clients[0], leftOut };
  };
  const samlMapper = (protocolMapper: string, config: object) => ({
    ...{ name: "m", protocol: "saml", protocolMapper: `saml-${protocolMapper}-mapper` },
    config,
  });

  test("as the admin console makes one", async () => {
    const { client, leftOut } = await spOf(
      {
        saml_assertion_consumer_url_post: acs,
        saml_single_logout_service_url_redirect: "http://localhost:3000/saml/slo",
        "saml.server.signature": "true",
        "saml.assertion.signature": "true",
        "saml.client.signature": "true",
        "saml.signing.certificate": certificate,
        "saml.signature.algorithm": "RSA_SHA256",
        "saml.force.post.binding": "true",
        "saml.authnstatement": "true",
        saml_name_id_format: "email",
        saml_signature_canonicalization_method: "http://www.w3.org/2001/10/xml-exc-c14n#",
        "saml.assertion.lifespan": "120",
        saml_idp_initiated_sso_url_name: "app",
      },
      {
        name: "App",
        redirectUris: [acs, "http://localhost:3000/saml/other"],
        secret: "unused",
        fullScopeAllowed: true,
      },
    );
    expect(client).toEqual({
      ...{ client_id: "urn:app", client_name: "App" },
      saml: {
        acs: [acs, "http://localhost:3000/saml/other"],
        slo: "http://localhost:3000/saml/slo",
        certificates: [certificate],
        ...{ require_signed_requests: true, sign: "both", nameid: "email", assertion_ttl: 120 },
      },
    });
    expect(leftOut).toEqual([]);
  });

  test.each<readonly [string, object, object]>([
    ["the document alone is signed", {}, { sign: "response" }],
    [
      "the assertion alone",
      { "saml.server.signature": "false", "saml.assertion.signature": "true" },
      { sign: "assertion" },
    ],
    ["no name of the address: no sign-in begins here", {}, { unsolicited: false }],
    ["the usual NameID is the username", {}, { nameid: "username" }],
    ["persistent", { saml_name_id_format: "persistent" }, { nameid: "persistent" }],
    [
      "encrypted, in the way of Keycloak",
      { "saml.encrypt": "true", "saml.encryption.certificate": certificate },
      { encrypt: "cbc", certificates: [certificate] },
    ],
    [
      "encrypted with GCM",
      {
        ...{ "saml.encrypt": "true", "saml.encryption.certificate": certificate },
        "saml.encryption.algorithm": "http://www.w3.org/2009/xmlenc11#aes256-gcm",
      },
      { encrypt: true },
    ],
  ])("%s", async (_, attributes, saml) => {
    const { client, leftOut } = await spOf({ saml_assertion_consumer_url_post: acs, ...attributes });
    expect(client).toMatchObject({ saml });
    expect(leftOut).toEqual([]);
  });

  test("without an address of its own: the master address, then the redirect URIs below the root URL", async () => {
    const { client } = await spOf({}, { adminUrl: acs, rootUrl: "http://localhost:3000", redirectUris: ["/second"] });
    expect(client).toMatchObject({ saml: { acs: [acs, "http://localhost:3000/second"] } });
  });

  test.each<readonly [string, object, object, RegExp]>([
    ["a wildcard", {}, { redirectUris: ["http://localhost:3000/*"] }, /wildcard/],
    ["no address at all", { saml_assertion_consumer_url_post: "" }, {}, /none of its addresses/],
    ["nothing signed", { "saml.server.signature": "false" }, {}, /always signed/],
    ["signed requests without a certificate", { "saml.client.signature": "true" }, {}, /needs a certificate/],
    ["a text that is not a certificate", { "saml.signing.certificate": "AAAA" }, {}, /not a certificate/],
    ["SHA-1", { "saml.signature.algorithm": "RSA_SHA1" }, {}, /RSA-SHA256/],
    ["Artifact", { "saml.artifact.binding": "true" }, {}, /not supported/],
    ["logout by HTTP-POST", { saml_single_logout_service_url_post: "http://localhost:3000/slo" }, {}, /HTTP-Redirect/],
    ["an unknown attribute", { "saml.new": "x" }, {}, /saml\.new.*not carried over/],
  ])("is noted: %s", async (_, attributes, fields, says) => {
    const { client, leftOut } = await spOf({ saml_assertion_consumer_url_post: acs, ...attributes }, fields);
    expect(client).toMatchObject({ saml: { acs: [acs] } });
    expect(leftOut).toContainEqual(expect.stringMatching(says));
  });

  test("mappers are attributes, with the claims that their values are in", async () => {
    const protocolMappers = [
      samlMapper("user-property", { "user.attribute": "email", "attribute.name": "mail" }),
      samlMapper("user-property", { "user.attribute": "lastName", "attribute.name": "urn:oid:2.5.4.4" }),
      samlMapper("user-attribute", { "user.attribute": "department", "attribute.name": "dept" }),
      samlMapper("group-membership", { "attribute.name": "member" }),
      samlMapper("role-list", { "attribute.name": "Role" }),
    ];
    const user = { username: "ann", lastName: "Lee", attributes: { department: ["law"] }, groups: ["/a"] };
    const { client, leftOut } = await spOf({ saml_assertion_consumer_url_post: acs }, { protocolMappers }, [user]);
    expect(client).toMatchObject({
      saml: {
        attributes: {
          ...{ mail: "email", "urn:oid:2.5.4.4": "family_name", dept: "department" },
          member: { claim: "groups", repeat: true },
          Role: { claim: "realm_access.roles", repeat: true },
        },
      },
    });
    expect(leftOut).toEqual([expect.stringMatching(/mapper "m" \(saml-role-list-mapper\).*those of clients/)]);
  });

  test("name formats, friendly names, and mappers of its client scopes are carried over; what is not has a line", async () => {
    const role = samlMapper("role-list", { single: "true", "attribute.name": "Role", "attribute.nameformat": "Basic" });
    const uri = "urn:oasis:names:tc:SAML:2.0:attrname-format:uri";
    const protocolMappers = [
      samlMapper("user-property", {
        ...{ "user.attribute": "email", "attribute.name": "urn:oid:1.2" },
        ...{ "attribute.nameformat": uri, "friendly.name": "email" },
      }),
      samlMapper("user-attribute", {
        ...{ "user.attribute": "costCenter", "attribute.name": "cost.center", "attribute.nameformat": "Unspecified" },
      }),
      samlMapper("hardcode-attribute", { "attribute.name": "duration", "attribute.value": "28800" }),
    ];
    const attributes = {
      saml_assertion_consumer_url_post: acs,
      saml_idp_initiated_sso_url_name: "app",
      saml_idp_initiated_sso_relay_state: "https://app.example.com/start",
    };
    const sp = { clientId: "urn:app", protocol: "saml", attributes, protocolMappers };
    const scope = { name: "role_list", protocol: "saml", protocolMappers: [role] };
    for (const from of [{}, { defaultClientScopes: ["role_list"] }]) {
      const { clients, leftOut } = await made(
        "keycloak",
        realm({
          clients: [{ ...sp, ...from }],
          clientScopes: [scope],
          defaultDefaultClientScopes: ["role_list"],
          users: [{ username: "erin" }],
        }),
      );
      expect(clients[0]).toMatchObject({
        saml: {
          attributes: {
            "urn:oid:1.2": { claim: "email", name_format: "uri", friendly_name: "email" },
            "cost.center": { claim: "costCenter", name_format: "unspecified" },
            Role: { claim: "realm_access.roles", name_format: "basic" },
          },
        },
      });
      for (const loss of [
        /hardcode-attribute-mapper/,
        /saml_idp_initiated_sso_relay_state.*\/saml\/start/,
        /those of clients/,
      ])
        expect(leftOut).toContainEqual(expect.stringMatching(loss));
    }
  });

  test("one that is disabled is left out", async () => {
    const { leftOut } = await spOf({ saml_assertion_consumer_url_post: acs }, { enabled: false });
    expect(leftOut).toEqual([expect.stringMatching(/is disabled/)]);
  });
});

describe("Keycloak: organizations", () => {
  const organizations = [
    { alias: "north", id: "o-1", attributes: { plan: ["pro"] }, members: [{ username: "ann" }, { username: "bob" }] },
    { alias: "south", id: "o-2", members: [{ username: "bob" }] },
  ];
  const users = [{ username: "ann" }, { username: "bob" }, { username: "cid" }];
  const claimsOf = async (config: object | null) => {
    const mapper = { name: "m", protocolMapper: "oidc-organization-membership-mapper", config };
    const clientScopes = config === null ? [] : [{ name: "tenant", protocolMappers: [mapper] }];
    const { users: all, leftOut } = await made("keycloak", realm({ organizations, users, clientScopes }));
    return { claims: (all as { claims?: object }[]).map(({ claims = {} }) => claims), leftOut };
  };

  test("members have the claim of the mapper, in its form", async () => {
    expect(await claimsOf({ "claim.name": "tenant", multivalued: "true" })).toMatchObject({
      claims: [{ tenant: ["north"] }, { tenant: ["north", "south"] }, {}],
      leftOut: [expect.stringMatching(/organizations.*"tenant".*domains/)],
    });
    const asObject = { addOrganizationId: "true", addOrganizationAttributes: "true" };
    expect((await claimsOf({ "claim.name": "organization", ...asObject })).claims).toMatchObject([
      { organization: { north: { id: "o-1", plan: ["pro"] } } },
      { organization: { north: { id: "o-1" }, south: { id: "o-2" } } },
      {},
    ]);
  });

  test("without a mapper, a line says that they are not carried over", async () => {
    expect((await claimsOf(null)).leftOut).toContainEqual(expect.stringMatching(/organizations are not carried over/));
  });
});
