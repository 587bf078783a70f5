import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { newFolder } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";
import { call as askAs, startWithTokens, tokenOf } from "../helpers/control-tokens.ts";
import { tools } from "../helpers/mcp.ts";
import { paths } from "../helpers/client.ts";
import { appClient, plainApp } from "../helpers/plain-app.ts";

/** `idp mcp-server`, as the SDK's client sees it. */

type Ways = ReturnType<NonNullable<Parameters<typeof plainApp>[1]>>;
let ways: Ways = {};
afterEach(() => {
  ways = {};
});
let issuer = "";
const app = await plainApp(
  () => issuer,
  () => ways,
);
const idp = await serve({
  fixtures: { users: [{ username: "alice" }, { username: "bob" }], clients: [appClient(app.url)] },
});
({ issuer } = idp);
const cwd = newFolder(afterAll);
const at = (server: string): readonly string[] => ["--url", server, "--data", join(cwd, "none")];
const withAdmin = (words: readonly string[] = []) =>
  tools([...words, ...at(idp.issuer)], { IDP_ADMIN_TOKEN: idp.adminToken });
const agent = await withAdmin();

const every = [
  ...["start", "status", "list", "show", "add_user", "edit_user", "add_client", "edit_client", "set_status"],
  ...[
    "issue_tokens",
    "decode_token",
    "revoke",
    "requests",
    "why_refused",
    "expect",
    "fault",
    "clock",
    "sign_in",
    "check",
  ],
];
const readOnly = ["status", "list", "show", "decode_token", "requests", "why_refused", "expect"];

test("lists its tools, each with a command and hints, and says on stderr for which server they are", async () => {
  const { tools: all } = await agent.client.listTools();
  expect(all.map(({ name }) => name)).toEqual(every);
  for (const { description, inputSchema, annotations } of all) {
    expect(description).toMatch(/^[A-Z].* The command: idp [a-z]/);
    expect(inputSchema).toMatchObject({ type: "object", additionalProperties: false });
    expect(inputSchema).not.toHaveProperty("anyOf");
    expect(inputSchema).not.toHaveProperty("properties.secrets");
    expect(JSON.stringify(inputSchema)).not.toContain("$ref");
    expect(annotations).toEqual({
      readOnlyHint: expect.any(Boolean),
      destructiveHint: expect.any(Boolean),
      openWorldHint: expect.any(Boolean),
    });
  }
  const fieldsOf = (wanted: string): readonly string[] =>
    Object.keys(all.find(({ name }) => name === wanted)?.inputSchema.properties ?? {});
  for (const name of ["add_user", "edit_user"]) expect(fieldsOf(name)).toContain("password");
  for (const name of ["add_client", "edit_client"]) {
    expect(fieldsOf(name)).toContain("redirect_uris");
    for (const idle of ["software_id", "logo_uri", "request_uris"]) expect(fieldsOf(name)).not.toContain(idle);
  }
  // An agent reads all of it at each start.
  expect(JSON.stringify(all).length).toBeLessThan(50_000);
  const having = (hint: "readOnlyHint" | "openWorldHint") =>
    all.filter(({ annotations }) => annotations?.[hint] === true).map(({ name }) => name);
  expect(having("readOnlyHint")).toEqual(readOnly);
  expect(having("openWorldHint")).toEqual(["start", "sign_in", "check"]);
  expect(agent.printed.stderr).toBe(
    `idp mcp-server: ${every.length} tools for ${idp.issuer} (admin admin). Ctrl+C ends it.\n`,
  );
  expect(agent.client.getServerVersion()).toMatchObject({ name: "dev-idp" });
  expect(agent.client.getInstructions()).toContain("why_refused");
});

