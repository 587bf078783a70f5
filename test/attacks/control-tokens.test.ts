import { describe, expect, test } from "vitest";
import { operations, type OperationName } from "../../src/core/operations/table.ts";
import type { ControlToken } from "../../src/core/operators/roles.ts";
import { pathNames, type Operation } from "../../src/core/operations/operation.ts";
import { builtInDemo } from "../../src/serve/fixture-files.ts";
import { startServer } from "../../src/serve/server.ts";
import { atEnd } from "../helpers/at-end.ts";
import { Browser } from "../helpers/browser.ts";
import { csrfOf } from "../helpers/inspector.ts";

/** Control tokens: each role does what the contract gives it (section 9), and nothing else. */

const tokens: ControlToken[] = [
  { name: "eyes", role: "reader", token: "reader-token-of-eyes" },
  { name: "qa", role: "tester", token: "tester-token-of-qa-1" },
  { name: "other", role: "tester", token: "tester-token-of-other" },
  { name: "lead", role: "admin", token: "admin-token-of-lead-1" },
];
const tokenOf = (name: string): string => tokens.find((one) => one.name === name)?.token ?? "";

async function start(list: () => readonly ControlToken[] = () => tokens) {
  const server = await startServer({ port: 0, fixtures: [builtInDemo()] }, { controlTokens: list });
  atEnd(() => server.close());
  return server;
}

type Started = Awaited<ReturnType<typeof start>>;

