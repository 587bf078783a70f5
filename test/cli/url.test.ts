/** `--url` and the admin token: a server that is reached from anywhere. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { idp, newFolder } from "../helpers/cli.ts";
import { idpHere, idpIn, startHere } from "../helpers/command.ts";

test("--url reaches a server from anywhere, with its admin token and no other", async () => {
  const cwd = newFolder();
  const { issuer } = await startHere([], { cwd });
  const elsewhere = newFolder();
  const token = ["--admin-token-file", join(cwd, ".idp", "lock.json")];
  const good = await idpIn(elsewhere, ["users", "list", "--json", "--url", issuer, ...token]);
  expect(good.code, good.stderr).toBe(0);
  expect(JSON.parse(good.stdout)).toHaveLength(4);
  const wrong = await idpIn(elsewhere, ["keys", "rotate", "--alg", "RS1", "--url", issuer, ...token]);
  expect(wrong.code).toBe(2);
  expect(wrong.stderr.match(/--alg/g), wrong.stderr).toHaveLength(1);
  const without = await idpIn(elsewhere, ["users", "add", "eve", "--url", issuer]);
  expect(without).toEqual({
    code: 2,
    stdout: "",
    stderr: `Error: the server at ${issuer} needs its admin token\n  Give it with IDP_ADMIN_TOKEN or --admin-token-file FILE; lock.json in its data folder works too. For a server in memory, run this in the folder where it was started, or start it with IDP_ADMIN_TOKEN.\n`,
  });
  const env = { IDP_URL: issuer, IDP_ADMIN_TOKEN: "not-the-token-of-it" };
  const bad = await idp(["users", "list", "--json"], { cwd: elsewhere, env });
  expect(bad).toMatchObject({ code: 2, stdout: "" });
  expect(JSON.parse(bad.stderr)).toMatchObject({ error: { message: expect.stringContaining("not the admin token") } });
});

test("a name that no path can carry is as unknown to a running server as in the folder", async () => {
  const cwd = newFolder();
  expect((await idpIn(cwd, ["seed"])).code).toBe(0);
  const commands = [
    ["users", "show", ""],
    ["users", "suspend", "."],
    ["clients", "rotate-secret", "..", "--yes"],
    ["keys", "remove", "", "--yes"],
    ["snapshots", "restore", ""],
  ];
  const said = async () => {
    const all = [];
    for (const words of commands) all.push(await idpIn(cwd, words));
    return all;
  };
  const inFolder = await said();
  expect(inFolder.map(({ code }) => code)).toEqual(commands.map(() => 3));
  await startHere([], { cwd });
  expect(await said()).toEqual(inFolder);
  const workload = await idpIn(cwd, ["token", "issue", "--workload", ""]);
  expect([workload.code, workload.stderr]).toEqual([3, expect.stringContaining("Name one of the fixtures")]);
  expect(await idpIn(cwd, ["snapshots", "save", ""])).toMatchObject({ code: 2, stderr: expect.stringContaining('""') });
});

test("--url of an issuer that does not exist: the command that lists those of the server", async () => {
  const cwd = newFolder();
  const { issuer } = await startHere([], { cwd });
  for (const name of ["nope", "a%20b"]) {
    const { code, stderr } = await idpIn(cwd, ["users", "list", "--url", `${issuer}/i/${name}`]);
    expect([code, stderr]).toEqual([3, expect.stringMatching(/^Error: there is no issuer '/)]);
    expect(stderr).toContain(`\n  To list the issuers: idp issuers list --url ${issuer}\n`);
  }
});

test("IDP_ADMIN_TOKEN may end in a line break, as secrets of CI do; a character that cannot be sent is refused", async () => {
  const secret = "an-admin-token-of-mine";
  const { issuer } = await startHere([], { cwd: newFolder(), env: { IDP_ADMIN_TOKEN: `${secret}\n` } });
  const list = (token: string) => idpHere(["users", "list", "--url", issuer], "", { IDP_ADMIN_TOKEN: token });
  for (const token of [secret, `${secret}\n`, `${secret}\r\n`]) expect(await list(token)).toMatchObject({ code: 0 });
  for (const token of [`${secret}\n${secret}`, "şifre-of-the-server"]) {
    expect(await list(token)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("IDP_ADMIN_TOKEN has a character that an Authorization header cannot carry"),
    });
  }
  const empty = join(newFolder(), "token");
  writeFileSync(empty, "\n");
  expect(await idpHere(["users", "list", "--url", issuer, "--admin-token-file", empty])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`--admin-token-file ${empty} holds no token`),
  });
});

test("--url: a refusal in a form other than idp's own is reported as far as it can be read", async () => {
  const refusal = {
    error: "refused",
    error_description: "not today",
    problems: [null, "x", { path: "a", message: "b" }],
  };
  const server = createServer((_req, res) => res.writeHead(422).end(JSON.stringify(refusal))).listen(0);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const url = `http://localhost:${(server.address() as AddressInfo).port}`;
  const env = { IDP_ADMIN_TOKEN: "a-token-of-this-test" };
  const answer = await idp(["users", "list", "--url", url], { cwd: newFolder(), env });
  expect(answer).toEqual({ code: 6, stdout: "", stderr: "a b\nError: not today\n" });
});

test("a server that cannot reach its database is not ready: exit 5, as where the command opens the database itself", async () => {
  const away = { error: "temporarily_unavailable", error_description: "the database does not answer" };
  const server = createServer((_req, res) => res.writeHead(503).end(JSON.stringify(away))).listen(0);
  onTestFinished(() => void server.close());
  await once(server, "listening");
  const url = `http://localhost:${(server.address() as AddressInfo).port}`;
  expect(
    await idpHere(["users", "list", "--url", url], "", { IDP_ADMIN_TOKEN: "an-admin-token-of-mine" }),
  ).toMatchObject({
    code: 5,
    stderr: expect.stringContaining("the database does not answer"),
  });
});

test("if a server runs on the default port but not on this data, the hint says how to reach it", async () => {
  const admin = { IDP_ADMIN_TOKEN: "an-admin-token-of-mine" };
  const { issuer } = await startHere(["--memory"], { cwd: newFolder(), env: admin });
  const [cwd, env] = [newFolder(), { ...admin, IDP_PORT: new URL(issuer).port }];
  for (const [words, code] of [
    ["users list", 3],
    ["status", 5],
    ["stop", 5],
    ["open", 5],
    ["login --no-browser", 5],
  ] as const) {
    const here = await idpIn(cwd, words.split(" "), "", env);
    expect(here.code, words).toBe(code);
    expect(here.stderr, words).not.toContain("To start a server");
    expect(here.stderr, words).toContain(`In memory: --url ${issuer}`);
  }
  expect(await idpIn(cwd, ["users", "list", "--url", issuer], "", env)).toMatchObject({ code: 0 });
  expect(await idpIn(cwd, ["stop", "--url", issuer], "", env)).toMatchObject({ code: 0 });
  expect(await idpIn(cwd, ["users", "list"], "", env)).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("To start a server: idp start"),
  });
});
