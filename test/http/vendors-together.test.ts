import { expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { callback, jwtPart } from "../helpers/client.ts";
import {
  addressOf,
  appleSecret,
  bearer,
  client,
  postForm,
  send,
  serveVendor,
  users,
  visit,
} from "../helpers/vendor-app.ts";

/** Several vendors as issuers of one server, and what their users take away in the account. */

const secret = "the-secret-of-the-shop";

test("an app with both buttons: each vendor is an issuer of its own, with its own paths, tokens and users", async () => {
  const idp = await serve();
  const fixtures = (vendor: "google" | "github") => ({
    users,
    clients: [client(vendor)],
    settings: { endpoints: vendor },
  });
  const google = await idp.issuers.add("google", { fixtures: fixtures("google") });
  const github = await idp.issuers.add("github", { fixtures: fixtures("github") });
  expect(google.issuer).toBe(`${idp.issuer}/i/google`);
  expect(github.issuer).toBe(`${idp.issuer}/i/github/login/oauth`);
  const base = `${idp.issuer}/i/github`;

  const browser = new Browser(idp.issuer);
  const request = { response_type: "code", client_id: "shop", redirect_uri: callback, state: "s1" };
  const atGoogle = await visit(addressOf(`${google.issuer}/o/oauth2/v2/auth`, { ...request, scope: "openid email" }), {
    browser,
  });
  const atGithub = await visit(addressOf(`${base}/login/oauth/authorize`, request), { browser });
  // RFC 9207: the app sees which of them answered.
  expect(atGoogle.parameters["iss"]).toBe(google.issuer);
  expect(atGithub.parameters["iss"]).toBe(github.issuer);

  const exchange = {
    client_id: "shop",
    client_secret: secret,
    grant_type: "authorization_code",
    redirect_uri: callback,
  };
  const accept = { accept: "application/json" };
  // A code of one is nothing at the other.
  const mixed = await postForm(
    `${base}/login/oauth/access_token`,
    { ...exchange, code: atGoogle.parameters["code"] ?? "" },
    accept,
  );
  expect(mixed.json.error).toBe("bad_verification_code");
  const ofGoogle = await postForm(`${google.issuer}/token`, { ...exchange, code: atGoogle.parameters["code"] ?? "" });
  const ofGithub = await postForm(
    `${base}/login/oauth/access_token`,
    { ...exchange, code: atGithub.parameters["code"] ?? "" },
    accept,
  );
  expect(jwtPart(ofGoogle.json.id_token, 1)["iss"]).toBe(google.issuer);
  expect((await send(`${base}/user`, bearer(ofGithub.json.access_token))).json["login"]).toBe("alice");
  expect((await send(`${base}/user`, bearer(ofGoogle.json.access_token))).status).toBe(401);
  expect((await send(`${google.issuer}/v1/userinfo`, bearer(ofGithub.json.access_token))).status).toBe(401);

  const metadata = await send(`${idp.issuer}/.well-known/oauth-authorization-server/i/github/login/oauth`);
  expect(metadata.json["issuer"]).toBe(github.issuer);
  expect((await send(`${base}/.well-known/openid-configuration`)).status).toBe(404);
});

test.each(["google", "github", "apple"] as const)(
  "%s: access that the user removed in the account is refused in the vendor's words",
  async (vendor) => {
    const idp = await serveVendor(vendor);
    const base = idp.issuer.replace("/login/oauth", "");
    const paths = {
      google: ["/o/oauth2/v2/auth", "/token"],
      github: ["/login/oauth/authorize", "/login/oauth/access_token"],
      apple: ["/auth/authorize", "/auth/token"],
    }[vendor];
    const request = {
      ...{ response_type: "code", client_id: "shop", redirect_uri: callback, state: "s1", access_type: "offline" },
      scope: vendor === "github" ? "user:email" : "openid",
    };
    const { browser, parameters } = await visit(addressOf(base + (paths[0] ?? ""), request));
    const client_secret = vendor === "apple" ? await appleSecret() : secret;
    const post = (body: Readonly<Record<string, string>>) =>
      postForm(base + (paths[1] ?? ""), { client_id: "shop", client_secret, ...body }, { accept: "application/json" });
    const code = parameters["code"] ?? "";
    const { json } = await post({ grant_type: "authorization_code", code, redirect_uri: callback });

    const account = await browser.open(`${base}/account`);
    const [, remove = ""] = /href="([^"]*\/account\/apps\/shop\/remove)"/.exec(account.body) ?? [];
    const asked = await browser.open(new URL(remove, base).href);
    const button = /<button[^>]*id="([^"]*)"/.exec(asked.body)?.[1] ?? "";
    await browser.press(asked, button);
    expect(await idp.call("grants.list", { client: "shop" })).toMatchObject([{ status: "revoked" }]);

    if (vendor === "github") {
      const refused = { status: 401, json: { message: "Bad credentials" } };
      expect(await send(`${base}/user`, bearer(json.access_token))).toMatchObject(refused);
    } else {
      const refreshed = await post({ grant_type: "refresh_token", refresh_token: json.refresh_token });
      expect(refreshed).toMatchObject({ status: 400, json: { error: "invalid_grant" } });
    }
  },
);

test("faults, expectations and the operator's introspection work with opaque tokens", async () => {
  const idp = await serveVendor("github");
  const base = idp.issuer.replace("/login/oauth", "");
  const begin = () => visit(addressOf(`${base}/login/oauth/authorize`, { client_id: "shop", scope: "user" }));
  const exchange = (code = "") =>
    postForm(`${base}/login/oauth/access_token`, { client_id: "shop", client_secret: secret, code });
  // The app names no grant type, and takes a form.
  await idp.call("faults.add", { endpoint: "token", flaw: "token-type-wrong", grant_type: "authorization_code" });
  const { text } = await exchange((await begin()).parameters["code"]);
  expect(new URLSearchParams(text).get("token_type")).not.toBe("bearer");
  const good = new URLSearchParams((await exchange((await begin()).parameters["code"])).text).get("access_token") ?? "";
  await idp.call("faults.add", { endpoint: "userinfo", status: 503, user: "alice" });
  expect((await send(`${base}/user`, bearer(good, "token"))).status).toBe(503);
  expect(await idp.call("token.introspect", { token: good })).toMatchObject({ active: true, username: "alice" });
  const met = await idp.call("expect", {
    endpoint: "token",
    grant_type: "authorization_code",
    user: "alice",
    times: 2,
  });
  expect(met).toMatchObject({ met: true });
});
