/** `idp start --cert --key`, with a certificate for localhost that is here for this alone. */
import { readFileSync, writeFileSync } from "node:fs";
import { get } from "node:https";
import { join } from "node:path";
import { connect, getCiphers, type ConnectionOptions } from "node:tls";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { newFolder, startIdp } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";

const file = (name: string): string => fileURLToPath(new URL(`../helpers/tls/${name}`, import.meta.url));
const [cert, key] = [file("cert.pem"), file("key.pem")];
const secure = ["--cert", cert, "--key", key];

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

const getHttps = (url: string, headers = {}): Promise<Answer> =>
  new Promise((resolve, reject) => {
    get(url, { ca: readFileSync(cert), headers }, (res) => {
      let body = "";
      res.setEncoding("utf8").on("data", (text: string) => (body += text));
      res.on("end", () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body }));
    }).on("error", reject);
  });

test("the issuer begins with https, all endpoints too, and cookies are Secure", async () => {
  const { issuer } = await startIdp(secure, { cwd: newFolder() });
  expect(issuer).toMatch(/^https:\/\/localhost:\d+$/);
  const discovery = JSON.parse((await getHttps(`${issuer}/.well-known/openid-configuration`)).body) as object;
  expect(discovery).toMatchObject({ issuer });
  const endpoints = Object.entries(discovery).filter(([name]) => /_(endpoint|uri)$/.test(name));
  expect(endpoints.length).toBeGreaterThan(8);
  for (const [name, url] of endpoints) expect(String(url).startsWith(`${issuer}/`), name).toBe(true);
  const query = "response_type=code&client_id=demo-app&redirect_uri=http://localhost:3000/callback&scope=openid";
  const { status, headers } = await getHttps(`${issuer}/api/v2/oauth/authorize?${query}`);
  expect(status).toBe(303);
  expect(headers["set-cookie"]).toEqual([expect.stringMatching(/; Secure/)]);
});

test("the commands beside it trust its certificate: signing in, revoking, stopping", async () => {
  const cwd = newFolder();
  const { issuer, ended } = await startIdp(secure, { cwd });
  const login = await idpIn(cwd, ["login", "--user", "alice", "--approve", "--json"]);
  expect(login, login.stderr).toMatchObject({ code: 0 });
  const tokens = await idpIn(cwd, ["issue", "tokens", "--user", "alice", "--client", "demo-app", "--json"]);
  const { access_token: token } = JSON.parse(tokens.stdout) as { access_token: string };
  const userInfo = async () =>
    (await getHttps(`${issuer}/api/v2/oauth/userinfo`, { authorization: `Bearer ${token}` })).status;
  expect(await userInfo()).toBe(200);
  expect((await idpIn(cwd, ["revoke", "--user", "alice", "--client", "demo-app"])).code).toBe(0);
  expect(await userInfo()).toBe(403);
  expect((await idpIn(cwd, ["stop"])).code).toBe(0);
  expect(await ended).toEqual({ code: 0, signal: null });
});

test("under TLS 1.2 only ciphers without CBC are served, each with forward secrecy (RFC 9325 4.2)", async () => {
  const { port } = await serve({ tls: { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") } });
  const agreed = (options: ConnectionOptions): Promise<string | null> =>
    new Promise((resolve) => {
      const socket = connect({ host: "localhost", port, ca: readFileSync(cert), ...options }, () => {
        resolve(socket.getCipher().standardName);
        socket.destroy();
      }).on("error", () => resolve(null));
    });
  const offered = getCiphers().filter((name) => !/^tls_|psk|srp/.test(name));
  const taken = await Promise.all(
    offered.map((ciphers) => agreed({ ciphers: `${ciphers.toUpperCase()}:@SECLEVEL=0`, maxVersion: "TLSv1.2" })),
  );
  expect(taken.filter((name) => name !== null).sort()).toEqual([
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
  ]);
  expect(await agreed({})).toMatch(/^TLS_AES_/);
});

test("a certificate and key that do not match, or are missing, are refused with what they should be", async () => {
  const cwd = newFolder();
  const start = async (...args: string[]) => {
    const { code, stderr } = await idpIn(cwd, ["start", "--port", "auto", ...args]);
    expect(code).toBe(2);
    return stderr;
  };
  writeFileSync(join(cwd, "other.pem"), "nonsense");
  expect(await start("--cert", cert)).toContain("--cert needs --key too");
  expect(await start("--key", key)).toContain("--key needs --cert too");
  expect(await start("--cert", "none.pem", "--key", key)).toContain(
    "--cert none.pem cannot be read: there is no such file\n  Name a PEM file",
  );
  expect(await start("--cert", "other.pem", "--key", key)).toContain("cannot be used together");
});
