import { describe, expect, test } from "vitest";
import { enroll, register, serve, type App } from "../helpers/app.ts";
import { jwtPart, paths, post, userinfo } from "../helpers/client.ts";

/** The `claims` of users and clients: in every token and answer that they are for. */

const idp = await serve();

const introspect = (token: string, by: App) => post(idp, "/api/v2/oauth/introspect", { token, ...by.credentials });

describe("a client's", () => {
  const claims = { tenant: "acme", roles: ["reader"], email: "robot@example.com" };
  test("are in access tokens without a user, and in their introspection", async () => {
    const service = await register(idp, { grant_types: ["client_credentials"], redirect_uris: [], claims });
    const { json } = await post(idp, paths.token, { grant_type: "client_credentials", ...service.credentials });
    const payload = jwtPart(json.access_token, 1);
    expect(payload).toMatchObject({ ...claims, sub: service.credentials.client_id });
    const answer = (await introspect(json.access_token, service)).json;
    expect(answer).toMatchObject({ ...claims, active: true });
    expect(answer).not.toHaveProperty("epoch");
    const issued = await idp.call("token.issue", { client: service.credentials.client_id });
    expect(jwtPart(issued.token, 1)).toMatchObject(claims);
  });

  test("are in no token of a user", async () => {
    const app = await register(idp, { claims: { tenant: "acme" } });
    const { access_token, id_token } = await app.tokens();
    for (const token of [access_token, id_token]) expect(jwtPart(token, 1)).not.toHaveProperty("tenant");
    expect((await introspect(access_token, app)).json).not.toHaveProperty("tenant");
  });

  test("stay with a token that it exchanges", async () => {
    const types = ["client_credentials", "urn:ietf:params:oauth:grant-type:token-exchange"] as const;
    const service = await register(idp, { grant_types: [...types], redirect_uris: [], claims });
    const { json } = await post(idp, paths.token, { grant_type: types[0], ...service.credentials });
    const exchanged = await post(idp, paths.token, {
      grant_type: types[1],
      subject_token: json.access_token,
      subject_token_type: "urn:ietf:params:oauth:token-type:access_token",
      ...service.credentials,
    });
    expect(jwtPart(exchanged.json.access_token, 1)).toMatchObject(claims);
  });
});

describe("a user's", () => {
  const claims = { email: "claimed@example.com", email_verified: true };
  test.each(["native", "standard", "combined"] as const)(
    "email takes the place of the record's in every token and in %s UserInfo",
    async (userinfo_format) => {
      const user = await enroll(idp, { email: "record@example.com", claims });
      const app = await register(idp, { userinfo_format });
      const { access_token, id_token } = await app.tokens({ scope: "openid email", user });
      expect(jwtPart(access_token, 1)["email"]).toBe(claims.email);
      expect(jwtPart(id_token, 1)).toMatchObject(claims);
      const { json } = await userinfo(idp, access_token);
      if (userinfo_format !== "native") expect(json).toMatchObject(claims);
      if (userinfo_format !== "standard") {
        expect(json).toMatchObject({
          user: { email: { username: "claimed", domain: "example.com", isVerified: true } },
        });
      }
    },
  );
});

test.each(["auth0|1", "0f0b0a31-6a1c-4b39-9b8c-1d0e5f1a2b3c", "CN=Alice Adams,O=Example"])(
  "the id %s is the sub of every token",
  async (id) => {
    const user = await enroll(idp, { id });
    const app = await register(idp);
    const { access_token, id_token, refresh_token } = await app.tokens({ user });
    for (const token of [access_token, id_token, refresh_token]) expect(jwtPart(token, 1)["sub"]).toBe(id);
    expect((await userinfo(idp, access_token)).json).toMatchObject({ sub: id, id });
    expect((await app.refresh(refresh_token)).json.id_token).toBeTruthy();
    expect((await introspect(access_token, app)).json).toMatchObject({ active: true, sub: id, username: user });
    expect(await idp.call("users.show", { username: id })).toMatchObject({ username: user });
  },
);
