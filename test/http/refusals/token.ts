import { paths } from "../../helpers/client.ts";
import { bearerType, deviceType, exchangeType, type Cases, type World } from "./world.ts";

/** Refusals of the token endpoint. */

const accessTokenType = "urn:ietf:params:oauth:token-type:access_token";
const idTokenType = "urn:ietf:params:oauth:token-type:id_token";
const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString("base64")}` });
const noSecret = { client_id: null, client_secret: null };

export const clientCases = ({ token, post, idp }: World): Cases => ({
  "client: wrong secret": () =>
    token({ grant_type: "client_credentials", client_id: "machine", client_secret: "wrong" }),
  "client: wrong secret in Basic": () => token({ grant_type: "client_credentials", ...noSecret }, basic("machine:a+b")),
  "client: unknown": () => token({ grant_type: "client_credentials", client_id: "nobody" }),
  "client: no client_id": () => token({ grant_type: "client_credentials", ...noSecret }),
  "client: no secret": () => token({ grant_type: "client_credentials", client_secret: null }),
  "client: two ways": () => token({ grant_type: "client_credentials" }, basic("app:x")),
  "client: two ids": () => token({ grant_type: "client_credentials", client_secret: null }, basic("machine:x")),
  "client: swapped": () => token({ grant_type: "client_credentials", client_id: "x-secret", client_secret: "app" }),
  "client: Basic without an id": () => token({ grant_type: "client_credentials", ...noSecret }, basic(":x")),
  "client: Basic not encoded": () => token({ grant_type: "client_credentials", ...noSecret }, basic("app:100%")),
  "client: assertion type": () => token({ ...noSecret, client_assertion: "a.b.c" }),
  "client: assertion no JWT": () =>
    token({
      ...noSecret,
      client_assertion: "x",
      client_assertion_type: `urn:ietf:params:oauth:client-assertion-type:jwt-bearer`,
    }),
  "client: too many guesses": async () => {
    const body = (secret: string) => ({
      grant_type: "client_credentials",
      client_id: "machine",
      client_secret: secret,
    });
    for (let guess = 0; guess < 300; guess += 1) await post(paths.token, body(`wrong ${guess}`));
    await idp.call("requests.clear", {});
    return post(paths.token, body("wrong"));
  },
});

export const grantCases = (world: World): Cases => {
  const { token, exchange, code, tokens, spaCode, clock, idp, post } = world;
  const refresh = (refresh_token: string, more = {}) => token({ grant_type: "refresh_token", refresh_token, ...more });
  const device = async () => {
    const response = await post("/api/v2/oauth/device_authorization", {});
    return String(((await response.json()) as Record<string, unknown>)["device_code"]);
  };
  const poll = (device_code: string) => token({ grant_type: deviceType, device_code });
  const swap = async (more = {}) => {
    const { access_token: subject_token } = await tokens();
    return token({ grant_type: exchangeType, subject_token, subject_token_type: accessTokenType, ...more });
  };
  const idJag = async (more = {}) => {
    const { id_token: subject_token } = await tokens();
    const asked = { requested_token_type: "urn:ietf:params:oauth:token-type:id-jag", subject_token_type: idTokenType };
    return token({ grant_type: exchangeType, subject_token, ...asked, audience: "https://elsewhere.test", ...more });
  };
  return {
    "token: no grant_type": () => token({}),
    "token: unknown grant_type": () => token({ grant_type: "password" }),
    "token: grant type not allowed": () =>
      token({ grant_type: "refresh_token", client_id: "bound", client_secret: "secret of bound, long enough" }).then(
        () =>
          token({
            grant_type: "client_credentials",
            client_id: "bound",
            client_secret: "secret of bound, long enough",
          }),
      ),
    "token: public client": () => token({ grant_type: "client_credentials", client_id: "spa", client_secret: null }),
    "token: parameter twice": () =>
      fetch(idp.issuer + paths.token, {
        method: "POST",
        body: new URLSearchParams("client_id=app&client_secret=s&grant_type=a&grant_type=b"),
      }),
    "token: parameter not text": () =>
      fetch(idp.issuer + paths.token, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"grant_type":1}',
      }),
    "token: body not an object": () =>
      fetch(idp.issuer + paths.token, { method: "POST", headers: { "content-type": "application/json" }, body: "[]" }),
    "code: missing": () => token({ grant_type: "authorization_code" }),
    "code: unknown": () => exchange("no-such-code"),
    "code: no redirect_uri": async () => exchange(await code(), { redirect_uri: null }),
    "code: another redirect_uri": async () => exchange(await code(), { redirect_uri: "http://localhost:3000/cb" }),
    "code: used twice": async () => {
      const given = await code();
      await exchange(given);
      return exchange(given);
    },
    "code: expired": async () => {
      const given = await code();
      clock.pass(90);
      return exchange(given);
    },
    "code: idp expire": async () => {
      const given = await code();
      await idp.call("expire", { client: "app", codes: true });
      return exchange(given);
    },
    "code: verifier missing": async () => exchange(await spaCode(), { client_id: "spa", client_secret: null }),
    "code: verifier wrong": async () =>
      exchange(await spaCode(), { client_id: "spa", client_secret: null, code_verifier: "w".repeat(43) }),
    "code: verifier short": async () =>
      exchange(await spaCode(), { client_id: "spa", client_secret: null, code_verifier: "w" }),
    "code: verifier without challenge": async () => exchange(await code(), { code_verifier: "v".repeat(43) }),
    "code: user suspended": async () => {
      const given = await code({ user: "bob" });
      await idp.call("users.suspend", { username: "bob" });
      await exchange(given);
      return idp.call("users.restore", { username: "bob" });
    },
    "code: grant revoked": async () => {
      const given = await code();
      await idp.revoke({ user: "alice", client: "app" });
      return exchange(given);
    },
    "code: resource": async () =>
      exchange((await world.app.signIn({ resource: "https://a.test" })).code, { resource: "https://b.test" }),
    "refresh: missing": () => token({ grant_type: "refresh_token" }),
    "refresh: no token": () => refresh("x"),
    "refresh: an access token": async () => refresh((await tokens()).access_token),
    "refresh: of another client": async () => refresh((await tokens({ client: "demo-app" })).refresh_token ?? ""),
    "refresh: wider scope": async () =>
      refresh((await tokens({ scope: "openid" })).refresh_token ?? "", { scope: "email" }),
    "refresh: used twice": async () => {
      const { refresh_token: given = "" } = await tokens();
      await refresh(given);
      return refresh(given);
    },
    "refresh: expired": async () => {
      const { refresh_token: given = "" } = await tokens();
      await idp.call("expire", { client: "app", refresh: true });
      return refresh(given);
    },
    "refresh: revoked": async () => {
      const { refresh_token: given = "" } = await tokens();
      await post(paths.revoke, { token: given });
      return refresh(given);
    },
    "device: grant type not allowed": () =>
      post("/api/v2/oauth/device_authorization", { client_id: "bound", client_secret: "secret of bound, long enough" }),
    "device: missing": () => token({ grant_type: deviceType }),
    "device: unknown": () => poll("x"),
    "device: waiting": async () => {
      const given = await device();
      clock.pass(10);
      return poll(given);
    },
    "device: too fast": async () => {
      const given = await device();
      await poll(given);
      return poll(given);
    },
    "device: expired": async () => {
      const given = await device();
      clock.pass(700);
      return poll(given);
    },
    "exchange: no subject token": () => token({ grant_type: exchangeType }),
    "exchange: type": () => swap({ subject_token_type: idTokenType }),
    "exchange: actor type alone": () => swap({ actor_token_type: accessTokenType }),
    "exchange: no token": () => swap({ subject_token: "x" }),
    "exchange: wider scope": () => swap({ scope: "phone offline_access" }),
    "exchange: audience": () => swap({ audience: "nobody" }),
    "exchange: expired": async () => {
      const { access_token: subject_token } = await tokens();
      await idp.call("expire", { client: "app" });
      return swap({ subject_token });
    },
    "id-jag: actor": () => idJag({ actor_token: "x", actor_token_type: accessTokenType }),
    "id-jag: no audience": () => idJag({ audience: null }),
    "id-jag: audience": () => idJag({ audience: "https://other.test" }),
    "id-jag: subject token type": () => idJag({ subject_token_type: accessTokenType }),
    "id-jag: subject token": () => idJag({ subject_token: "x" }),
    "id-jag: of another client": async () => idJag({ subject_token: (await tokens({ client: "demo-app" })).id_token }),
    "jwt-bearer: missing": () => token({ grant_type: bearerType }),
    "jwt-bearer: no JWT": () => token({ grant_type: bearerType, assertion: "x" }),
  };
};
