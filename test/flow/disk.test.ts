import { execFile, spawn } from "node:child_process";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { bin, environment, idp as command, newFolder } from "../helpers/cli.ts";
import { exchange, signIn, userinfo } from "../helpers/client.ts";

/** What a server and commands do when the disk is full. */

const adminToken = "the-admin-token-of-this-test";

test("a full disk: 503 for what cannot be written, reads go on, and all that was answered is there afterwards", async () => {
  const cwd = newFolder();
  // A limit on the size of a file holds for root too, and on every system. POSIX: blocks of 512 bytes.
  const limited = ["-c", 'ulimit -f 256 && exec "$@"', "sh", process.execPath, bin, "start", "--port", "auto"];
  const child = spawn("sh", [...limited, "--data", "data"], { cwd, env: environment({ IDP_ADMIN_TOKEN: adminToken }) });
  const ended = new Promise((resolve) => child.on("close", resolve));
  try {
    const issuer = await new Promise<string>((resolve, reject) => {
      let printed = "";
      child.stdout.on("data", (text: Buffer) => {
        printed += text.toString();
        const found = /idp ready (\S+) pid/.exec(printed)?.[1];
        if (found !== undefined) resolve(found);
      });
      void ended.then(() => reject(new Error(`ended early: ${printed}`)));
    });
    const server = { issuer };
    const { json: tokens } = await exchange(server, (await signIn(server)).code);
    const add = (username: string): Promise<Response> =>
      fetch(`${issuer}/_idp/api/users`, {
        method: "POST",
        headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
        body: JSON.stringify({ username, about: "x".repeat(8000) }),
      });
    const answered: string[] = [];
    let refused: Response | null = null;
    for (let index = 0; refused === null && index < 200; index += 1) {
      const answer = await add(`user-${index}`);
      if (answer.status === 201) answered.push(`user-${index}`);
      else refused = answer;
    }
    expect(answered.length).toBeGreaterThan(5);
    expect(refused?.status).toBe(503);
    expect(await refused?.json()).toMatchObject({
      error: "temporarily_unavailable",
      error_description: expect.stringMatching(/was not made.*ulimit -f/),
    });
    // Reads go on, and what was refused is not there.
    expect((await userinfo(server, tokens.access_token)).status).toBe(200);
    expect((await fetch(`${issuer}/.well-known/openid-configuration`)).status).toBe(200);
    const listed = await fetch(`${issuer}/_idp/api/users`, { headers: { authorization: `Bearer ${adminToken}` } });
    const names = ((await listed.json()) as { username: string }[]).map(({ username }) => username);
    expect(names.filter((name) => name.startsWith("user-"))).toEqual(answered);

    child.kill("SIGKILL");
    await ended;
    const { stdout } = await command(["users", "list", "--json", "--data", "data"], { cwd });
    const kept = (JSON.parse(stdout) as { username: string }[]).map(({ username }) => username);
    expect(kept.filter((name) => name.startsWith("user-"))).toEqual(answered);
  } finally {
    child.kill("SIGKILL");
    await ended;
  }
});

/** A program that may not write the key of its first ID token, and then may: a code is redeemed at both times. */
const withoutSpace = `
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { createIdp } from ${JSON.stringify(new URL("../../dist/index.js", import.meta.url).href)};
const limit = (bytes) => execFileSync("prlimit", ["--pid", String(process.pid), "--fsize=" + bytes + ":unlimited"]);
process.on("SIGXFSZ", () => undefined);
// Without passwords, nothing is written in the background.
const client = (client_id, more) => ({ client_id, redirect_uris: ["http://localhost:3000/callback"], ...more });
const clients = [client("demo-app", { client_secret: "demo-secret" }), client("demo-spa")];
const idp = await createIdp({ port: 0, data: "data", fixtures: { users: [{ username: "alice" }, { username: "bob" }], clients } });
await idp.issueGrant({ user: "alice", client: "demo-app" });
const { code } = await idp.issueCode({ user: "alice", client: "demo-app" });
const redeem = async () => {
  const body = { grant_type: "authorization_code", code, client_id: "demo-app", client_secret: "demo-secret", redirect_uri: "http://localhost:3000/callback" };
  return (await fetch(idp.issuer + "/api/v2/oauth/token", { method: "POST", body: new URLSearchParams(body) })).status;
};
// Room for the use of a code, and not for a key of 2048 bits.
const fill = () => limit(Math.max(...["data/data.json", "data/data.journal"].map((file) => statSync(file).size)) + 1000);
fill();
const statuses = [await redeem(), await redeem()];
// Room for a secret.
const outcome = (promise) => promise.then(() => "done", ({ name }) => name);
statuses.push(await outcome(idp.call("keys.rotate", { alg: "HS256" })));
limit("unlimited");
statuses.push(await redeem(), await redeem());
await idp.call("clients.edit", { client_id: "demo-spa", id_token_signed_response_alg: "PS256" });
fill();
statuses.push((await fetch(idp.issuer + "/api/v2/oauth/jwks")).status);
statuses.push(await outcome(idp.issueTokens({ user: "bob", client: "demo-spa" })));
limit("unlimited");
statuses.push((await idp.call("grants.list", { user: "bob" })).length);
console.log(JSON.stringify(statuses));
await idp.close();
`;

const run = async (program: string): Promise<{ stdout: string; stderr: string }> => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "program.mjs"), program);
  return promisify(execFile)(process.execPath, ["program.mjs"], { cwd, env: environment({}) });
};

