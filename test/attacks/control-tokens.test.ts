import { describe, expect, test } from "vitest";
import { operations, type OperationName } from "../../src/core/admin/operations/routes.ts";
import type { ControlToken } from "../../src/core/records/operators/roles.ts";
import { pathNames } from "../../src/core/admin/operations/route.ts";
import { call, startWithTokens, tokenOf, tokens } from "../helpers/control-tokens.ts";

/** Control tokens: each role does what it may, and nothing else. */

/** Who may do each operation. A new operation needs a row. */
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
  "sessions.begin": "tester",
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
  const { method, path } = operations[name];
  const filled = pathNames(path).reduce((before, parameter) => before.replace(`:${parameter}`, "nobody"), path);
  return { method, path: filled, body: method === "GET" || method === "DELETE" ? undefined : { not_a_field: 1 } };
}

describe("each operation with each role", async () => {
  const server = await startWithTokens();
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
  });
});

describe("secrets are for admins", async () => {
  const server = await startWithTokens();
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

describe("a token that no longer counts", () => {
  test("opens nothing, and ends its streams before the next request is sent", async () => {
    let list: readonly ControlToken[] = tokens;
    const server = await startWithTokens(() => list);
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
    const server = await startWithTokens(() => list);
    list = tokens.map((one) => (one.name === "qa" ? { ...one, role: "reader" } : one));
    expect((await call(server, tokenOf("qa"), "POST", "/users/alice/suspend", {})).status).toBe(403);
  });
});

describe("who did what", async () => {
  const server = await startWithTokens();

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