/** A request to the control API with a token. @returns the status and the JSON */
async function call({ issuer }: Pick<Started, "issuer">, token: string, method: string, path: string, body?: unknown) {
  const response = await fetch(`${issuer.ctx.issuer}/_idp/api${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: (text === "" ? null : JSON.parse(text)) as never, text };
}

/** Who may do each operation, as section 9 of the contract says. A new operation needs a row. */
const needed: Readonly<Record<OperationName, "reader" | "tester" | "admin">> = {
  "users.list": "reader",
  "users.show": "reader",
  "users.otp": "tester",
  "users.add": "admin",
  "users.edit": "admin",
  "users.remove": "admin",
  "users.suspend": "tester",
  "users.ban": "tester",
  "users.restore": "tester",
  "users.leave": "tester",
  "scim.push": "admin",
  "scim.status": "admin",
  "scim.test": "admin",
  "clients.list": "reader",
  "clients.show": "reader",
  "clients.add": "admin",
  "clients.edit": "admin",
  "clients.remove": "admin",
  "clients.rotate-secret": "admin",
  "grants.list": "reader",
  "grants.show": "reader",
  "grants.add": "tester",
  "grants.edit": "admin",
  "grants.revoke": "tester",
  revoke: "tester",
  "sessions.list": "reader",
  "sessions.show": "reader",
  "sessions.end": "tester",
  "sessions.remove": "tester",
  "scopes.list": "reader",
  "keys.list": "admin",
  "keys.show": "admin",
  "keys.rotate": "admin",
  "keys.remove": "admin",
  "issue.grant": "tester",
  "issue.code": "tester",
  "issue.tokens": "tester",
  "issue.saml": "tester",
  "saml.show": "admin",
  "token.issue": "tester",
  "token.verify": "reader",
  "token.introspect": "reader",
  "token.revoke": "tester",
  "workloads.list": "admin",
  "workloads.issue": "tester",
  "faults.list": "reader",
  "faults.flaws": "reader",
  "faults.add": "tester",
  "faults.remove": "tester",
  "faults.clear": "tester",
  "inspector.open": "reader",
  "requests.list": "reader",
  "requests.show": "reader",
  "requests.clear": "tester",
  expect: "reader",
  "clock.show": "reader",
  "clock.advance": "tester",
  "clock.set": "tester",
  "clock.freeze": "tester",
  "clock.reset": "tester",
  expire: "tester",
  "snapshots.list": "reader",
  "snapshots.save": "tester",
  "snapshots.restore": "tester",
  "snapshots.remove": "tester",
  "issuers.list": "reader",
  "issuers.show": "reader",
  "issuers.add": "tester",
  "issuers.remove": "tester",
  acts: "reader",
  status: "reader",
  seed: "admin",
  reset: "admin",
  export: "admin",
  diff: "admin",
  "diff.given": "admin",
  import: "admin",
  "issuer.set": "admin",
  stop: "admin",
  "fixtures.list": "admin",
  "fixtures.check": "admin",
  "fixtures.apply": "admin",
};

const ranks = ["reader", "tester", "admin"];
const names = Object.keys(operations) as OperationName[];

/** A request that an operation would refuse for its input, if the role were enough. */
function requestOf(name: OperationName): { method: string; path: string; body: unknown } {
  const { method, path } = operations[name] as unknown as Operation;
  const filled = pathNames(path).reduce((before, parameter) => before.replace(`:${parameter}`, "nobody"), path);
  return { method, path: filled, body: method === "GET" || method === "DELETE" ? undefined : { not_a_field: 1 } };
}

describe("each operation with each role", async () => {
  const server = await start();
  test.each(names.flatMap((name) => ["eyes", "qa"].map((who) => [name, who] as const)))(
    "%s by %s",
    async (name, who) => {
      const role = who === "eyes" ? "reader" : "tester";
      const { method, path, body } = requestOf(name);
      const { status, json } = await call(server, tokenOf(who), method, path, body);
      const isAllowed = ranks.indexOf(role) >= ranks.indexOf(needed[name]);
      if (isAllowed) expect(status).not.toBe(403);
      else expect([status, (json as { error: string }).error]).toEqual([403, "forbidden"]);
    },
  );

  test("the refusal names the token, its role, and the role that is needed", async () => {
    const { json } = await call(server, tokenOf("qa"), "POST", "/reset", {});
    expect(json).toMatchObject({ error: "forbidden", error_description: "'qa' is a tester: reset needs an admin" });
    const compared = await call(server, tokenOf("qa"), "POST", "/diff", {});
    expect(compared.json).toMatchObject({ error_description: "'qa' is a tester: diff needs an admin" });
  });

  test("an admin's control token does what the admin token does", async () => {
    expect((await call(server, tokenOf("lead"), "GET", "/export")).status).toBe(200);
  });

  test("the document names each operation's role, and every role may read it", async () => {
    const { status, json } = await call(server, tokenOf("eyes"), "GET", "/openapi.json");
    expect(status).toBe(200);
    const { paths } = json as { paths: Record<string, Record<string, { operationId: string; "x-role": string }>> };
    const roles = Object.values(paths).flatMap((methods) =>
      Object.values(methods).flatMap(({ operationId, "x-role": role }) => [[operationId, role]]),
    );
    const known = new Map(Object.entries(needed));
    const listed = roles.filter(([id]) => known.has(id ?? ""));
    expect(listed.length).toBe(names.length);
    for (const [id, role] of listed) expect([id, role]).toEqual([id, known.get(id ?? "")]);
    // Beside the operations: the stream of requests, and the document itself.
    const others = roles.filter(([id]) => !known.has(id ?? ""));
    expect(others.sort()).toEqual([
      ["openapi", "reader"],
      ["requests.stream", "reader"],
    ]);
  });
});

describe("secrets are for admins", async () => {
  const server = await start();
  const otp = { username: "olga", factors: ["otp"] };
  await call(server, server.adminToken, "POST", "/users", otp);

  test.each(["eyes", "qa"])("the secret of a client is not shown to %s", async (who) => {
    for (const path of ["/clients", "/clients/demo-app"]) {
      const asked = await call(server, tokenOf(who), "GET", `${path}?secrets=true`);
      expect(asked.status).toBe(403);
      expect((await call(server, tokenOf(who), "GET", path)).text).not.toContain("demo-secret");
    }
  });

  test("a tester gets a one-time code, and not what makes every later one", async () => {
    const { json } = await call(server, tokenOf("qa"), "GET", "/users/olga/otp");
    expect(Object.keys(json)).not.toContain("uri");
    expect((await call(server, tokenOf("eyes"), "GET", "/users/olga/otp")).status).toBe(403);
    expect(Object.keys((await call(server, server.adminToken, "GET", "/users/olga/otp")).json)).toContain("uri");
  });
});

describe("an issuer that a tester added", async () => {
  const server = await start();
  const qa = tokenOf("qa");
  await call(server, qa, "POST", "/issuers", { name: "mine" });
  const at = (path: string): string => `/../../i/mine/_idp/api${path}`;

  test("is its tester's: fixtures, clients, users and a reset, but no secret and no stop", async () => {
    expect((await call(server, qa, "POST", at("/users"), { username: "newbie" })).status).toBe(201);
    expect((await call(server, qa, "POST", at("/seed"), { fixtures: { users: [{ username: "more" }] } })).status).toBe(
      422,
    );
    expect((await call(server, qa, "POST", at("/seed"), { users: [{ username: "more" }] })).status).toBe(200);
    expect((await call(server, qa, "POST", at("/reset"), {})).status).toBe(200);
    expect((await call(server, qa, "GET", at("/export"))).status).toBe(403);
    expect((await call(server, qa, "GET", at("/clients?secrets=true"))).status).toBe(403);
    expect((await call(server, qa, "POST", at("/stop"), {})).status).toBe(403);
    expect((await call(server, qa, "PUT", at("/issuer"), { issuer: "http://localhost:1" })).status).toBe(403);
  });

  test("is nobody else's, and only its tester or an admin removes it", async () => {
    expect((await call(server, tokenOf("other"), "POST", at("/users"), { username: "x" })).status).toBe(403);
    expect((await call(server, tokenOf("other"), "DELETE", "/issuers/mine")).status).toBe(403);
    expect((await call(server, server.adminToken, "POST", "/issuers", { name: "theirs" })).status).toBe(201);
    expect((await call(server, qa, "DELETE", "/issuers/theirs")).status).toBe(403);
    expect((await call(server, qa, "GET", "/issuers/mine")).json).toMatchObject({ addedBy: "qa" });
  });

  test.each([
    ["a seed", "/seed", (client: object) => ({ clients: [client] })],
    ["a reset", "/reset", (client: object) => ({ fixtures: { clients: [client] } })],
    ["a new client", "/clients", (client: object) => client],
  ])("%s cannot make this server call into its own network", async (_name, path, bodyOf) => {
    for (const uri of ["http://127.0.0.1:9/x", "http://10.0.0.1/x", "http://169.254.169.254/latest"]) {
      const client = { client_id: "ssrf", redirect_uris: ["http://localhost:3000/cb"], backchannel_logout_uri: uri };
      const { status, text } = await call(server, qa, "POST", at(path), bodyOf(client));
      expect([uri, status >= 400 && status < 500]).toEqual([uri, true]);
      expect(text).toContain("cannot be used");
      for (const more of [{ scim: { url: uri } }, { global_token_revocation: { uri } }]) {
        const other = { client_id: "ssrf", redirect_uris: ["http://localhost:3000/cb"], ...more };
        expect((await call(server, qa, "POST", at(path), bodyOf(other))).status).toBeGreaterThanOrEqual(400);
      }
    }
  });

  test("its settings cannot widen where this server calls", async () => {
    const settings = { registration_loopback: true, client_metadata_documents: true, client_metadata_loopback: true };
    const client = { client_id: "ssrf", redirect_uris: ["http://localhost:3000/cb"], jwks_uri: "http://127.0.0.1:9/x" };
    await call(server, qa, "POST", at("/seed"), { settings });
    expect((await call(server, qa, "POST", at("/seed"), { clients: [client] })).status).toBe(422);
  });

  test("its fixtures make no further issuers, which would be nobody's", async () => {
    const { status } = await call(server, qa, "POST", at("/seed"), { issuers: { escaped: {} } });
    expect(status).toBe(422);
    expect((await call(server, qa, "GET", "/issuers/escaped")).status).toBe(404);
  });
});

describe("a token that no longer counts", () => {
  test("opens nothing, and ends its streams before the next request is sent", async () => {
    let list: readonly ControlToken[] = tokens;
    const server = await start(() => list);
    const stream = await fetch(`${server.issuer.ctx.issuer}/_idp/api/requests/stream`, {
      headers: { authorization: `Bearer ${tokenOf("eyes")}` },
    });
    expect(stream.status).toBe(200);
    list = tokens.filter(({ name }) => name !== "eyes");
    await fetch(`${server.issuer.ctx.issuer}/userinfo`);
    expect(await stream.text()).not.toContain("userinfo");
    expect((await call(server, tokenOf("eyes"), "GET", "/users")).status).toBe(401);
  });

  test("a role that was taken away counts at once", async () => {
    let list: readonly ControlToken[] = tokens;
    const server = await start(() => list);
    list = tokens.map((one) => (one.name === "qa" ? { ...one, role: "reader" } : one));
    expect((await call(server, tokenOf("qa"), "POST", "/users/alice/suspend", {})).status).toBe(403);
  });
});

describe("who did what", async () => {
  const server = await start();

  test("each change is kept with the token's name, its role, the command and the status; no secret, and no reading", async () => {
    await call(server, tokenOf("qa"), "POST", "/users/alice/suspend", {});
    await call(server, tokenOf("qa"), "POST", "/reset", {});
    await call(server, tokenOf("eyes"), "GET", "/users");
    await call(server, server.adminToken, "POST", "/users", { username: "pat", password: "hunter2-hunter2" });
    const { json, text } = await call(server, tokenOf("eyes"), "GET", "/acts");
    expect(json).toMatchObject([
      { by: "qa", role: "tester", command: "idp users suspend alice", status: 200 },
      { by: "qa", role: "tester", command: "idp reset", status: 403 },
      { by: "admin", role: "admin", command: "idp users add pat", status: 201 },
    ]);
    expect(text).not.toContain("hunter2");
  });
});

describe("the inspector of a tester", async () => {
  let list: readonly ControlToken[] = tokens;
  const server = await start(() => list);
  const { issuer } = server.issuer.ctx;

  /** A browser in the inspector that a token opens. */
  async function enter(token: string) {
    const { json } = await call(server, token, "POST", "/inspector/open", {});
    const { url } = json as { url: string };
    const browser = new Browser(issuer);
    await browser.open(url);
    const [place = ""] = url.split("?");
    return { browser, url, at: (path = "") => place + path };
  }

  test("shows a reader no section and nothing to unfold that is empty", async () => {
    const { browser, at } = await enter(tokenOf("eyes"));
    expect((await browser.open(at("testing"))).body).not.toContain('data-testid="inspector-expire"');
    for (const tab of ["clients", "users", "grants", "tokens", "testing"]) {
      expect((await browser.open(at(tab))).body).not.toMatch(/<\/summary>\s*<\/details>/);
    }
  });

  test("is at a path of its own, does not show what the role may not do, and refuses it", async () => {
    const { browser, at } = await enter(tokenOf("qa"));
    const admins = await enter(server.adminToken);
    expect(at()).not.toBe(admins.at());
    const testing = await browser.open(at("testing"));
    expect(testing.body).toContain('data-testid="inspector-add-fault"');
    expect(testing.body).not.toContain('data-testid="inspector-reset"');
    expect((await browser.open(at("users"))).body).not.toContain('data-testid="add-user-new"');
    expect((await browser.open(at("clients"))).body).not.toContain("Add a redirect URI");
    expect((await admins.browser.open(admins.at("testing"))).body).toContain('data-testid="inspector-reset"');
    const csrf = csrfOf(testing);
    const { origin } = new URL(issuer);
    const post = (form: Record<string, string>): RequestInit => ({
      method: "POST",
      headers: { origin },
      body: new URLSearchParams(form),
      redirect: "manual",
    });
    for (const [change, target, value] of [
      ["reset", "all", ""],
      ["add-redirect-uri", "demo-app", "https://evil.test/cb"],
      ["edit-user", "alice", ""],
      ["remove-user", "alice", ""],
    ]) {
      const form = { csrf, change: change ?? "", target: target ?? "", value: value ?? "" };
      const { status } = await browser.request(at("change"), post(form));
      expect([change, status]).toEqual([change, 403]);
    }
    expect((await call(server, server.adminToken, "GET", "/clients/demo-app")).text).not.toContain("evil.test");
    const { status } = await browser.request(at("change"), post({ csrf, change: "suspend", target: "bob", value: "" }));
    expect(status).toBe(303);
    expect((await call(server, tokenOf("eyes"), "GET", "/acts")).text).toContain(
      '"by":"qa","role":"tester","command":"idp users suspend bob"',
    );
  });

  test("a reader makes no token by any form, and no question tells a tester what only an admin may read", async () => {
    const reader = await enter(tokenOf("eyes"));
    const page = await reader.browser.open(reader.at("tokens"));
    expect(page.body).not.toContain('data-testid="token-make"');
    const headers = { origin: new URL(issuer).origin };
    const made = await reader.browser.request(reader.at("tokens"), {
      method: "POST",
      headers,
      body: new URLSearchParams({ csrf: csrfOf(page), change: "make-token", user: "alice", client: "demo-app" }),
    });
    expect([made.status, (await made.text()).includes('data-testid="made-token"')]).toEqual([403, false]);
    const { browser, at } = await enter(tokenOf("qa"));
    const csrf = csrfOf(await browser.open(at("users")));
    for (const change of ["reset", "remove-user"]) {
      for (const answer of [{}, { sure: "1" }]) {
        const body = new URLSearchParams({ csrf, change, target: "alice", ...answer });
        const refused = await browser.request(at("change"), { method: "POST", headers, body });
        expect([change, refused.status, (await refused.text()).includes("inspector-sure")]).toEqual([
          change,
          403,
          false,
        ]);
      }
    }
    expect((await call(server, server.adminToken, "GET", "/users/alice")).status).toBe(200);
  });

  test("its key opens no other role's, and its cookie neither", async () => {
    const { json } = await call(server, tokenOf("qa"), "POST", "/inspector/open", {});
    const key = new URL((json as { url: string }).url).searchParams.get("key") ?? "";
    const admins = await enter(server.adminToken);
    const browser = new Browser(issuer);
    expect((await browser.open(`${admins.at()}?key=${key}`)).status).toBe(403);
  });

  test("ends with its token", async () => {
    const { browser, at } = await enter(tokenOf("other"));
    expect((await browser.open(at("users"))).status).toBe(200);
    list = tokens.filter(({ name }) => name !== "other");
    expect((await browser.open(at("users"))).status).toBe(403);
  });
});
