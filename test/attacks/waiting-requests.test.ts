import { expect, test } from "vitest";
import { register } from "../helpers/app.ts";
import { underAttack } from "../helpers/attack.ts";
import { authorizeUrl, callback, paths, pkce } from "../helpers/client.ts";
import { heapInUse } from "../helpers/heap.ts";

/** Up to ten thousand requests that wait for a user are kept for an hour: anybody can send them, so each has to be small. */

const idp = await underAttack();
const app = await register(idp, {
  token_endpoint_auth_method: "none",
  grant_types: ["authorization_code", "urn:ietf:params:oauth:grant-type:device_code"],
});
const { client_id } = app.credentials;

/** Forty-five kilobytes that become fifteen. */
const padding = `&pad=${"%41".repeat(15_000)}`;
const request = new URL(
  authorizeUrl(idp, { client_id, code_challenge: pkce().challenge, code_challenge_method: "S256" }),
);
const headers = {
  "content-type": "application/x-www-form-urlencoded",
  cookie: `idp_${idp.port}_session=x; idp_${idp.port}_browser=y`,
};

test.each<[name: string, path: string, body: string, status: number]>([
  ["sign-ins", paths.authorize, request.search.slice(1), 303],
  ["pushed requests", "/api/v2/oauth/par", request.search.slice(1), 201],
  ["device codes that nobody signed in for", "/device", `user_code=${encodeURIComponent("é".repeat(8000))}&x=`, 303],
  ["devices", "/api/v2/oauth/device_authorization", `client_id=${client_id}&resource=https://api.example.test/v1`, 200],
])("%s: the stored record is small, however long the body was", async (_name, path, body, status) => {
  const send = async (): Promise<void> => {
    const answer = await fetch(idp.issuer + path, {
      method: "POST",
      headers,
      body: body + padding,
      redirect: "manual",
    });
    await answer.text();
    expect([answer.status, answer.headers.get("location")?.startsWith(callback) ?? false]).toEqual([status, false]);
  };
  for (let warm = 0; warm < 20; warm += 1) await send();
  const before = heapInUse();
  for (let i = 0; i < 100; i += 1) await send();
  // Less than half of what was sent.
  expect(heapInUse() - before).toBeLessThan((100 * padding.length) / 2);
});
