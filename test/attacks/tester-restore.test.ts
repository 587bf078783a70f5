import { expect, test } from "vitest";
import { call, startWithTokens, tokenOf } from "../helpers/control-tokens.ts";

/** A tester who undoes the work of an admin by a restore, or the snapshot of somebody else by saving over it. */

type Server = Awaited<ReturnType<typeof startWithTokens>>;
const as = (server: Server, name: string) => (method: string, path: string, body?: unknown) =>
  call(server, tokenOf(name), method, path, body);

test("a restore by a tester leaves users, clients, scopes, secrets, keys and settings as an admin made them", async () => {
  const server = await startWithTokens();
  const [qa, lead] = [as(server, "qa"), as(server, "lead")];
  await lead("POST", "/users", { username: "gone", email: "gone@example.com" });
  await lead("POST", "/clients", {
    client_id: "app",
    client_secret: "first-secret-of-app",
    redirect_uris: ["http://localhost:9/cb"],
  });
  for (const user of ["alice", "gone"]) await qa("POST", "/grants", { user, client: "demo-app", scope: "openid" });
  await qa("POST", "/grants", { user: "alice", client: "app", scope: "openid" });
  expect((await qa("POST", "/snapshots/before")).status).toBe(201);

  await lead("DELETE", "/users/gone");
  await lead("POST", "/users", { username: "new", email: "new@example.com" });
  await lead("PATCH", "/users/bob", { displayName: "By the lead" });
  await lead("DELETE", "/clients/app");
  await lead("POST", "/clients", {
    client_id: "app",
    client_secret: "other-secret-of-app",
    redirect_uris: ["http://localhost:9/other"],
  });
  await lead("POST", "/clients/demo-app/rotate-secret");
  await lead("POST", "/keys/rotate");
  await lead("POST", "/seed", { scopes: { later: {} }, settings: { access_token_ttl: 77 } });
  const state = async (): Promise<unknown> => {
    const { users, clients, scopes, keys, meta } = (await lead("GET", "/export")).json as Record<
      string,
      { id?: string }[]
    >;
    return [users, clients, scopes, keys, meta?.filter(({ id }) => id === "settings")];
  };
  const made = await state();
  const restored = await qa("POST", "/snapshots/before/restore");
  expect(restored.status).toBe(200);
  expect(await state()).toEqual(made);
  // No consent comes back for a user who is gone, nor for another client of the same name.
  const grants = (await lead("GET", "/grants")).json as { user: string; client: string }[];
  expect(grants.map(({ user, client }) => `${user} ${client}`)).toEqual(["alice demo-app"]);

  // The restore of an admin brings back all.
  await lead("POST", "/snapshots/before/restore");
  expect((await lead("GET", "/users/gone")).status).toBe(200);
  expect((await lead("GET", "/users/bob")).text).not.toContain("By the lead");
});

test("it brings back grants, sessions, the status of users, the clock and the faults, and says which faults", async () => {
  const server = await startWithTokens();
  const qa = as(server, "qa");
  await qa("POST", "/grants", { user: "alice", client: "demo-app", scope: "openid email" });
  const { token } = (await qa("POST", "/token/issue", { user: "alice", client: "demo-app" })).json as { token: string };
  await qa("POST", "/faults", { endpoint: "token", status: 503, times: 2 });
  await qa("POST", "/clock/advance", { by: "5m" });
  await qa("POST", "/snapshots/before");
  await qa("POST", "/users/alice/suspend");
  await qa("POST", "/revoke", { user: "alice", client: "demo-app" });
  await qa("DELETE", "/faults");
  await qa("POST", "/clock/reset");
  const restored = await qa("POST", "/snapshots/before/restore");
  expect(restored.json).toMatchObject({
    name: "before",
    by: "qa",
    validAgain: { grants: 1 },
    faults: [{ endpoint: "token", status: 503, remaining: 2, by: "qa" }],
  });
  expect((await qa("GET", "/users/alice")).json).toMatchObject({ status: "active" });
  expect((await qa("POST", "/token/introspect", { token })).json).toMatchObject({ active: true });
  expect((await qa("GET", "/faults")).json).toMatchObject([{ by: "qa" }]);
  expect((await qa("GET", "/clock")).json).toMatchObject({ offset: 300 });
});

test("a fault of a client or a user that is gone stays away", async () => {
  const server = await startWithTokens();
  const [qa, lead] = [as(server, "qa"), as(server, "lead")];
  for (const filter of [{ client: "demo-spa" }, { user: "bob" }, {}])
    await qa("POST", "/faults", { endpoint: "token", status: 503, ...filter });
  await qa("POST", "/snapshots/before");
  await qa("DELETE", "/faults");
  await lead("DELETE", "/clients/demo-spa");
  await lead("DELETE", "/users/bob");
  expect((await qa("POST", "/snapshots/before/restore")).json).toMatchObject({ faults: [{ endpoint: "token" }] });
  expect((await qa("GET", "/faults")).json).toHaveLength(1);
});

test("a snapshot of somebody else is neither saved over nor removed, unless that is meant", async () => {
  const server = await startWithTokens();
  const [qa, other, lead] = [as(server, "qa"), as(server, "other"), as(server, "lead")];
  await qa("POST", "/snapshots/mine");
  for (const [who, method] of [
    [other, "POST"],
    [other, "DELETE"],
    [lead, "POST"],
    [lead, "DELETE"],
  ] as const) {
    const refused = await who(method, "/snapshots/mine");
    expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("qa's")]);
  }
  expect((await qa("GET", "/snapshots")).json).toMatchObject([
    { name: "mine", by: "qa", savedAt: expect.any(String) as string, users: 4, clients: 4, grants: 0 },
  ]);
  // Whoever saved it needs no flag.
  expect((await qa("POST", "/snapshots/mine")).status).toBe(201);
  expect((await other("POST", "/snapshots/mine", { replace: true })).json).toMatchObject({ by: "other" });
  expect((await qa("DELETE", "/snapshots/mine")).status).toBe(409);
  expect((await qa("DELETE", "/snapshots/mine?replace=true")).status).toBe(204);
});

test("a tester has 50 snapshots at a time, each of which holds all records of its time; an admin has no limit", async () => {
  const server = await startWithTokens();
  const [qa, other, lead] = [as(server, "qa"), as(server, "other"), as(server, "lead")];
  for (let at = 0; at < 50; at += 1) expect((await qa("POST", `/snapshots/s${at}`)).status).toBe(201);
  const refused = await qa("POST", "/snapshots/one-more");
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining("idp snapshots remove s0")]);
  expect((await qa("POST", "/snapshots/s7")).status).toBe(201);
  expect((await other("POST", "/snapshots/of-another")).status).toBe(201);
  for (let at = 0; at < 51; at += 1) expect((await lead("POST", `/snapshots/l${at}`)).status).toBe(201);
  await qa("DELETE", "/snapshots/s0");
  expect((await qa("POST", "/snapshots/one-more")).status).toBe(201);
});

test("in an issuer of their own a tester brings back all", async () => {
  const server = await startWithTokens();
  await as(server, "qa")("POST", "/issuers", { name: "qa" });
  const qa = (method: string, path: string, body?: unknown) =>
    call(
      { issuer: { ctx: { issuer: `${server.issuer.ctx.issuer}/i/qa` } } } as Server,
      tokenOf("qa"),
      method,
      path,
      body,
    );
  await qa("POST", "/snapshots/before");
  await qa("DELETE", "/users/alice");
  await qa("POST", "/snapshots/before/restore");
  expect((await qa("GET", "/users/alice")).status).toBe(200);
});
