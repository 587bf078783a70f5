import { request } from "node:http";
import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { exchange, jwtPart, paths, signIn } from "../helpers/client.ts";

/** Browser and container use two names of one server. */

/** Discovery as the container fetches it: `fetch` would not send another `Host`. */
const discoveryAt = (port: number, host: string): Promise<{ status: number; json: Record<string, string> }> =>
  new Promise((resolve, reject) => {
    request({ port, host: "127.0.0.1", path: "/.well-known/openid-configuration", headers: { host } }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => {
        const json = JSON.parse(Buffer.concat(chunks).toString()) as Record<string, string>;
        resolve({ status: answer.statusCode ?? 0, json });
      });
    })
      .on("error", reject)
      .end();
  });

const own = ["token_endpoint", "userinfo_endpoint", "jwks_uri", "introspection_endpoint", "revocation_endpoint"];

test("dynamic: back-channel endpoints use the name of the request; issuer and pages stay", async () => {
  const idp = await serve({ backchannel: "dynamic", allowHosts: ["idp"] });
  const { json } = await discoveryAt(idp.port, "idp:4370");
  for (const name of own) expect(json[name]).toMatch(/^http:\/\/idp:4370\/api\/v2\/oauth\//);
  expect(json["issuer"]).toBe(idp.issuer);
  expect(json["authorization_endpoint"]).toContain(idp.issuer);
  expect(json["end_session_endpoint"]).toContain(idp.issuer);

  const { code } = await signIn(idp);
  expect(jwtPart((await exchange(idp, code)).json["id_token"], 1)["iss"]).toBe(idp.issuer);
});

test("off: the same document under every name, and none for a name that is not ours", async () => {
  const idp = await serve({ allowHosts: ["idp"] });
  const { json } = await discoveryAt(idp.port, "idp:4370");
  for (const name of own) expect(json[name]).toContain(idp.issuer);
  expect((await discoveryAt(idp.port, "evil.example")).status).toBe(421);
});

test.each([
  ["dynamic", "idp:4370", 200],
  ["dynamic", "other:4370", 401],
  ["off", "idp:4370", 401],
] as const)(
  "an assertion for the token endpoint by the name that discovery gave: --backchannel %s, asked at idp:4370, for %s: %i",
  async (backchannel, named, status) => {
    const idp = await serve({ backchannel, allowHosts: ["idp", "other"] });
    const secret = "a secret of 32 bytes or more, for HS256 and the like";
    const app = await register(idp, { token_endpoint_auth_method: "client_secret_jwt", client_secret: secret });
    const { client_id: id } = app.credentials;
    const assertion = await new SignJWT({ iss: id, sub: id, aud: `http://${named}${paths.token}`, jti: "1" })
      .setProtectedHeader({ alg: "HS256" })
      .setExpirationTime("1 min")
      .sign(new TextEncoder().encode(secret));
    const body = new URLSearchParams({
      token: "x",
      client_assertion: assertion,
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
    }).toString();
    const headers = { host: "idp:4370", "content-type": "application/x-www-form-urlencoded" };
    const answered = await new Promise<number | undefined>((resolve, reject) => {
      request({ port: idp.port, host: "127.0.0.1", path: paths.revoke, method: "POST", headers }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      })
        .on("error", reject)
        .end(body);
    });
    expect(answered).toBe(status);
  },
);
