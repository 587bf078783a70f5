import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Browser } from "../helpers/browser.ts";
import { idp, newFolder, startIdp } from "../helpers/cli.ts";
import { callback, paths, post, userinfo, type Parameters } from "../helpers/client.ts";
import { programThatKeeps } from "../helpers/opened.ts";
import { controlC, onTerminal } from "../helpers/terminal.ts";

/** Every secret of a whole run, searched in everything that the run showed to anybody but its owner. */

const clientSecret = "the-client-secret-of-this-run";
const password = "the-password-of-this-run";
const adminToken = "the-admin-token-of-this-run";

const fixtures = {
  users: [{ username: "eve", password }],
  clients: [{ client_id: "shop", client_secret: clientSecret, redirect_uris: [callback] }],
};

test("no secret is in the log, in --help, in a process's arguments, in an error or in what commands say with --verbose", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "shop.json"), JSON.stringify(fixtures));
  const env = { IDP_ADMIN_TOKEN: adminToken };
  const secrets = new Map([
    ["client secret", clientSecret],
    ["password", password],
    ["admin token", adminToken],
  ]);
  const shown = new Map<string, string>();
  const server = await startIdp(["--verbose", "--data", "data", "--fixtures", "shop.json"], { cwd, env });
  const own = { client_id: "shop", client_secret: clientSecret };
  const send = (path: string, body: Parameters) => post(server, path, { ...own, ...body });
  const query = (change: Record<string, string> = {}): string =>
    `${paths.authorize}?${new URLSearchParams({ response_type: "code", client_id: "shop", redirect_uri: callback, scope: "openid email", ...change }).toString()}`;

  // Right first.
  const browser = new Browser(server.issuer);
  const login = await browser.open(query());
  const consent = await browser.press(login, "login-submit", { username: "eve", password });
  const { left } = await browser.press(consent, "consent-allow");
  const code = left?.searchParams.get("code") ?? "";
  const redeem = { grant_type: "authorization_code", code, redirect_uri: callback };
  const { json: first } = await send(paths.token, redeem);
  const { json: second } = await send(paths.token, { grant_type: "refresh_token", refresh_token: first.refresh_token });
  expect((await userinfo(server, second.access_token)).status).toBe(200);
  secrets.set("code", code);
  for (const name of ["access_token", "refresh_token", "id_token"] as const) {
    secrets.set(`first ${name}`, first[name]).set(`second ${name}`, second[name]);
  }
  for (const [name, value] of browser.cookies) if (!/language|theme/.test(name)) secrets.set(`cookie ${name}`, value);
  expect([...secrets.values()].every((secret) => secret.length >= 16)).toBe(true);
  expect(secrets.size).toBe(12);

  // Then each of them at a wrong place, or at the right one with something else wrong.
  const answer = async (name: string, response: Promise<Response>): Promise<void> => {
    const got = await response;
    shown.set(name, [...got.headers].join("\n") + (await got.text()));
  };
  const json = (name: string, { json: body, headers }: Awaited<ReturnType<typeof send>>): void =>
    void shown.set(name, JSON.stringify([body, [...headers]]));
  json("the code again", await send(paths.token, redeem));
  json(
    "a dead refresh token",
    await send(paths.token, { grant_type: "refresh_token", refresh_token: first.refresh_token }),
  );
  json(
    "an access token to refresh with",
    await send(paths.token, { grant_type: "refresh_token", refresh_token: second.access_token }),
  );
  json("a dead access token", await userinfo(server, first.access_token));
  json("an ID token", await userinfo(server, second.id_token));
  json("the secret at another client", await send(paths.token, { client_id: "demo-app", ...redeem }));
  for (const [name, secret] of secrets) {
    const quoted = encodeURIComponent(secret);
    await answer(
      `${name} as a grant type`,
      fetch(server.issuer + paths.token, {
        method: "POST",
        body: new URLSearchParams({
          ...own,
          grant_type: "password",
          password: secret,
          refresh_token: secret,
          code: secret,
        }),
      }),
    );
    await answer(
      `${name} as admin token`,
      fetch(`${server.issuer}/_idp/api/users?x=1`, { headers: { authorization: `Bearer ${secret}x` } }),
    );
    await answer(`${name} in a query`, fetch(`${server.issuer}${paths.userinfo}?access_token=${quoted}`));
    await answer(
      `${name} in a broken body`,
      fetch(server.issuer + paths.token, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: `{"client_secret":"${secret}`,
      }),
    );
    await answer(
      `${name} as hint of a sign-out`,
      fetch(`${server.issuer}/api/v2/oauth/logout?id_token_hint=${quoted}x`, { headers: { accept: "text/html" } }),
    );
  }
  const wrong = new Browser(server.issuer);
  const page = await wrong.open(query());
  shown.set(
    "a wrong password",
    (await wrong.press(page, "login-submit", { username: "eve", password: `${password}x` })).body,
  );

  // What others on the machine see of the processes: arguments and title.
  if (existsSync("/proc/self/cmdline")) {
    for (const file of ["cmdline", "comm", "status"])
      shown.set(file, readFileSync(`/proc/${server.pid}/${file}`, "latin1"));
    expect(shown.get("cmdline")).toContain("--verbose");
  }
  const commands = [
    ["start", "--help"],
    ["--help"],
    ["issue", "tokens", "--help"],
    ["status", "--verbose"],
    ["doctor", "--verbose"],
    ["users", "show", "eve", "--json", "--verbose"],
    ["clients", "show", "shop", "--verbose"],
    ["grants", "list", "--verbose"],
    ["sessions", "list", "--verbose"],
    ["keys", "list", "--json", "--verbose"],
    ["token", "introspect", `${first.access_token}x`, "--verbose"],
    ["users", "show", "nobody", "--verbose", "--json"],
  ];
  const ended = await Promise.all(commands.map((args) => idp(args, { cwd, env: { ...env, IDP_DATA: "data" } })));
  for (const [index, { stdout, stderr }] of ended.entries())
    shown.set(`idp ${commands[index]?.join(" ") ?? ""}`, stdout + stderr);
  server.child.kill("SIGTERM");
  expect((await server.ended).code).toBe(0);
  shown.set("log", server.output.stdout + server.output.stderr);
  expect(shown.get("log")).toContain("invalid_grant");

  const leaks: string[] = [];
  for (const [where, text] of shown) {
    for (const [what, secret] of secrets) {
      // A whole token, and its signature alone, without which the rest is no token.
      const parts =
        secret.split(".").length === 3 ? [secret.split(".")[2] ?? secret] : [secret, encodeURIComponent(secret)];
      for (const part of parts) if (text.includes(part)) leaks.push(`${what} is shown: ${where}`);
    }
  }
  expect(leaks).toEqual([]);
});

test.each(["idp open", "the key o of idp start"])(
  "%s: what others on the machine see of the browser has neither the key nor the secret path, and only we can read its file",
  { tags: ["script"] },
  async (way) => {
    const cwd = newFolder();
    const browser = programThatKeeps(cwd);
    const isStart = way !== "idp open";
    if (!isStart) await startIdp([], { cwd });
    const terminal = onTerminal(isStart ? "start --port auto --memory" : "open", cwd, { BROWSER: browser.program });
    if (isStart) {
      await terminal.shown("Press h for the keys");
      terminal.type("o");
    }
    const { words, file, mode, text } = await browser.opened();
    expect(words).not.toMatch(/_idp|key=/);
    expect([mode, text]).toEqual([0o600, expect.stringMatching(/\/_idp\/[\w-]{22}\/\?key=[\w-]{43}/) as string]);
    // Nobody reads it: it is removed at the end.
    terminal.type(isStart ? "q" : controlC);
    await terminal.ended;
    expect(existsSync(file)).toBe(false);
  },
);
