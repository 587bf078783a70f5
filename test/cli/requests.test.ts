import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { createIdp, ExpectationError, type Idp } from "../../src/index.ts";
import { idp as run, launch, newFolder } from "../helpers/cli.ts";
import { idpHere } from "../helpers/command.ts";
import { exchange, paths, post, signIn, userinfo } from "../helpers/client.ts";

/** `idp requests` and `idp expect`. */

const data = join(newFolder(afterAll), ".idp");
let server: Idp;
beforeAll(async () => {
  server = await createIdp({ data, port: 0 });
  return () => server.close();
});
beforeEach(() => server.requests.clear());

const here = (...words: readonly string[]) => idpHere(["--data", data, ...words]);
const refuse = () => post(server, paths.token, { grant_type: "refresh_token", refresh_token: "none" });

/** What differs from run to run. */
const masked = (text: string): string =>
  text
    .replaceAll(/\br\d+\b/g, "rN")
    .replaceAll(/\bf\d+\b/g, "fN")
    .replaceAll(/\d\d:\d\d:\d\d/g, "hh:mm:ss")
    .replaceAll(/#[\w-]{10}/g, "#fingerprin")
    .replaceAll(/[\d.]+ ms/g, "N ms")
    .replaceAll(/\d{4}-\d\d-\d\dThh:mm:ss\.\d+Z/g, "TIME")
    .replaceAll(/ +$/gm, "");

test("list: an issuer without requests says which other issuers have some", async () => {
  await server.issuers.add("w1");
  await server.issuers.add("w2");
  const w1 = ["--issuer", "w1"];
  await refuse();
  const note = (text: string): string => `Other issuers have requests: ${text}. Name one with --issuer NAME.\n`;
  expect(await here("requests", ...w1)).toMatchObject({
    stdout: "No requests.\n",
    stderr: note("the first one has 1"),
  });
  await server.requests.clear();
  expect(await here("requests", ...w1)).toMatchObject({ stdout: "No requests.\n", stderr: "" });
  await fetch(`${server.issuer}/i/w1${paths.token}`, { method: "POST" });
  expect((await here("requests")).stderr).toBe(note("w1 has 1"));
  expect((await here("requests", "--url", `${server.issuer}/i/w2`)).stderr).toBe(note("w1 has 1"));
  expect((await here("requests", "--client", "demo-app")).stderr).toBe("");
});

test("list: a line for each request, and filters", async () => {
  expect((await here("requests")).stdout).toBe("No requests.\n");
  const { code } = await signIn(server);
  await exchange(server, code);
  await refuse();
  expect(masked((await here("requests")).stdout).replaceAll(/ {2,}/g, "  ")).toMatchInlineSnapshot(`
    "ID  TIME  FLOW  REQUEST  STATUS  WHO  WHAT
    rN  hh:mm:ss  fN  GET authorize  303  demo-app  login page
    rN  hh:mm:ss  fN  GET login  200  login page
    rN  hh:mm:ss  fN  POST login  303  alice  consent page
    rN  hh:mm:ss  fN  GET consent  200  demo-app alice  consent page
    rN  hh:mm:ss  fN  POST consent  303  demo-app alice  back to the client with a code
    rN  hh:mm:ss  fN  POST token  200  demo-app alice  authorization_code: access, refresh, id for "openid profile email"
    rN  hh:mm:ss  fN  POST token  400  demo-app  invalid_grant: refresh_token is not accepted: the value is not a token of this server
    "
  `);
  await server.faults.add({ endpoint: "userinfo", status: 503 });
  await userinfo(server, "x");
  expect((await here("requests", "--endpoint", "userinfo")).stdout).toContain(
    "fault x1: 503 temporarily_unavailable\n",
  );
  const flow = (await server.requests.list())[0]?.flow ?? "";
  const listed = async (...words: readonly string[]): Promise<readonly string[]> =>
    (
      JSON.parse((await here("requests", "list", "--json", ...words)).stdout) as { endpoint: string; status: number }[]
    ).map(({ endpoint, status }) => `${endpoint} ${status}`);
  expect(await listed("--endpoint", "token")).toEqual(["token 200", "token 400"]);
  expect(await listed("--status", "4xx", "--client", "demo-app")).toEqual(["token 400"]);
  expect(await listed("--flow", flow, "--method", "POST")).toEqual(["login 303", "consent 303", "token 200"]);
  expect(await listed("--grant-type", "authorization_code", "--user", "alice")).toEqual(["token 200"]);
  const last = (await server.requests.list()).at(-3)?.id ?? "";
  expect(await listed("--since", last)).toEqual(["token 400", "userinfo 503"]);
});

test("show: the request, the response, and why it was refused", async () => {
  await refuse();
  const [record] = await server.requests.list();
  const { stdout } = await here("requests", "show", record?.id ?? "");
  expect(masked(stdout)).toMatchInlineSnapshot(`
    "request     rN  POST /api/v2/oauth/token
    endpoint    token
    time        TIME  (N ms)
    status      400
    outcome     refused
    error       invalid_grant: refresh_token is not accepted: the value is not a token of this server
    rule        RFC 7519 7.2
    fix         send the token exactly as the token response gave it
    flow        fN
    client      demo-app
    grant_type  refresh_token

    parameters
      client_id      demo-app
      client_secret  not kept
      grant_type     refresh_token
      refresh_token  #fingerprin

    response
      error              invalid_grant
      error_description  refresh_token is not accepted: the value is not a token of this server
    "
  `);
  expect(JSON.parse((await here("requests", "show", record?.id ?? "", "--json")).stdout)).toEqual(record);
  expect(await here("requests", "show", "r0")).toMatchObject({
    code: 3,
    stderr: expect.stringContaining('no request "r0"') as unknown,
  });
});

test("clear", async () => {
  await refuse();
  expect(await here("requests", "clear")).toMatchObject({ code: 0, stdout: "The ledger is empty.\n" });
  expect(await server.requests.list()).toEqual([]);
});

test("follow prints what comes until a signal, and as JSON a line each", async () => {
  for (const json of [false, true]) {
    await server.requests.clear();
    const words = ["--data", data, "requests", "follow", "--endpoint", "token", ...(json ? ["--json"] : [])];
    const child = launch(words, { cwd: "." });
    let stdout = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    const ended = new Promise((resolve) => child.on("close", resolve));
    // It is connected once it prints something.
    while (!stdout.includes("\n")) {
      await userinfo(server, null);
      await refuse();
    }
    child.kill("SIGINT");
    expect(await ended).toBe(0);
    const [first = ""] = stdout.split("\n");
    if (json) expect(JSON.parse(first)).toMatchObject({ endpoint: "token", status: 400 });
    else expect(masked(first)).toMatch(/^rN +hh:mm:ss {2}POST token {9}400 {2}demo-app$/);
  }
});

test("follow ends with the server", async () => {
  const own = join(newFolder(), ".idp");
  const other = await createIdp({ data: own, port: 0 });
  const ended = idpHere(["--data", own, "requests", "follow", "--json"]);
  // Until it is connected, nothing waits for requests.
  await other.expect({ endpoint: "any", never: true });
  await other.close();
  expect([0, 5]).toContain((await ended).code);
});

test("expect: exit 0 if it is met, and 6 with the nearest misses, in the words of the library", async () => {
  await refuse();
  expect(await here("expect", "token", "--grant-type", "refresh_token", "--times", "1")).toEqual({
    ...{ code: 0, stderr: "" },
    stdout: "Met: exactly 1 token request with grant_type refresh_token. The ledger holds 1.\n",
  });
  const words = ["expect", "token", "--client", "demo-spa", "--param", "refresh_token=another", "--status", "400"];
  const missed = await here(...words);
  expect(missed).toMatchObject({ code: 6, stderr: "Error: the expectation is not met\n" });
  const error: unknown = await server
    .expect({ endpoint: "token", client: "demo-spa", param: { refresh_token: "another" }, status: 400 })
    .catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ExpectationError);
  expect(missed.stdout).toBe(`${(error as ExpectationError).message}\n`);
  expect(masked(missed.stdout)).toMatchInlineSnapshot(`
    "Not met: at least 1 token request with client demo-spa and status 400 and refresh_token #fingerprin. The ledger holds none.
    Nearest:
      rN  POST token  400  refresh_token  demo-app
          client is demo-app, not demo-spa
          refresh_token is #fingerprin, not #fingerprin
          invalid_grant: refresh_token is not accepted: the value is not a token of this server
          rule: RFC 7519 7.2
          fix: send the token exactly as the token response gave it
    "
  `);
  const json = await here(...words, "--json");
  expect(json.code).toBe(6);
  expect(JSON.parse(json.stdout)).toEqual({ ...(error as ExpectationError).result });
});

