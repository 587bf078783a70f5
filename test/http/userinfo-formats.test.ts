import { describe, expect, test } from "vitest";
import { builtInDemo } from "../../src/serve/fixture-files.ts";
import { enroll, register, serve } from "../helpers/app.ts";
import { jwtPart, userinfo } from "../helpers/client.ts";

/** The three forms of UserInfo, and which claims a scope releases, there and in the ID token. */

const idp = await serve();
await idp.call("seed", {
  scopes: { "team:read": { claims: ["team"] }, "names:read": { claims: ["nickname"] } },
  users: [
    {
      username: "erin",
      displayName: "Erin Eaves",
      email: "erin@example.com",
      emailVerified: true,
      phone: "+905551112233",
      website: "https://erin.example.test",
      birthDate: "1990-05-17",
      claims: {
        given_name: "Erin",
        nickname: "",
        name: "Erin of the claims",
        roles: ["admin"],
        team: "blue",
        email_verified: false,
      },
    },
  ],
});
const { id: erin } = await idp.call("users.show", { username: "erin" });

type Format = "native" | "standard" | "combined";

async function answers(format: Format | undefined, scope: string, user = "erin") {
  const app = await register(idp, format === undefined ? {} : { userinfo_format: format });
  const tokens = await app.tokens({ user, scope });
  return {
    info: (await userinfo(idp, tokens.access_token)).json,
    id: jwtPart(tokens.id_token, 1),
    access: jwtPart(tokens.access_token, 1),
  };
}
/** The claims of an ID token that say something of the user. */
const protocol = "iss sub aud azp iat exp auth_time nonce at_hash acr amr sid jti".split(" ");
const userClaims = (id: Record<string, unknown>) => Object.keys(id).filter((name) => !protocol.includes(name));

describe("userinfo_format", () => {
  test("native: the spec's body and sub", async () => {
    const { info } = await answers("native", "openid profile");
    expect(Object.keys(info)).toEqual(["sub", "id", "user", "language", "theme", "createdAt"]);
  });

  test("standard: OpenID Connect claims instead", async () => {
    const { info } = await answers("standard", "openid profile email phone");
    expect(info).toEqual({
      sub: erin,
      name: "Erin of the claims",
      given_name: "Erin",
      // A part of the display name.
      family_name: "Eaves",
      preferred_username: "erin",
      picture: expect.stringMatching(/^http:\/\/localhost:\d+\/avatars\/EC?-[0-9a-f]{6}\.svg$|^http/) as string,
      website: "https://erin.example.test",
      birthdate: "1990-05-17",
      locale: "en",
      updated_at: expect.any(Number) as number,
      email: "erin@example.com",
      email_verified: false,
      phone_number: "+905551112233",
      roles: ["admin"],
    });
  });

  test.each(["combined", undefined] as const)("combined, also where none is registered (%s): both", async (format) => {
    const { info, id } = await answers(format, "openid profile email");
    expect(info).toMatchObject({ sub: erin, id: erin, name: "Erin of the claims", email: "erin@example.com" });
    expect(info["user"]).toHaveProperty("email.domain", "example.com");
    for (const scope of ["openid", "openid profile", "openid email phone social", "openid details"]) {
      const [both, native] = [await answers(format, scope), await answers("native", scope)];
      expect(both.info).toMatchObject(native.info);
      expect(both.info["user"]).toEqual(native.info["user"]);
    }
    // By `details`, as in the spec's body.
    expect([info, id].map((claims) => "birthdate" in claims || "website" in claims)).toEqual([false, false]);
    const details = await answers(format, "openid details");
    for (const claims of [details.info, details.id])
      expect(claims).toMatchObject({ birthdate: "1990-05-17", website: "https://erin.example.test" });
  });
});

