import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { endpoints } from "../../src/core/base/endpoints.ts";
import { tryItPaths } from "../../src/core/testing/try-it/try-it.ts";
import { underAttack } from "../helpers/attack.ts";
import { rawRequest } from "../helpers/raw-http.ts";

/** A page whose name resolves to this machine: its requests come with a foreign Host. */

const adminToken = "an-admin-token-of-these-tests";
const idp = await underAttack({ adminToken });

/** Every path of the issuer, its parameters filled in. */
const issuerPaths = [
  "/",
  ...Object.values(endpoints),
  `${endpoints.register}/x`,
  "/.well-known/openid-configuration",
  "/.well-known/oauth-authorization-server",
  "/interaction/x/login",
  "/interaction/x/factor",
  "/interaction/x/consent",
  "/interaction/x/logout",
  "/account",
  "/account/apps/x/remove",
  "/account/preferences",
  "/account/end-session",
  "/account/passkeys",
  "/account/passkeys/remove",
  "/account/sign-out",
  "/device",
  ...Object.values(tryItPaths),
  "/w/x/.well-known/openid-configuration",
  "/w/x/jwks",
  "/_idp/health",
  "/_idp/assets/style.css",
  "/_idp/assets/brand.css",
  "/_idp/assets/copy.js",
  "/_idp/assets/logo",
  "/_idp/assets/passkey.js",
  "/avatars/alice.svg",
  "/favicon.ico",
];

const place = new URL((await idp.call("inspector.open", {})).url).pathname;
const inspectorPaths = [
  "",
  "users",
  "clients",
  "grants",
  "tokens",
  "testing",
  "fixtures",
  "change",
  "stream",
  "sign-ins/f1",
].map((path) => place + path);

/** Every path of the control API. */
async function controlPaths(): Promise<string[]> {
  const response = await fetch(`${idp.issuer}/_idp/api/openapi.json`, {
    headers: { authorization: `Bearer ${adminToken}` },
  });
  const { paths } = (await response.json()) as { readonly paths: object };
  return Object.keys(paths).map((path) => `/_idp/api${path.replaceAll(/\{\w+\}/g, "x")}`);
}

const control = await controlPaths();

describe("DNS rebinding: a foreign Host opens nothing, on any path", () => {
  const paths = ["/nothing", "/_idp/api/nothing", ...issuerPaths, ...inspectorPaths, ...control];
  test("the paths are those of the server", async () => {
    expect(control).toEqual(expect.arrayContaining(["/_idp/api/users/x", "/_idp/api/openapi.json"]));
    // A path that is added there has to be added above; two more are for issuers with a path, or a slash at the end.
    const source = await readFile(new URL("../../src/http/app.ts", import.meta.url), "utf8");
    expect(issuerPaths).toHaveLength(
      source.match(/\bpath: (?!string|metadataPath \+|`\$\{metadataPath\})/g)?.length ?? 0,
    );
  });
  const hosts = [
    "evil.test",
    `evil.test:${idp.port}`,
    "localhost.evil.test",
    "127.0.0.1.evil.test",
    "evillocalhost",
    "localhost@evil.test",
    "[::1].evil.test",
  ];
  test("the health response says nothing but that there is a server", async () => {
    const bytes = "GET /_idp/health HTTP/1.1\r\nHost: evil.test\r\nConnection: close\r\n\r\n";
    expect((await rawRequest(idp.port, bytes)).body).toBe('{"status":"ok"}');
  });
  test.each(paths.filter((path) => path !== "/_idp/health"))("%s", async (path) => {
    for (const host of hosts) {
      for (const method of host === "evil.test" ? ["GET", "POST", "OPTIONS", "DELETE"] : ["GET"]) {
        const bytes = `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${adminToken}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`;
        expect([method, host, (await rawRequest(idp.port, bytes)).status]).toEqual([method, host, 421]);
      }
    }
  });
});