test(
  "a full disk when the first key is needed: 503, and the code can be redeemed once there is space; a key for another client removes none, and a refusal changes nothing",
  { tags: ["prlimit"] },
  async () => {
    const { stdout, stderr } = await run(withoutSpace);
    expect(JSON.parse(stdout), stderr).toEqual([503, 503, "done", 200, 400, 200, "StorageError", 0]);
  },
);

/** A program that may write the users of its fixtures, and not their passwords. */
const withoutRoomForPasswords = `
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { createIdp } from ${JSON.stringify(new URL("../../dist/index.js", import.meta.url).href)};
const limit = (bytes) => execFileSync("prlimit", ["--pid", String(process.pid), "--fsize=" + bytes + ":unlimited"]);
process.on("SIGXFSZ", () => undefined);
const idp = await createIdp({ port: 0, data: "data" });
const size = () => statSync("data/data.journal").size;
const users = (name) => Array.from({ length: 20 }, (_, index) => ({ username: name + index, password: "secret-" + index }));
const before = size();
await idp.call("seed", { users: users("a") });
const both = size() - before;
const answers = [];
for (const [path, fixtures] of [["seed", { users: users("b"), settings: { access_token_ttl: 77 } }], ["reset", { fixtures: { users: users("c") } }]]) {
  limit(Math.floor(size() + both * 0.75));
  const headers = { authorization: "Bearer " + idp.adminToken, "content-type": "application/json" };
  const response = await fetch(idp.issuer + "/_idp/api/" + path, { method: "POST", headers, body: JSON.stringify(fixtures) });
  limit("unlimited");
  const names = (await idp.call("users.list", {})).map(({ username }) => username);
  answers.push({ status: response.status, description: (await response.json()).error_description, last: names.at(-1) });
  if (path === "seed") answers.push((await idp.issueTokens({ user: "b1", client: "demo-app" })).expires_in);
}
console.log(JSON.stringify(answers));
await idp.close();
`;

/** A program that may not write a code of a pushed request, and then may. */
const withoutSpaceForCode = `
import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { createIdp } from ${JSON.stringify(new URL("../../dist/index.js", import.meta.url).href)};
const limit = (bytes) => execFileSync("prlimit", ["--pid", String(process.pid), "--fsize=" + bytes + ":unlimited"]);
process.on("SIGXFSZ", () => undefined);
const idp = await createIdp({ port: 0, data: "data", settings: { login: "auto:alice" } });
await idp.issueGrant({ user: "alice", client: "demo-app" });
const oauth = idp.issuer + "/api/v2/oauth/";
const push = async () => {
  const body = { client_id: "demo-app", client_secret: "demo-secret", response_type: "code", scope: "openid", redirect_uri: "http://localhost:3000/callback" };
  return (await (await fetch(oauth + "par", { method: "POST", body: new URLSearchParams(body) })).json()).request_uri;
};
const authorize = async (request_uri) => {
  const query = new URLSearchParams({ client_id: "demo-app", request_uri });
  const { status, headers } = await fetch(oauth + "authorize?" + query, { redirect: "manual" });
  return [status, /[?]code=/.test(headers.get("location") ?? "")];
};
const pushed = await push();
limit(Math.max(...["data/data.json", "data/data.journal"].map((file) => statSync(file).size)));
const answers = [await authorize(pushed), await authorize(pushed)];
limit("unlimited");
answers.push(await authorize(pushed), await authorize(pushed));
console.log(JSON.stringify(answers));
await idp.close();
`;

test(
  "a full disk when a pushed request is used: 503, and it can be used once there is space, and once only",
  { tags: ["prlimit"] },
  async () => {
    const { stdout, stderr } = await run(withoutSpaceForCode);
    expect(JSON.parse(stdout), stderr).toEqual([
      [503, false],
      [503, false],
      [303, true],
      [400, false],
    ]);
  },
);

test(
  "a disk that is full between fixtures and their passwords: 503 tells what was applied, and its settings hold",
  { tags: ["prlimit"] },
  async () => {
    const cwd = newFolder();
    writeFileSync(join(cwd, "program.mjs"), withoutRoomForPasswords);
    const env = environment({});
    const { stdout, stderr } = await promisify(execFile)(process.execPath, ["program.mjs"], { cwd, env });
    const description = expect.stringMatching(
      /^the fixtures are applied, but not all of their passwords: .* again$/,
    ) as string;
    expect(JSON.parse(stdout), stderr).toEqual([
      { status: 503, description, last: "b19" },
      77,
      { status: 503, description, last: "c19" },
    ]);
  },
);

test("a command that cannot write leaves no file of its own behind", async () => {
  const cwd = newFolder();
  expect(await command(["seed"], { cwd })).toMatchObject({ code: 0 });
  const before = readdirSync(join(cwd, ".idp"));
  for (const words of ["users add e", "doctor"]) {
    const limited = `ulimit -f 0; exec "$0" "$@"`;
    const failed = promisify(execFile)("sh", ["-c", limited, process.execPath, bin, ...words.split(" ")], {
      cwd,
      env: environment({}),
    });
    await expect(failed, words).rejects.toMatchObject({ code: expect.any(Number) as number });
    expect(readdirSync(join(cwd, ".idp")), words).toEqual(before);
    expect(readdirSync(cwd)).toEqual([".idp"]);
  }
});