test("reads and changes what the commands do, on the same server", async () => {
  expect((await agent.call("status")).data).toMatchObject({ issuer: idp.issuer, users: 2 });
  expect(await agent.call("start")).toMatchObject({ data: { issuer: idp.issuer, started: false } });
  expect(await agent.call("add_user", { username: "carol", email: "carol@example.com" })).toMatchObject({
    data: { username: "carol", status: "active" },
  });
  expect(await agent.call("edit_user", { username: "carol", displayName: "Carol" })).toMatchObject({
    data: { displayName: "Carol" },
  });
  expect((await agent.call("list", { what: "users" })).data).toMatchObject({
    users: [{ username: "alice" }, { username: "bob" }, { username: "carol" }],
  });
  expect((await agent.call("show", { what: "users", name: "carol" })).data).toMatchObject({ displayName: "Carol" });
  expect((await agent.call("set_status", { username: "carol", status: "suspended" })).data).toMatchObject({
    previousStatus: "active",
    status: "suspended",
  });
  const added = await agent.call("add_client", { client_id: "spa", redirect_uris: ["http://localhost:5173/cb"] });
  expect(added.data).toMatchObject({ client_id: "spa", client_secret: expect.any(String) });
  expect((await agent.call("edit_client", { client_id: "spa", client_name: "The app" })).data).toMatchObject({
    client_name: "The app",
  });
  expect(JSON.stringify((await agent.call("show", { what: "clients", name: "spa" })).data)).not.toContain(
    String(added.data["client_secret"]),
  );
  const issued = await agent.call("issue_tokens", { user: "alice", client: "spa", scope: "openid" });
  const token = String(issued.data["id_token"]);
  expect((await agent.call("decode_token", { token })).data).toMatchObject({
    from_request: { tokens: [{ payload: { aud: "spa" } }] },
  });
  const { data } = await agent.call("list", { what: "grants", client: "spa" });
  const [grant] = data["grants"] as readonly { readonly id: string }[];
  expect((await agent.call("show", { what: "grants", name: grant?.id })).data).toMatchObject({ user: "alice" });
  expect((await agent.call("revoke", { client: "spa" })).data).toMatchObject({ revoked: [{ id: grant?.id }] });
  for (const what of ["keys", "sessions", "issuers", "snapshots"]) {
    expect((await agent.call("list", { what })).data).toHaveProperty(what);
  }
});

test("moves the clock, and makes and removes faults", async () => {
  expect((await agent.call("clock", { action: "advance", by: "31m" })).data).toMatchObject({ offset: 1860 });
  expect((await agent.call("clock")).data).toMatchObject({ offset: 1860 });
  await agent.call("clock", { action: "reset" });
  const { data } = await agent.call("fault", { endpoint: "token", status: 503 });
  expect((await agent.call("list", { what: "faults" })).data).toMatchObject({ faults: [{ id: data["id"] }] });
  expect((await agent.call("show", { what: "faults", name: data["id"] })).data).toMatchObject({ endpoint: "token" });
  await agent.call("fault", { action: "remove", id: data["id"] });
  expect((await agent.call("list", { what: "faults" })).data).toEqual({ faults: [] });
});

test("signs in at an app: a file that only this user can read, and the cookies only where they are asked for", async () => {
  const start = `${app.url}/login`;
  const { data, text } = await agent.call("sign_in", { start, user: ["bob"], signed_in: `${app.url}/me` });
  const [done] = data["signed_in"] as readonly { readonly user: string; readonly output: string }[];
  const file = done?.output ?? "";
  expect([done?.user, statSync(file).mode & 0o777, statSync(dirname(dirname(file))).mode & 0o777]).toEqual([
    "bob",
    0o600,
    0o700,
  ]);
  const held = JSON.parse(readFileSync(file, "utf8")) as {
    readonly cookies: readonly { readonly name: string; readonly value: string }[];
  };
  const sid = held.cookies.find(({ name }) => name === "sid")?.value ?? "none";
  expect(app.sessions.has(sid)).toBe(true);
  expect(text).not.toContain(sid);
  const inline = await agent.call("sign_in", { start, inline: true });
  expect(inline.data).toMatchObject({
    signed_in: [{ user: "alice", output: null, inline: { cookies: [{ name: "sid" }, { name: "theme" }] } }],
  });
});

