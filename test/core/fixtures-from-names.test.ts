import { describe, expect, test } from "vitest";
import { made, realm, redirectUris, web } from "../helpers/made-fixtures.ts";

/** Names and values that another tool takes more loosely than fixtures: usernames of any alphabet, placeholders, switches as text. */

describe("usernames", () => {
  const namesOf = async (...users: object[]) => {
    const read = await made("keycloak", realm({ users }));
    return { ...read, names: read.users.map(({ username }) => username) };
  };
  test.each([
    ["straße", "strasse"],
    ["Łukasz", "lukasz"],
    ["Ørsted", "orsted"],
    ["Ægir.þórr", "aegir.thorr"],
    ["ışık", "isik"],
    ["o'brien", "o-brien"],
    ["jean luc", "jean-luc"],
    ["ACME\\svc", "acme-svc"],
    ["１２３", "123"],
  ])("%s is %s, and stays in the tokens", async (username, formed) => {
    const { users, leftOut } = await namesOf({ username });
    expect(users).toEqual([{ username: formed, claims: { preferred_username: username } }]);
    expect(leftOut).toEqual([
      expect.stringContaining(
        `users[0].username ${JSON.stringify(username)} is not a username here: this user is called "${formed}"`,
      ),
    ]);
  });
  test.each<[string, object, string, RegExp]>([
    [
      "of another alphabet",
      { email: "Jürgen.B@x.test" },
      "jurgen.b",
      /letters that no username .*"jurgen\.b", after the e-mail/,
    ],
    ["without an address that ASCII can say", { email: "ива@x.test" }, "user", /this user is called "user"$/],
    ["without an address", {}, "user", /this user is called "user"$/],
  ])("a name %s", async (_, fields, username, says) => {
    for (const given of ["ivan.петров", "李小龙"]) {
      const { users, leftOut } = await namesOf({ username: given, ...fields });
      expect(users[0]).toMatchObject({ username, claims: { preferred_username: given } });
      expect(leftOut).toEqual([expect.stringMatching(says)]);
    }
  });
  test("two that read alike have numbers; a name that is a username stays, wherever it stands", async () => {
    const all = ["groß.müller", "gross.muller", "Groß.Müller", "петров", "李"].map((username) => ({ username }));
    const { names, leftOut } = await namesOf(...all);
    expect(names).toEqual(["gross.muller-2", "gross.muller", "gross.muller-3", "user", "user-2"]);
    expect(leftOut).toHaveLength(4);
    expect(leftOut.filter((line) => line.includes("is the name of another user"))).toEqual([]);
    expect(leftOut[0]).toContain('called "gross.muller-2", since another user is called "gross.muller" here');
  });
  test("one name in two files is told as what it is", async () => {
    const again = { realm: "shop", users: [{ username: "nora" }] };
    const { users, leftOut } = await made("keycloak", realm({ users: [{ username: "nora" }] }), again);
    expect(users[1]).toEqual({ username: "nora-2", claims: { preferred_username: "nora" } });
    expect(leftOut).toEqual([
      expect.stringContaining('"nora" is the name of another user, too: this user is called "nora-2"'),
    ]);
  });
});

describe("placeholders", () => {
  test.each([
    "$(env:WEB_SECRET)",
    "$(env:WEB_SECRET:-other)",
    "$(file:UTF-8:/run/secret)",
    "$(WEB_SECRET)",
    "${WEB_SECRET}",
    "$WEB_SECRET",
    "{{ .Values.secret }}",
    "%env(WEB_SECRET)%",
    "@@WEB_SECRET@@",
  ])("%s is no secret", async (secret) => {
    const { clients, leftOut } = await made(
      "keycloak",
      realm({ clients: [{ clientId: "web", secret, redirectUris }] }),
    );
    expect(clients[0]).toMatchObject({ client_secret: "web-secret" });
    expect(leftOut).toContainEqual(
      expect.stringMatching(/^file0:\d+:\d+ clients\[0\]\.secret is not the secret itself/),
    );
  });
  test.each(["$ecret", "pa$$word$", "a$(b)", "$(", "50%", "a&{b}"])("%s is a secret", async (secret) => {
    const { clients } = await made("keycloak", realm({ clients: [{ clientId: "web", secret, redirectUris }] }));
    expect(clients[0]).toMatchObject({ client_secret: secret });
  });
});

describe("clients whose id is none", () => {
  test("a space is part of an id (RFC 6749 A.1)", async () => {
    const { clients, leftOut } = await made(
      "keycloak",
      realm({ clients: [{ ...web, clientId: "my web app" }], users: [] }),
    );
    expect(clients[0]).toMatchObject({ client_id: "my web app" });
    expect(leftOut.filter((line) => line.includes("clients["))).toEqual([]);
  });
  test("a template or a missing id is made of the name; secret and addresses stay", async () => {
    const named = (clientId: string | undefined, name: string) => ({ clientId, name, secret: "s3cret", redirectUris });
    const all = [named("${APP_ID}", "Mein Größtes"), named(undefined, "Mein Größtes"), named("ключ", "Ключ")];
    const { clients, leftOut } = await made("keycloak", realm({ clients: all, users: [{ username: "u" }] }));
    expect(clients.slice(0, 3).map(({ client_id }) => client_id)).toEqual(["mein-grosstes", "mein-grosstes-2", "app"]);
    for (const client of clients.slice(0, 3))
      expect(client).toMatchObject({ client_secret: "s3cret", redirect_uris: redirectUris });
    expect(leftOut.filter((line) => line.includes("this client is called"))).toHaveLength(3);
  });
});

