import { describe, expect, test } from "vitest";
import type { FixtureUser } from "../../src/core/records/users/schema.ts";
import { badgesOf } from "../../src/core/records/users/users.ts";
import { made, realm, redirectUris, web } from "../helpers/made-fixtures.ts";

/** What files of Keycloak give, but for service providers of SAML; the sample of each tool is in fixtures-from.test.ts. */

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