describe("a scope releases its claims and no others, in UserInfo and in the ID token alike", () => {
  const profile = [
    "name",
    "given_name",
    "family_name",
    "preferred_username",
    "picture",
    "website",
    "birthdate",
    "locale",
    "updated_at",
  ];
  test.each([
    ["openid", []],
    ["openid profile", profile],
    ["openid email", ["email", "email_verified"]],
    ["openid phone", ["phone_number"]],
    ["openid details", []],
    ["openid social", []],
    ["openid offline_access", []],
    ["openid team:read", ["team"]],
  ])("%s", async (scope, names) => {
    const { info, id } = await answers("standard", scope);
    expect(Object.keys(info).sort()).toEqual(["sub", "roles", ...names].sort());
    expect(userClaims(id).sort()).toEqual(["roles", ...names].sort());
  });

  test("in a native client `details` stands for profile's website and birthdate", async () => {
    const native = await answers("native", "openid profile");
    expect(userClaims(native.id)).not.toContain("website");
    const details = await answers("native", "openid details");
    expect(userClaims(details.id)).toEqual(expect.arrayContaining(["website", "birthdate"]));
  });

  test("all 14 claims of profile, address and phone_number_verified come from alice's own claims", async () => {
    const { info } = await answers("standard", "openid profile phone", "alice");
    for (const name of ["family_name", "middle_name", "nickname", "profile", "gender", "zoneinfo", "locale"]) {
      expect([name, info[name]]).toEqual([name, expect.stringMatching(/./)]);
    }
    expect(info["phone_number_verified"]).toBe(true);
  });

  test("none is null or empty: unset ones are left out", async () => {
    const { info } = await answers("standard", "openid profile phone names:read", await enroll(idp));
    for (const name of ["website", "birthdate", "phone_number", "nickname", "middle_name"]) {
      expect(info).not.toHaveProperty(name);
    }
  });
});

describe("a user's own claims", () => {
  test("are released always, or by the scope that lists them", async () => {
    const without = await answers("standard", "openid");
    expect(without.info).toHaveProperty("roles", ["admin"]);
    expect(without.info).not.toHaveProperty("team");
    expect((await answers("standard", "openid team:read")).info).toHaveProperty("team", "blue");
  });

  test("are in the access token too", async () => {
    const { access } = await answers("native", "openid team:read");
    expect(access).toMatchObject({ roles: ["admin"], team: "blue" });
  });

  test("never set a token's own claims", async () => {
    const { info, id, access } = await answers("standard", "openid");
    for (const token of [info, id, access]) expect(token["sub"]).toBe(erin);
    for (const token of [id, access]) expect(token["iss"]).toBe(idp.issuer);
    expect([access["scope"], access["client_id"]]).not.toContain("forged");
  });
});

test("id_token_claims: minimal leaves the user's claims out of the ID token, not out of UserInfo", async () => {
  const app = await register(idp, { id_token_claims: "minimal", userinfo_format: "standard" });
  const tokens = await app.tokens({ user: "erin", scope: "openid profile email" });
  expect(userClaims(jwtPart(tokens.id_token, 1))).toEqual([]);
  expect((await userinfo(idp, tokens.access_token)).json).toHaveProperty("email");
});

describe("the settings userinfo_format and id_token_claims are the defaults of clients", () => {
  const defaults = { userinfo_format: "combined", id_token_claims: "minimal" } as const;

  test("combined has what generic libraries read at the top: mozilla-django-oidc, django-allauth, a Keycloak broker", async () => {
    const other = await serve({ settings: defaults });
    const app = await register(other);
    const tokens = await app.tokens({ user: "alice", scope: "openid profile email" });
    const { json } = await userinfo(other, tokens.access_token);
    const { id } = await other.call("users.show", { username: "alice" });
    expect(json).toMatchObject({
      sub: id,
      id,
      preferred_username: "alice",
      name: "Alice Adams",
      email: "alice@example.com",
      email_verified: true,
      user: { username: "alice", email: { username: "alice" } },
    });
    expect(userClaims(jwtPart(tokens.id_token, 1))).toEqual([]);
  });

  test("the client's own metadata overrides them", async () => {
    const other = await serve({ settings: defaults });
    const app = await register(other, { userinfo_format: "native", id_token_claims: "all" });
    const tokens = await app.tokens({ user: "alice", scope: "openid profile email" });
    expect((await userinfo(other, tokens.access_token)).json).not.toHaveProperty("email");
    expect(jwtPart(tokens.id_token, 1)).toHaveProperty("email");
  });

  test("a claim asked for by name is released by the scope of that form", async () => {
    for (const [userinfo_format, scope] of [
      ["standard", "profile"],
      ["native", "details"],
    ] as const) {
      const other = await serve({ settings: { userinfo_format } });
      const app = await register(other, { scope: `openid ${scope}` });
      const claims = JSON.stringify({ userinfo: { birthdate: null } });
      const tokens = await app.tokens({ user: "alice", scope: "openid", claims });
      expect((await userinfo(other, tokens.access_token)).json).toHaveProperty("birthdate");
    }
  });

  test("they come from fixtures too, and change with them", async () => {
    const other = await serve({ fixtures: [builtInDemo(), { settings: { userinfo_format: "native" } }] });
    const app = await register(other);
    const tokens = await app.tokens({ user: "alice", scope: "openid email" });
    expect((await userinfo(other, tokens.access_token)).json).not.toHaveProperty("email");
    await other.call("seed", { settings: defaults });
    expect((await userinfo(other, tokens.access_token)).json).toHaveProperty("email", "alice@example.com");
  });
});
