import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { innards } from "../helpers/attack.ts";
import { ExpectationError } from "../../src/index.ts";
import { serve } from "../helpers/app.ts";
import { idp, newFolder, startIdp } from "../helpers/cli.ts";
import { freePort } from "../helpers/port.ts";

/** Names that an attacker chooses, on the terminal of the person who runs the server, and what that terminal must not show. */

const evil = "\u001b]0;t\u0007\u009b1m\u202en";
const acting = /(?!\n)\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u;
const secret = "a-client-secret-of-this-test";
const adminToken = "an-admin-token-of-this-test";
const password = "a-password-of-this-test";

const fixtures = {
  users: [{ username: "eve", displayName: evil, email: "eve@example.com", about: evil, location: evil, password }],
  clients: [
    { client_id: "evil", client_secret: secret, client_name: evil, redirect_uris: ["http://localhost:3000/callback"] },
  ],
  grants: [{ user: "eve", client: "evil", scope: "openid" }],
};

test("names do not act on a terminal, and no secret is in the output of server and commands", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "evil.json"), JSON.stringify(fixtures));
  const env = { IDP_ADMIN_TOKEN: adminToken };
  const server = await startIdp(["--memory", "--fixtures", "evil.json"], { cwd, env });
  const token = `${server.issuer}/api/v2/oauth/token`;
  const quoted = encodeURIComponent(evil);
  const post = (body: Record<string, string>): Promise<Response> =>
    fetch(token, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  await fetch(`${server.issuer}/${quoted}`);
  await fetch(`${server.issuer}/api/v2/oauth/authorize?client_id=${quoted}&redirect_uri=${quoted}`);
  await fetch(`${server.issuer}/api/v2/oauth/userinfo?access_token=the-token-in-a-query`);
  await post({ grant_type: evil, client_id: "evil", client_secret: secret });
  await post({
    grant_type: "refresh_token",
    refresh_token: "the-token-in-a-body",
    client_id: "evil",
    client_secret: secret,
  });
  await post({
    grant_type: "authorization_code",
    code: "the-code-in-a-body",
    client_id: evil,
    client_secret: "the-secret-in-a-body",
  });

  const commands = [
    ["users", "list"],
    ["users", "show", "eve", "--json"],
    ["users", "show", evil],
    ["clients", "list"],
    ["clients", "show", "evil"],
    ["token", "decode", evil],
    [`nonsense${evil}`],
  ];
  const ended = await Promise.all(commands.map((args) => idp([...args, "--url", server.issuer], { cwd, env })));
  const said = [server.output.stdout + server.output.stderr, ...ended.map(({ stdout, stderr }) => stdout + stderr)];
  for (const text of said) {
    expect(text).not.toMatch(acting);
    expect(text).not.toMatch(innards);
    for (const hidden of [secret, adminToken, password, "the-token-in-a-", "the-code-in-a-", "the-secret-in-a-"]) {
      expect(text).not.toContain(hidden);
    }
  }
  // The names were shown, so there was something to escape.
  expect(said[0]).toContain("\\u001b");
  expect(ended[0]?.stdout).toContain("eve");
});

test("the challenge of an API does not act on the terminal that shows a report of idp check api", async () => {
  const cwd = newFolder();
  const url = `http://localhost:${await freePort()}/`;
  // In a header there are no control characters below U+0080 but the tab.
  const challenge = 'Bearer error="x\\u009b2J\\u008d\\u0085", x="\\u009b31m"';
  const api = `require("node:http")
    .createServer((req, res) => res.writeHead(401, { "www-authenticate": ${JSON.stringify(challenge).replaceAll("\\\\u", "\\u")} }).end("{}"))
    .listen(${new URL(url).port}, "localhost")`;
  for (const report of ["report.xml", "report.md"]) {
    const words = ["check", "api", "--url", url, "--case", "expired", "--report", report];
    const { code, stdout, stderr } = await idp([...words, "--", process.execPath, "-e", api], { cwd });
    expect(code).toBe(6);
    const text = readFileSync(join(cwd, report), "utf8");
    expect(text).toContain("2J");
    for (const shown of [text, stdout, stderr]) expect(shown).not.toMatch(acting);
  }
});

test("a request does not act on the terminal that shows the evidence of a failed test", async () => {
  const server = await serve();
  const form = new URLSearchParams({ grant_type: evil, client_id: evil, client_secret: "x" });
  await fetch(`${server.issuer}/api/v2/oauth/token`, { method: "POST", body: form });
  const missed = await server.expect({ endpoint: "token", status: 200 }).catch((error: unknown) => error);
  expect(missed).toBeInstanceOf(ExpectationError);
  const { message } = missed as ExpectationError;
  expect(message).toContain("token");
  expect(message).not.toMatch(acting);
});