test.each([
  [["--never"], 6],
  [["--at-least", "2"], 6],
  [["--at-least", "1"], 0],
  [["--within", "1s"], 0],
  [["--since", "2999-01-01", "--never"], 0],
  [["--times", "x"], 2],
  [["--times", "1", "--never"], 2],
  [["--grant-type", "refresh", "--never"], 2],
  [["--grant-type", "password", "--never"], 0],
  [["--client", "demo-ap", "--never"], 0],
  [["--param", "scope"], 2],
  [["--param", "client_secret=x"], 2],
  [["--status", "many"], 2],
  [["--within", "soon"], 2],
])("expect token %j exits %i", async (words, code) => {
  await refuse();
  expect((await here("expect", "token", ...words)).code).toBe(code);
});

test.each([
  [
    "expect token --client demo-ap --never",
    'There is no client "demo-ap". Did you mean demo-app? All clients: idp clients list',
  ],
  ["expect userinfo --user alise --never", 'There is no user "alise". Did you mean alice? All users: idp users list'],
  ["requests --client demo-ap --user alice", 'There is no client "demo-ap". Did you mean demo-app?'],
])("idp %s says that there is no such name", async (words, note) => {
  const { code, stderr } = await here(...words.split(" "));
  expect(code).toBe(0);
  expect(stderr.replaceAll(/\s+/g, " ")).toContain(note);
});

test("expect: where the ledger has dropped requests, the command that clears it can be typed", async () => {
  const small = await createIdp({ data: join(newFolder(), ".idp"), port: 0, fixtures: { settings: { ledger: 1 } } });
  for (let at = 0; at < 2; at += 1) await fetch(`${small.issuer}${paths.userinfo}`);
  const env = { IDP_ADMIN_TOKEN: small.adminToken };
  const { code, stdout, stderr } = await idpHere(
    ["--url", small.issuer, "expect", "userinfo", "--times", "2"],
    "",
    env,
  );
  await small.close();
  expect(code).toBe(6);
  expect(stdout).toContain("It has dropped older requests that could match");
  expect(stdout).not.toContain("idp requests clear");
  expect(stderr).toContain(`Clear it before the test: idp requests clear --url ${small.issuer}`);
});

test("without a server they exit 5", async () => {
  const cwd = newFolder();
  for (const words of [["requests"], ["requests", "follow"], ["requests", "clear"], ["expect", "token"]]) {
    expect((await run(words, { cwd, env: { IDP_PORT: "0" } })).code).toBe(5);
  }
});
