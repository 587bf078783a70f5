import { request } from "node:http";
import { expect, test } from "vitest";
import { exchange, jwtPart, signIn } from "../helpers/client.ts";
import { startIdp } from "../helpers/idp.ts";

/** Browser and container know one server by two names (CONTRACT 1). */

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

test("dynamic: what the client calls itself is at the name it asked under; issuer and pages stay", async () => {
  const idp = await startIdp({ backchannel: "dynamic", allowHosts: ["idp"] });
  const { json } = await discoveryAt(idp.port, "idp:4370");
  for (const name of own) expect(json[name]).toMatch(/^http:\/\/idp:4370\/api\/v2\/oauth\//);
  expect(json["issuer"]).toBe(idp.issuer);
  expect(json["authorization_endpoint"]).toContain(idp.issuer);
  expect(json["end_session_endpoint"]).toContain(idp.issuer);

  const { code } = await signIn(idp);
  expect(jwtPart((await exchange(idp, code)).json["id_token"], 1)["iss"]).toBe(idp.issuer);
});

test("off: the same document under every name, and none for a name that is not ours", async () => {
  const idp = await startIdp({ allowHosts: ["idp"] });
  const { json } = await discoveryAt(idp.port, "idp:4370");
  for (const name of own) expect(json[name]).toContain(idp.issuer);
  expect((await discoveryAt(idp.port, "evil.example")).status).toBe(421);
});
