import { describe, expect, test } from "vitest";
import { underAttack } from "../helpers/attack.ts";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl, exchange, paths, pick, pkce, post, refresh, signIn } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";
import { documentServer, redirectUri } from "../helpers/document-server.ts";

/** What a client with a metadata document may still do once that has changed, or once the operator registered its id. */

const documents = await documentServer();
const clock = testClock();
const idp = await underAttack({
  now: clock.now,
  settings: { client_metadata_documents: true, client_metadata_loopback: true },
});
/** A document that does not say how long it may be remembered is good for 5 s. */
const untilReadAgain = () => {
  clock.pass(6);
};
const { verifier, challenge } = pkce();
const asked = (client_id: string) => ({
  client_id,
  redirect_uri: redirectUri,
  code_challenge: challenge,
  code_challenge_method: "S256",
});
const form = { headers: { "content-type": "application/x-www-form-urlencoded" } };

describe("once the operator registers its id, a client keeps nothing of its document", () => {
  const secret = { client_secret: "the operator's own", redirect_uri: redirectUri };
  const register = (client_id: string) =>
    idp.call("seed", {
      clients: [{ client_id, client_secret: secret.client_secret, redirect_uris: ["https://real.example/cb"] }],
    });

  test("no code, refresh token or grant", async () => {
    const url = documents.publish("/taken.json");
    const none = { client_id: url, client_secret: null, redirect_uri: redirectUri, code_verifier: verifier };
    const tokens = (await exchange(idp, (await signIn(idp, asked(url))).code, none)).json;
    const { code } = await signIn(idp, asked(url));
    await register(url);
    expect(await idp.call("grants.list", { client: url })).toEqual([]);
    expect((await exchange(idp, code, none)).json.access_token).toBeUndefined();
    expect((await exchange(idp, code, { ...none, ...secret })).json.error).toBe("invalid_grant");
    expect((await refresh(idp, tokens.refresh_token, { ...none, ...secret })).json.error).toBe("invalid_grant");
    expect((await refresh(idp, tokens.refresh_token, none)).json.error).toBe("invalid_client");
  });

  test("no sign-in and no pushed request", async () => {
    const url = documents.publish("/begun.json");
    const browser = new Browser(idp.issuer);
    const login = await browser.open(authorizeUrl(idp, asked(url)));
    const body = new URLSearchParams({ ...asked(url), response_type: "code", scope: "openid" });
    const { json } = await post(idp, "/api/v2/oauth/par", {}, { ...form, body });
    await register(url);
    const picked = await pick(browser, login, "alice");
    expect([picked.page, picked.left]).toEqual(["error", null]);
    const request_uri = String(json["request_uri"]);
    const query = new URLSearchParams({ client_id: url, request_uri });
    const answer = await fetch(`${idp.issuer}${paths.authorize}?${query}`, { redirect: "manual" });
    expect([answer.status, answer.headers.get("location")]).toEqual([400, null]);
  });
});

test("an unknown request_uri redirects only to a URI that the document lists now", async () => {
  const old = "https://old.example/cb";
  const url = documents.publish("/moved.json", { redirect_uris: [redirectUri, old] });
  await fetch(authorizeUrl(idp, asked(url)), { redirect: "manual" });
  documents.publish("/moved.json");
  untilReadAgain();
  const answerAt = async (redirect_uri: string) => {
    const request_uri = "urn:ietf:params:oauth:request_uri:none";
    const query = new URLSearchParams({ client_id: url, request_uri, redirect_uri });
    const { status, headers } = await fetch(`${idp.issuer}${paths.authorize}?${query}`, { redirect: "manual" });
    return [status, headers.get("location")];
  };
  expect(await answerAt(old)).toEqual([400, null]);
  expect(await answerAt(redirectUri)).toEqual([303, expect.stringContaining("error=invalid_request_uri")]);
});

test("a sign-out returns only to an address that the document lists now", async () => {
  const [old, out] = ["https://old.example/out", "https://shelf.example/out"];
  const url = documents.publish("/out.json", { post_logout_redirect_uris: [old, out] });
  await fetch(authorizeUrl(idp, asked(url)), { redirect: "manual" });
  documents.publish("/out.json", { post_logout_redirect_uris: [out] });
  untilReadAgain();
  const at = async (post_logout_redirect_uri: string) => {
    const query = new URLSearchParams({ client_id: url, post_logout_redirect_uri });
    const { status, headers } = await fetch(`${idp.issuer}/api/v2/oauth/logout?${query}`, { redirect: "manual" });
    return [status, headers.get("location")];
  };
  expect(await at(old)).toEqual([400, null]);
  expect(await at(out)).toEqual([303, out]);
});

test("a dot segment counts only in the path", async () => {
  const url = documents.publish("/query.json?next=/../x");
  expect((await fetch(authorizeUrl(idp, asked(url)), { redirect: "manual" })).status).toBe(303);
});