test("says why a request was refused: rule, given, fix and command; and the tool that does the same", async () => {
  ways = { asks: { redirect_uri: `${app.url}/other` } };
  const { data, text } = await agent.refused("sign_in", { start: `${app.url}/login` });
  expect(text.split("\n")[0]).toMatch(/^Not signed in: idp refused a request of the sign-in f\w+\.$/);
  const told = {
    rule: "RFC 6749 3.1.2.3, RFC 9700 2.1",
    command: expect.stringMatching(
      new RegExp(`^(?:npx dev-idp|idp) clients edit web --add-redirect-uri ${app.url}/other --url ${idp.issuer}$`),
    ),
    needs_person: false,
    tool: {
      name: "edit_client",
      arguments: { client_id: "web", redirect_uris: [`${app.url}/callback`, `${app.url}/other`] },
    },
    from_request: { given: { redirect_uri: `${app.url}/other` }, error: expect.stringContaining("is not registered") },
  };
  expect(data).toMatchObject(told);
  expect((await agent.call("why_refused")).data).toMatchObject(told);
  const { flow } = data["request"] as { readonly flow: string };
  expect((await agent.call("why_refused", { flow })).data).toMatchObject(told);
  const { name, arguments: input } = data["tool"] as { readonly name: string; readonly arguments: object };
  await agent.call(name, { ...input });
  ways = {};
  await agent.call("sign_in", { start: `${app.url}/login` });
});

test("asks a person about a fix that lets somebody in, and about no other that mentions as much", async () => {
  const [issuer, subject, audience] = ["https://ci.example.test", "build", "app"];
  await idp.call("clients.add", {
    client_id: "ci",
    grant_types: ["client_credentials"],
    federated_credentials: [{ issuer, subject, audience }],
  });
  const whyRefused = async (client_assertion: string): Promise<unknown> => {
    const client_assertion_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    const sent = { grant_type: "client_credentials", client_id: "ci", client_assertion, client_assertion_type };
    const refused = await fetch(`${idp.issuer}${paths.token}`, { method: "POST", body: new URLSearchParams(sent) });
    expect(refused.status).toBe(401);
    return (await agent.call("why_refused")).data;
  };
  const part = (json: object): string => Buffer.from(JSON.stringify(json)).toString("base64url");
  const unknown = `${part({ alg: "RS256" })}.${part({ iss: issuer, sub: subject, aud: audience })}.AA`;
  expect(await whyRefused(unknown)).toMatchObject({
    ...{ needs_person: true, command: null },
    fix: expect.stringContaining("To let in this issuer is for a person to decide"),
  });
  expect(await whyRefused("no token")).toMatchObject({
    needs_person: false,
    fix: "send the token of the workload exactly as it was issued",
  });
  await idp.call("clients.remove", { client_id: "ci" });
});

test("lists requests and expects them, with what they said apart", async () => {
  await agent.call("sign_in", { start: `${app.url}/login` });
  const { data } = await agent.call("requests", { endpoint: "token" });
  const [first] = (data["requests"] as readonly object[]).slice(-1);
  expect(first).toEqual({
    ...{ id: expect.any(String), time: expect.any(String), flow: expect.any(String) },
    ...{ endpoint: "token", status: 200, ms: expect.any(Number), rule: null },
    from_request: expect.objectContaining({ client: "web", grant_type: "authorization_code" }),
  });
  expect((await agent.call("expect", { endpoint: "token", client: "web" })).data).toMatchObject({ met: true });
  const missed = await agent.call("expect", { endpoint: "token", client: "nobody" });
  expect(missed.data["met"]).toBe(false);
  const [nearest] = missed.data["nearest"] as readonly object[];
  expect(nearest).toMatchObject({ endpoint: "token", from_request: { differs: ["client is web, not nobody"] } });
  expect(missed.text).toMatch(/^Not met/);
});

