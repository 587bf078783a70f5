import { readFileSync } from "node:fs";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { underAttack } from "../helpers/attack.ts";
import { newFolder } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";
import { scimServer } from "../helpers/scim-server.ts";

/** Secrets of a sign-in that an app or an API under test makes the program tell that calls it: on the terminal, in JSON, in a report. */

const idp = await underAttack({ fixtures: { users: [{ username: "alice" }] } });
const cwd = newFolder(afterAll);
const env = { IDP_ADMIN_TOKEN: idp.adminToken };

async function serving(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** An app that begins to sign in, and what it does with the response. @param codes gets those that it is sent */
async function appThat(callback: (code: string) => RequestListener, codes: string[]): Promise<string> {
  let url = "";
  url = await serving((req, res) => {
    const asked = new URL(req.url ?? "", url);
    const code = asked.searchParams.get("code");
    if (code !== null) {
      codes.push(code);
      callback(code)(req, res);
      return;
    }
    const query = new URLSearchParams({ response_type: "code", client_id: "app", scope: "openid", state: "s" });
    query.set("redirect_uri", `${url}/callback`);
    query.set("code_challenge", "x".repeat(43));
    query.set("code_challenge_method", "S256");
    const begins = asked.pathname === "/login";
    res.writeHead(begins ? 302 : 401, begins ? { location: `${idp.issuer}/api/v2/oauth/authorize?${query}` } : {});
    res.end();
  });
  await idp.call("clients.add", {
    ...{ client_id: "app", token_endpoint_auth_method: "none", redirect_uris: [`${url}/callback`] },
  });
  onTestFinished(async () => {
    await idp.call("clients.remove", { client_id: "app" });
  });
  return url;
}

const callbacks: readonly (readonly [string, (code: string) => RequestListener])[] = [
  [
    "closes the connection to its callback",
    () => (_req, res) => {
      res.writeHead(200, { "content-length": 10 }).write("x", () => res.destroy());
    },
  ],
  ["answers its callback without end", () => (_req, res) => res.end("x".repeat(1_100_000))],
  ["redirects from its callback to http://[", () => (_req, res) => res.writeHead(302, { location: "http://[" }).end()],
  [
    "repeats the code on the page of its error",
    (code) => (_req, res) => {
      res.writeHead(400, { "content-type": "text/html" }).end(`<p>The code ${code} is not right</p>`);
    },
  ],
  [
    "repeats the code where the page of its error is cut",
    (code) => (_req, res) => {
      res.writeHead(400, { "content-type": "text/html" }).end(`<p>${"x ".repeat(43)}${code}</p>`);
    },
  ],
];

test.each(callbacks)("no output has the code of a sign-in, where an app %s", async (_what, callback) => {
  const codes: string[] = [];
  const url = await appThat(callback, codes);
  const words = ["--start", `${url}/login`, "--signed-in", `${url}/me`, "--url", idp.issuer];
  const told: string[] = [];
  for (const flags of [["--report", "r.xml"], ["--report", "r.md"], ["--json"]]) {
    const check = ["check", "client", ...words, "--client", "app", "--case", "pkce", ...flags];
    const { code, stdout, stderr } = await idpIn(cwd, check, "", env);
    expect(code).toBe(6);
    told.push(stdout, stderr, flags[0] === "--report" ? readFileSync(join(cwd, flags[1] ?? ""), "utf8") : "");
  }
  const { code, stdout, stderr } = await idpIn(cwd, ["sign-in", ...words], "", env);
  expect(code).toBeGreaterThan(0);
  told.push(stdout, stderr);
  expect(codes.length).toBeGreaterThanOrEqual(4);
  const halves = codes.flatMap((one) => [one.slice(0, 22), one.slice(-22)]);
  expect(told.filter((text) => halves.some((half) => text.includes(half)))).toEqual([]);
});

test("the secret of the client is in no report of a check whose app writes it on the page of its error", async () => {
  let first = "";
  const url = await appThat(
    () => (_req, res) => {
      const page = `<pre>${first}{"client_secret":"hunter2-of-the-app"}</pre>`;
      res.writeHead(500, { "content-type": "text/html" }).end(page);
    },
    [],
  );
  await idp.call("clients.edit", {
    ...{ client_id: "app", client_secret: "hunter2-of-the-app", token_endpoint_auth_method: "client_secret_post" },
  });
  const words = ["--start", `${url}/login`, "--signed-in", `${url}/me`, "--url", idp.issuer, "--client", "app"];
  // What the page says is cut after 120 characters.
  for (const [check, before] of [
    ["client", ""],
    ["client", "x ".repeat(45)],
    ["leaver", ""],
  ] as const) {
    first = before;
    const named = check === "client" ? ["--case", "pkce"] : ["--signal", "silence", "--within", "1s"];
    const { stdout, stderr } = await idpIn(cwd, ["check", check, ...words, ...named, "--report", "r.xml"], "", env);
    const report = readFileSync(join(cwd, "r.xml"), "utf8");
    expect([check, report.includes("answered 500")]).toEqual([check, true]);
    expect([stdout, stderr, report].filter((text) => text.includes("hunter2"))).toEqual([]);
  }
});

test("no output has the token of a SCIM server that names the users by it whom it does not remove", async () => {
  const app = await scimServer();
  const gone = new Set<string>();
  app.hook = ({ method, path, authorization = "" }) => {
    if (method === "DELETE") gone.add(path);
    if (!gone.has(path)) return null;
    return { status: 200, body: { id: path.replace(/.*\//, ""), userName: `x ${authorization}`, active: false } };
  };
  for (const flags of [["--json"], []]) {
    const words = ["check", "scim", "--url", app.url, "--token-env", "SCIM_TOKEN", "--case", "no-token", ...flags];
    const { stdout, stderr } = await idpIn(cwd, words, "", { SCIM_TOKEN: app.token });
    const told = stdout + stderr;
    expect(told).toContain("x Bearer …");
    expect(told).not.toContain(app.token);
  }
});

test.each<readonly [string, (token: string) => RequestListener]>([
  [
    "breaks off its answer",
    () => (_req, res) => {
      res.writeHead(401, { "content-length": 10 }).write("x", () => res.destroy());
    },
  ],
  ["answers without end", () => (_req, res) => res.end("x".repeat(1_100_000))],
])("no output has the token of an address, where an API %s", async (_what, answer) => {
  const tokens: string[] = [];
  const url = await serving((req, res) => {
    const token = new URL(req.url ?? "", "http://api.test").searchParams.get("access_token");
    if (token !== null) {
      tokens.push(token);
      answer(token)(req, res);
      return;
    }
    const isGood = (req.headers.authorization ?? "").startsWith("Bearer ey");
    res.writeHead(isGood ? 200 : 401, { "www-authenticate": "Bearer" }).end("{}");
  });
  const told: string[] = [];
  for (const report of ["r.xml", "r.md"]) {
    const words = ["check", "api", "--url", `${url}/`, "--case", "token-in-query", "--report", report];
    const { stdout, stderr } = await idpIn(cwd, words, "", { IDP_URL: idp.issuer, ...env });
    told.push(stdout, stderr, readFileSync(join(cwd, report), "utf8"));
  }
  expect(tokens.length).toBeGreaterThanOrEqual(2);
  const signatures = tokens.map((token) => token.split(".")[2] ?? "").filter((one) => one !== "");
  expect(signatures.length).toBe(tokens.length);
  expect(told.filter((text) => signatures.some((one) => text.includes(one)))).toEqual([]);
});

const random = "Zk3vQ9xLm2Rt7YbN4cWfHs8DjPaE1uGoIiTqXlVw5M6";

test.each<readonly [string, string, string, object]>([
  ["an unknown key of a user", "POST", "/seed", { users: [{ username: "eve", [random]: 1 }] }],
  ["an e-mail address", "POST", "/seed", { users: [{ username: "eve", email: random }] }],
  [
    "the password in an address",
    "POST",
    "/seed",
    { clients: [{ client_id: "x", redirect_uris: ["https://user:the-password-of-somebody@app.test/cb"] }] },
  ],
  ["an unknown key of an operation", "POST", "/revoke", { user: "alice", [random]: 1 }],
  ["a time", "POST", "/clock/set", { to: random }],
  ["the name of a snapshot", "POST", `/snapshots/${random}%20`, {}],
  ["the name of a workload", "POST", `/workloads/${random}/token`, { audience: "x" }],
  ["the name of an issuer", "POST", "/issuers", { name: `${random} ` }],
])("a secret in the place of %s is in no part of the refusal", async (_where, method, path, body) => {
  const answer = await fetch(`${idp.issuer}/_idp/api${path}`, {
    method,
    headers: { authorization: `Bearer ${idp.adminToken}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  const text = await answer.text();
  expect(text).not.toMatch(/Zk3vQ9xLm2Rt|the-password-of-somebody/);
  if (path !== "/seed") return;
  const checked = await idpIn(cwd, ["seed", "--check", "-"], JSON.stringify(body));
  expect(checked.stdout + checked.stderr).not.toMatch(/Zk3vQ9xLm2Rt|the-password-of-somebody/);
});

test("a secret of letters alone, in the place of a whole form, is no name of a parameter in the ledger", async () => {
  await fetch(`${idp.issuer}/api/v2/oauth/token`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: "correcthorsebatterystaple",
  });
  expect(JSON.stringify(await idp.requests.list())).not.toContain("correcthorse");
});

test("a secret that is the name of a parameter is in no part of a refusal in the ledger", async () => {
  const url = await appThat(() => () => undefined, []);
  const query = new URLSearchParams({ response_type: "code", client_id: "app", redirect_uri: `${url}/callback` });
  for (const value of ["1", "2"]) query.append(random, value);
  await fetch(`${idp.issuer}/api/v2/oauth/authorize?${query}`, { redirect: "manual" });
  const refused = (await idp.requests.list({ parts: true })).at(-1);
  expect(refused?.error).toContain("was sent 2 times");
  expect(JSON.stringify(refused)).not.toContain(random.slice(0, 12));
});

test("a header Origin that is not an origin is not repeated", async () => {
  const asked = (origin: string) => fetch(`${idp.issuer}/_idp/api/status`, { headers: { origin } });
  expect(await (await asked("https://evil.test")).text()).toContain("https://evil.test");
  for (const origin of ["Basic correcthorse:batterystaple", `https://evil.test/${"correcthorse".repeat(1000)}`]) {
    const answer = await asked(origin);
    expect([answer.status, (await answer.text()).includes("correcthorse")]).toEqual([403, false]);
  }
});
