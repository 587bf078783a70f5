/** What each flag of `idp start` changes for those outside. */
import { connect } from "node:net";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { idp, newFolder, startIdp } from "../helpers/cli.ts";

interface Tokens {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
}

const issued = async (cwd: string, ...more: string[]): Promise<Tokens> => {
  const { stdout } = await idp(["issue", "tokens", "--user", "alice", "--client", "demo-app", "--json", ...more], {
    cwd,
  });
  return JSON.parse(stdout) as Tokens;
};

const post = (issuer: string, parameters: Readonly<Record<string, string>>): Promise<Response> =>
  fetch(`${issuer}/api/v2/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({ client_id: "demo-app", client_secret: "demo-secret", ...parameters }),
  });

const refresh = (issuer: string, token: string): Promise<Response> =>
  post(issuer, { grant_type: "refresh_token", refresh_token: token });

test("--refresh-token-ttl is the life of a refresh token, and of those that follow it", async () => {
  const cwd = newFolder();
  const { issuer } = await startIdp(["--refresh-token-ttl", "3600"], { cwd });
  const lifeOf = (token: string): number => {
    const { exp = 0, iat = 0 } = decodeJwt(token);
    return exp - iat;
  };
  const { refresh_token: first } = await issued(cwd);
  expect(lifeOf(first)).toBe(3600);
  const next = (await (await refresh(issuer, first)).json()) as Tokens;
  expect(lifeOf(next.refresh_token)).toBe(3600);
});

test("a life may have a unit", async () => {
  const cwd = newFolder();
  const lives = ["--code-ttl", "45s", "--access-token-ttl", "5m", "--refresh-token-ttl", "2d"];
  await startIdp(lives, { cwd });
  const tokens = await idp("issue tokens --user alice --client demo-app --json".split(" "), { cwd });
  expect(JSON.parse(tokens.stdout)).toMatchObject({ expires_in: 300 });
  const { exp = 0, iat = 0 } = decodeJwt((JSON.parse(tokens.stdout) as Tokens).refresh_token);
  expect(exp - iat).toBe(2 * 86_400);
  const code = await idp("issue code --user alice --client demo-app --json".split(" "), { cwd });
  expect(JSON.parse(code.stdout)).toMatchObject({ expires_in: 45 });
  expect((await idp(["wait", "--timeout", "1h"], { cwd })).code).toBe(0);
});

test("--refresh-rotation off: the same refresh token again and again", async () => {
  const cwd = newFolder();
  const { issuer } = await startIdp(["--refresh-rotation", "off"], { cwd });
  const { refresh_token: token } = await issued(cwd);
  for (let time = 1; time <= 3; time += 1) {
    const answer = await refresh(issuer, token);
    expect(answer.status).toBe(200);
    expect(((await answer.json()) as Partial<Tokens>).refresh_token ?? token).toBe(token);
  }
});

test.each([
  ["0", 400],
  ["60", 200],
])("--refresh-grace %s: a rotated refresh token is answered with %i", async (seconds, status) => {
  const cwd = newFolder();
  const { issuer } = await startIdp(["--refresh-grace", seconds], { cwd });
  const { refresh_token: token } = await issued(cwd);
  expect((await refresh(issuer, token)).status).toBe(200);
  expect((await refresh(issuer, token)).status).toBe(status);
});

test("--session-ttl is the life of a browser session", async () => {
  const cwd = newFolder();
  await startIdp(["--session-ttl", "120"], { cwd });
  const before = Date.now();
  expect((await idp(["login", "--user", "alice", "--approve"], { cwd })).code).toBe(0);
  const { stdout } = await idp(["sessions", "list", "--json"], { cwd });
  const [{ expiresAt = "" } = {}] = JSON.parse(stdout) as { expiresAt?: string }[];
  const life = (Date.parse(expiresAt) - before) / 1000;
  expect(life).toBeGreaterThan(118);
  expect(life).toBeLessThan(140);
});

const isOpen = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port }, () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });

test("--host and IDP_HOST: that address and no other", async () => {
  for (const [args, env] of [
    [["--host", "127.0.0.1"], {}],
    [[], { IDP_HOST: "127.0.0.1" }],
  ] as const) {
    const { issuer } = await startIdp(args, { cwd: newFolder(), env });
    const port = Number(new URL(issuer).port);
    expect(await isOpen("127.0.0.1", port)).toBe(true);
    expect(await isOpen("::1", port)).toBe(false);
  }
});

test("--templates: what the folder has is taken from it, the rest is built in; a folder that is not there is refused", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "error.html"), "<p>our own page</p>");
  const { issuer } = await startIdp(["--templates", "."], { cwd });
  const page = async (path: string): Promise<string> =>
    (await fetch(issuer + path, { headers: { accept: "text/html" } })).text();
  expect(await page("/api/v2/oauth/authorize?client_id=nobody")).toContain("our own page");
  expect(await page("/account")).toContain('data-page="login"');
  const refused = await idp(["start", "--port", "auto", "--templates", "none"], { cwd: newFolder() });
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("none");
});

test("issue tokens and issue code: --nonce is in the ID token", async () => {
  const cwd = newFolder();
  const { issuer } = await startIdp([], { cwd });
  expect(decodeJwt((await issued(cwd, "--nonce", "n-1")).id_token)).toMatchObject({ nonce: "n-1" });
  const words = "issue code --user alice --client demo-app --nonce n-2 --json".split(" ");
  const { code, redirect_uri } = JSON.parse((await idp(words, { cwd })).stdout) as Record<
    "code" | "redirect_uri",
    string
  >;
  const answer = await post(issuer, { grant_type: "authorization_code", code, redirect_uri });
  expect(decodeJwt(((await answer.json()) as Tokens).id_token)).toMatchObject({ nonce: "n-2" });
});