test("refuses with the rule, what was given, and the fix", async () => {
  expect(await agent.refused("show", { what: "users", name: "alicia" })).toMatchObject({
    text: expect.stringMatching(/^no user "alicia"/),
    data: { code: "not_found", rule: 'no user "alicia"', fix: expect.stringContaining("users list") },
  });
  expect((await agent.refused("add_user", { username: "bob" })).data).toMatchObject({ code: "conflict" });
  expect((await agent.refused("add_user", { username: "x", email: 7 })).data).toMatchObject({
    given: [expect.stringContaining("email")],
  });
  expect((await agent.refused("list", { what: "clients", secrets: true })).data).toMatchObject({
    rule: 'this tool has no field "secrets"',
  });
  for (const [name, input] of [
    ["list", { what: "constructor" }],
    ["sign_in", { start: "no address" }],
    ["sign_in", { start: app.url, output: "/tmp/x" }],
    ["check", { what: "client", report: "/tmp/x.md" }],
    ["check", { what: "login" }],
    ["start", { port: "auto" }],
    ["why_refused", { last: true }],
    ["decode_token", { token: 7 }],
  ] as const) {
    expect((await agent.refused(name, input)).data, JSON.stringify(input)).toMatchObject({ code: "usage" });
  }
  await expect(agent.call("reset")).rejects.toThrow("there is no tool of this name");
});

test("an answer has at most 20,480 bytes, and says that it was cut", async () => {
  await idp.call("seed", { users: Array.from({ length: 300 }, (_, at) => ({ username: `user${at}` })) });
  const { text, data } = await agent.call("list", { what: "users" });
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(20_480);
  expect(Buffer.byteLength(JSON.stringify(data))).toBeLessThanOrEqual(20_480);
  expect(data["cut"]).toMatch(/^Cut: only the first \d+ of 30\d are given/);
  expect((data["users"] as readonly object[]).length).toBeGreaterThan(10);
  const claims = Object.fromEntries(Array.from({ length: 90 }, (_, at) => [`claim${at}`, "x".repeat(900)]));
  await idp.call("users.add", { username: "long", claims });
  const one = await agent.call("show", { what: "users", name: "long" });
  expect(Buffer.byteLength(one.text)).toBeLessThanOrEqual(20_480);
  expect(one.data["cut"]).toMatch(/^Cut: /);
});

test("--read-only has the tools that change nothing", async () => {
  const { names, call, client } = await withAdmin(["--read-only"]);
  expect(await names()).toEqual(readOnly);
  await call("status");
  await expect(client.callTool({ name: "add_user", arguments: { username: "x" } })).rejects.toThrow("no tool");
});

test("lists what the role may use, and the server refuses the rest", async () => {
  const server = await startWithTokens();
  const { issuer: url } = server.issuer.ctx;
  const as = (name: string, address = url) => tools(at(address), { IDP_ADMIN_TOKEN: tokenOf(name) });
  const reader = await as("eyes");
  expect(await reader.names()).toEqual([
    ...["start", "status", "list", "show", "decode_token", "requests", "why_refused", "expect", "clock"],
  ]);
  expect(reader.printed.stderr).toContain(`9 tools for ${url} (reader eyes).`);
  const { tools: listed } = await reader.client.listTools();
  expect(listed.find(({ name }) => name === "list")?.inputSchema.properties?.["what"]).toMatchObject({
    enum: ["users", "clients", "grants", "sessions", "issuers", "faults", "snapshots"],
  });
  expect(listed.find(({ name }) => name === "clock")?.inputSchema.properties).toEqual({
    action: { type: "string", enum: ["show"], description: "Absent: show" },
  });
  for (const [name, input] of [
    ["set_status", { username: "alice", status: "banned" }],
    ["clock", { action: "freeze" }],
    ["list", { what: "keys" }],
    ["sign_in", { start: `${app.url}/login`, user: ["alice"] }],
  ] as const) {
    expect((await reader.refused(name, input)).data).toMatchObject({ code: "forbidden" });
  }
  const tester = await as("qa");
  const ofTester = every.filter((name) => !["add_user", "edit_user", "add_client", "edit_client"].includes(name));
  expect(await tester.names()).toEqual(ofTester);
  await tester.call("issue_tokens", { user: "alice", client: "demo-app", scope: "openid" });
  expect((await tester.refused("add_user", { username: "x" })).data).toMatchObject({ code: "forbidden" });
  await askAs(server, tokenOf("qa"), "POST", "/issuers", { name: "mine" });
  expect(await (await as("qa", `${url}/i/mine`)).names()).toEqual(every);
  expect(await (await as("lead")).names()).toEqual(every);
});