describe("dex", () => {
  const clientsOf = async (issuer: string, ...redirectURIs: string[]) => {
    const client = { id: "c", secret: "s", redirectURIs: ["http://localhost/cb", ...redirectURIs] };
    return made("dex", { issuer, storage: {}, web: {}, staticClients: [client] });
  };
  const issuer = "https://login.test/dex";
  test.each(["/device/callback", "/dex/device/callback", `${issuer}/device/callback`])(
    "%s is the device grant, and no redirect URI",
    async (uri) => {
      const { clients, leftOut } = await clientsOf(issuer, uri);
      expect(clients[0]).toMatchObject({ redirect_uris: ["http://localhost/cb"] });
      expect(clients[0]?.["grant_types"]).toContain("urn:ietf:params:oauth:grant-type:device_code");
      expect(leftOut).toEqual([]);
    },
  );
  test("the page of another server is a redirect URI", async () => {
    const uri = "https://app.test/device/callback";
    const { clients } = await clientsOf(issuer, uri);
    expect(clients[0]).toMatchObject({ redirect_uris: ["http://localhost/cb", uri] });
    expect(clients[0]).not.toHaveProperty("grant_types");
  });
  test("a public client without addresses returns to loopback, by any port, and a line says which paths", async () => {
    const { clients, leftOut } = await made("dex", { staticClients: [{ id: "c", public: true }] });
    for (const host of ["http://localhost", "http://127.0.0.1"])
      expect(clients[0]?.["redirect_uris"]).toEqual(
        expect.arrayContaining([`${host}:*`, `${host}:*/`, `${host}:*/callback`]),
      );
    expect(clients[0]?.["grant_types"]).toEqual([
      ...["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
    ]);
    expect(leftOut).toEqual([expect.stringMatching(/^file0:\d+:\d+ staticClients\[0\] any path of/)]);
  });
});

describe("FusionAuth", () => {
  const userWith = async (variables: object, ...texts: string[]) => {
    const data = Object.fromEntries(texts.map((text, index) => [`x${index}`, text]));
    const body = { user: { username: "u", data } };
    const { users, leftOut } = await made("fusionauth", { variables, requests: [{ url: "/api/user", body }] });
    return { claims: users[0]?.["claims"], leftOut };
  };
  test.each<[string, string, string]>([
    ["a dot in the name", "#{user.name}", "foo"],
    ["a dash in the name", "a #{x-y} b", "a bar b"],
    ["a variable of variables", "#{both}", "foo bar"],
    ["a number", "#{n}", "7"],
    ["a switch", "#{on}", "true"],
    ["one that is meant as text", "\\#{x-y}", "#{x-y}"],
    ["both", "#{x-y} and \\#{no}", "bar and #{no}"],
    ["a variable that holds such a text", "#{quoted}", "#{x-y}"],
  ])("%s", async (_, text, value) => {
    const variables = {
      "user.name": "foo",
      "x-y": "bar",
      both: "#{user.name} #{x-y}",
      n: 7,
      on: true,
      quoted: "\\#{x-y}",
    };
    expect(await userWith(variables, text)).toEqual({ claims: { x0: value }, leftOut: [] });
  });
  test.each(["#{UUID()}", "#{ENV.NAME}", "#{made}", "a #{later}"])("%s is a line", async (text) => {
    const { claims, leftOut } = await userWith({ made: "#{UUID()}" }, text);
    expect(claims).toBeUndefined();
    expect(leftOut).toEqual([expect.stringMatching(/data\.x0 has "#\{.*which stands for another value/)]);
  });
});

describe("switches and numbers as text", () => {
  test.each<[unknown, boolean]>([
    ["true", true],
    ["True", true],
    ["1", true],
    [1, true],
    ["false", false],
    ["F", false],
    [0, false],
  ])("Authelia: %s", async (given, is) => {
    const users = { ida: { displayname: "Ida", disabled: given } };
    const client = { client_id: "c", public: given, redirect_uris: "http://localhost/cb", require_pkce: given };
    const read = await made("authelia", {
      users,
      identity_providers: { oidc: { clients: [client], lifespans: { access_token: "90" } } },
    });
    expect(read.users[0]?.["status"]).toBe(is ? "suspended" : undefined);
    expect(read.clients[0]?.["token_endpoint_auth_method"]).toBe(is ? "none" : undefined);
    expect(read.clients[0]).toMatchObject({ redirect_uris: ["http://localhost/cb"] });
    expect(read.settings["access_token_ttl"]).toBe(90);
  });
  test("Keycloak", async () => {
    const client = {
      ...web,
      publicClient: "false",
      secret: "s",
      serviceAccountsEnabled: "true",
      standardFlowEnabled: "false",
    };
    const user = { username: "u", enabled: "false", createdTimestamp: "1507828000000", emailVerified: "true" };
    const { users, clients, settings } = await made(
      "keycloak",
      realm({ clients: [client], users: [user], accessTokenLifespan: "300", revokeRefreshToken: "false" }),
    );
    expect(users).toEqual([
      { username: "u", status: "suspended", createdAt: "2017-10-12T17:06:40.000Z", emailVerified: true },
    ]);
    expect(clients[0]).toMatchObject({ client_secret: "s", grant_types: ["client_credentials"] });
    expect(settings).toMatchObject({ access_token_ttl: 300, refresh_rotation: "off" });
  });
});
