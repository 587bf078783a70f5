import { authorizeUrl, callback, pkce } from "../../helpers/client.ts";
import type { Cases, World } from "./world.ts";

/** Refusals of the authorization endpoint and of pushed requests. */

const { challenge } = pkce();

export const authorizeCases = ({ authorize, browser, get, idp, post, tokens, app, proof }: World): Cases => ({
  "authorize: no client_id": () => authorize({ client_id: null }),
  "authorize: unknown client": () => authorize({ client_id: "demo-ap" }),
  "authorize: unknown document": () => authorize({ client_id: "https://app.example.test/client.json" }),
  "authorize: no redirect_uri": () => authorize({ redirect_uri: null }),
  "authorize: redirect_uri not registered": () => authorize({ redirect_uri: `${callback}/` }),
  "authorize: client_id twice": () => get("/api/v2/oauth/authorize?client_id=a&client_id=b"),
  "authorize: scope twice": () => get(`${authorizeUrl(idp).slice(idp.issuer.length)}&scope=phone`),
  "authorize: no response_type": () => authorize({ response_type: null }),
  "authorize: response_type=token": () => authorize({ response_type: "token" }),
  "authorize: grant type not allowed": async () => {
    await idp.call("seed", {
      clients: [
        { client_id: "no-code", client_secret: "s", redirect_uris: [callback], grant_types: ["client_credentials"] },
      ],
    });
    return authorize({ client_id: "no-code" });
  },
  "authorize: response_mode": () => authorize({ response_mode: "web_message" }),
  "authorize: request object": () => authorize({ request: "x.y.z" }),
  "authorize: foreign request_uri": () => authorize({ request_uri: "https://app.example.test/request" }),
  "authorize: unknown request_uri": () => authorize({ request_uri: "urn:ietf:params:oauth:request_uri:x" }),
  "authorize: must push": () => authorize({ client_id: "pushes" }),
  "authorize: prompt=create": () => authorize({ prompt: "create" }),
  "authorize: prompt=none with another": () => authorize({ prompt: "none login" }),
  "authorize: prompt=none, not signed in": () => authorize({ prompt: "none" }),
  "authorize: prompt=none, no consent": async () => {
    const person = await app.signIn();
    await idp.call("requests.clear", {});
    return person.browser.open(app.url({ prompt: "none", scope: "openid phone" }));
  },
  "authorize: max_age": () => authorize({ max_age: "soon" }),
  "authorize: claims": () => authorize({ claims: "no JSON" }),
  "authorize: scope unknown": () => authorize({ scope: "opneid" }),
  "authorize: scope not registered": async () => {
    await idp.call("seed", {
      clients: [{ client_id: "narrow", client_secret: "s", redirect_uris: [callback], scope: "openid" }],
    });
    return authorize({ client_id: "narrow" });
  },
  "authorize: essential acr": () =>
    authorize({ claims: JSON.stringify({ id_token: { acr: { essential: true, value: "urn:gold" } } }) }),
  "authorize: acr that the user cannot meet": async () => {
    const visitor = browser();
    const claims = JSON.stringify({ id_token: { acr: { essential: true, value: "urn:mfa" } } });
    const visit = await visitor.open(app.url({ claims }));
    return visitor.press(visit, "login-submit", { username: "nora", password: "nora" });
  },
  "authorize: id_token_hint": () => authorize({ id_token_hint: "x" }),
  "authorize: id_token_hint of another user": async () => {
    const { browser: person } = await app.signIn({ user: "bob" });
    const { id_token: hint } = await tokens();
    return person.open(app.url({ id_token_hint: hint, prompt: "none" }));
  },
  "authorize: resource": () => authorize({ resource: "api" }),
  "authorize: PKCE missing": () => authorize({ client_id: "spa" }),
  "authorize: PKCE plain": () => authorize({ code_challenge: challenge, code_challenge_method: "plain" }),
  "authorize: PKCE method unknown": () => authorize({ code_challenge: challenge, code_challenge_method: "s256" }),
  "authorize: PKCE method alone": () => authorize({ code_challenge_method: "S256" }),
  "authorize: PKCE challenge": () => authorize({ code_challenge: "short", code_challenge_method: "S256" }),
  "authorize: dpop_jkt": () => authorize({ dpop_jkt: "short" }),
  "authorize: too long": () => authorize({ login_hint: "x".repeat(20_000) }),
  "authorize: nonce too long": () => authorize({ nonce: "x".repeat(5000) }),
  "authorize: user denied": async () => {
    const visitor = browser();
    const visit = await visitor.press(
      await visitor.open(app.url({ scope: "openid profile phone", prompt: "consent" })),
      "login-as-bob",
    );
    return visitor.press(visit, "consent-deny");
  },
  "authorize: user canceled": async () => {
    const visitor = browser();
    return visitor.press(await visitor.open(app.url()), "login-cancel");
  },
  "par: request_uri pushed": () => post("/api/v2/oauth/par", { request_uri: "urn:x" }),
  "par: another key": async () =>
    post(
      "/api/v2/oauth/par",
      { response_type: "code", redirect_uri: callback, dpop_jkt: "x".repeat(43) },
      { dpop: await proof({ htu: `${idp.issuer}/api/v2/oauth/par` }) },
    ),
});