test("without a server, works on the folder, and names start; start makes a server that ends with the client", async () => {
  const folder = newFolder();
  writeFileSync(join(folder, "idp.fixtures.yaml"), "users:\n  - username: dora\n");
  // The folder of this process is that of the tools.
  await idpIn(folder, ["version"]);
  const data = ["--data", join(folder, "none")];
  const { call, refused, names, end, printed } = await tools(data, { XDG_RUNTIME_DIR: folder });
  expect(await names()).toEqual(every);
  expect(printed.stderr).toContain("19 tools (no server runs yet).");
  expect((await refused("requests")).data).toMatchObject({
    code: "no_server",
    fix: expect.stringMatching(/^Call the tool start/),
  });
  expect((await refused("status")).data).toMatchObject({
    rule: expect.stringContaining("there is no data in"),
    fix: expect.stringMatching(/^Call the tool start\. Or: .*To start a server: /),
  });
  expect((await call("decode_token", { token: "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhIn0." })).text).toContain('"sub":"a"');
  const { data: started } = await call("start", { port: 0 });
  expect(started).toMatchObject({ started: true, issuer: expect.stringMatching(/^http:\/\/localhost:\d+$/) });
  expect(await call("start")).toMatchObject({ data: { started: false, issuer: started["issuer"] } });
  expect((await call("list", { what: "users" })).data).toMatchObject({ users: [{ username: "dora" }] });
  // Commands in the same folder find it too.
  const found = await idpIn(folder, ["users", "list", "--json", ...data], "", { XDG_RUNTIME_DIR: folder });
  expect(JSON.parse(found.stdout)).toMatchObject([{ username: "dora" }]);
  expect(await end()).toBe(0);
  await expect(fetch(`${String(started["issuer"])}/_idp/health`)).rejects.toThrow();
  expect(existsSync(join(folder, "none"))).toBe(false);
});

test("the folder of signed-in browsers is removed at the end", async () => {
  const { call, end } = await withAdmin();
  const { data } = await call("sign_in", { start: `${app.url}/login` });
  const [done] = data["signed_in"] as readonly { readonly output: string }[];
  expect(existsSync(done?.output ?? "")).toBe(true);
  await end();
  expect(existsSync(dirname(dirname(done?.output ?? "")))).toBe(false);
});

test("standard output carries the protocol alone: each line is JSON-RPC, and what is none is refused", async () => {
  const { client, printed, call } = await withAdmin();
  await client.ping();
  await call("status");
  await expect(client.listPrompts()).rejects.toThrow();
  for (const line of printed.stdout.trim().split("\n")) expect(JSON.parse(line)).toMatchObject({ jsonrpc: "2.0" });
  const { stdout } = await idpIn(
    cwd,
    ["mcp-server", ...at(idp.issuer)],
    'no json\n{"id":1}\n[]\n{"id":2,"method":"x"}\n',
  );
  expect(
    stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { error: { code: number } }).error.code),
  ).toEqual([-32700, -32600, -32601]);
});

test("a client that asks for progress hears that a long call is under way", async () => {
  let heard = 0;
  const params = { name: "expect", arguments: { endpoint: "token", client: "nobody", within: "3s" } };
  const onprogress = (): void => void (heard += 1);
  const answer = await agent.client.callTool(params, undefined, { onprogress, timeout: 60_000 });
  expect([answer.isError, heard > 0]).toEqual([undefined, true]);
});
