import { expect, test } from "vitest";
import { callback, jwtPart } from "../helpers/client.ts";
import { addressOf, bearer, postForm, send, serveVendor, visit, type Parameters } from "../helpers/vendor-app.ts";

/** Cognito's claims. */

const credentials = { client_id: "shop", client_secret: "the-secret-of-the-shop" };

async function tokensOf(change: Parameters = {}, path = "/oauth2/authorize") {
  const idp = await serveVendor("cognito");
  const request = {
    response_type: "code",
    client_id: "shop",
    redirect_uri: callback,
    scope: "openid email",
    ...change,
  };
  const { parameters } = await visit(addressOf(idp.issuer + path, request));
  const { json } = await postForm(`${idp.issuer}/oauth2/token`, {
    ...credentials,
    grant_type: "authorization_code",
    code: parameters["code"] ?? "",
    redirect_uri: callback,
  });
  return { idp, json, id: jwtPart(json.id_token, 1), access: jwtPart(json.access_token, 1) };
}

test("tokens say what they are for, and who the user and the groups are", async () => {
  const { id, access, json, idp } = await tokensOf();
  expect(id).toMatchObject({
    token_use: "id",
    aud: "shop",
    "cognito:username": "alice",
    "cognito:groups": ["admins"],
    origin_jti: expect.any(String) as string,
    event_id: expect.any(String) as string,
  });
  expect(access).toMatchObject({
    token_use: "access",
    client_id: "shop",
    username: "alice",
    version: 2,
    "cognito:groups": ["admins"],
    origin_jti: id["origin_jti"],
  });
  for (const claims of [id, access]) expect(claims).not.toHaveProperty("groups");
  expect(access).not.toHaveProperty("aud");
  expect((await send(`${idp.issuer}/oauth2/userInfo`, bearer(json.access_token))).json).toMatchObject({
    email: "alice@example.com",
  });
});

test("with resource, an access token has aud beside client_id", async () => {
  const { access } = await tokensOf({ resource: "https://api.example.com" });
  expect(access).toMatchObject({ client_id: "shop", aud: "https://api.example.com" });
});

test("/login is the authorization endpoint too", async () => {
  expect((await tokensOf({}, "/login")).id["token_use"]).toBe("id");
});
