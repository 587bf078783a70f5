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
  // What nobody has read yet is held as it came.
  const readAll = () => idp.call("requests.list", {});
  await readAll();
  const before = heapInUse();
  for (let i = 0; i < 100; i += 1) await send();
  await readAll();
  // Less than half of what was sent.
  expect(heapInUse() - before).toBeLessThan((100 * padding.length) / 2);
});

test("a stranger pushes out their own sign-ins, and not those of others", { timeout: 120_000 }, async () => {
  const shared = await underAttack({ trustedProxies: ["127.0.0.0/8", "::1/128"] });
  const open = await register(shared, { token_endpoint_auth_method: "none" });
  const url = open.url({ code_challenge: pkce().challenge, code_challenge_method: "S256" });
  const begin = (address: string) => fetch(url, { redirect: "manual", headers: { "x-forwarded-for": address } });
  /** Begins a sign-in. @returns what its page answers later */
  const signIn = async (address: string): Promise<() => Promise<number>> => {
    const { headers } = await begin(address);
    const cookie = headers.getSetCookie().map((one) => one.split(";")[0]);
    const page = new URL(headers.get("location") ?? "", shared.issuer);
    return async () => (await fetch(page, { headers: { cookie: cookie.join("; ") } })).status;
  };
  const [victim, first] = [await signIn("192.0.2.1"), await signIn("203.0.113.5")];
  for (let at = 0; at < 20; at += 1) await Promise.all(Array.from({ length: 50 }, () => begin("203.0.113.5")));
  expect([await victim(), await first()]).toEqual([200, 404]);
});
