import { chmodSync, chownSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { giveAway, ofStrangers, stranger } from "../helpers/another-user.ts";
import { newFolder } from "../helpers/cli.ts";
import { idpIn, startHere } from "../helpers/command.ts";

/**
 * On a machine with other users, somebody may leave a data folder, fixtures or a list of accepted cases where another one works. Its lock says
 * where secrets are sent, its data has keys that they know, its fixtures set variables of the app.
 */

/** A folder to work in, whose data folder has the lock of a server that keeps what it gets. */
async function planted() {
  const cwd = newFolder();
  const got: string[] = [];
  const server = createServer((req, res) => {
    got.push(String(req.url));
    res.end("[]");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  const own = await startHere([], { cwd });
  const data = join(cwd, ".idp");
  const lock = join(data, "lock.json");
  const text = readFileSync(lock, "utf8");
  await idpIn(cwd, ["issuers", "add", "staging"]);
  await own.stop();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(lock, JSON.stringify({ ...(JSON.parse(text) as object), url }), { mode: 0o600 });
  return { cwd, data, got };
}

/** Moves a file or folder elsewhere, and puts a link in its place. */
function link(path: string): void {
  const there = join(newFolder(), "there");
  renameSync(path, there);
  symlinkSync(there, path);
}

const secrets = '{"users":[{"username":"erin","password":"between us"}]}';

test("what is planted is found as long as nothing is wrong with it", async () => {
  const { cwd, got } = await planted();
  await idpIn(cwd, ["seed", "-"], secrets);
  expect(got).not.toEqual([]);
});

const spoiled: readonly (readonly [string, RegExp, (data: string) => void])[] = [
  ["a folder that everybody may write", /chmod -R o-w \.idp/, (data) => chmodSync(data, 0o777)],
  ["a lock that everybody may write", /chmod -R o-w \.idp/, (data) => chmodSync(join(data, "lock.json"), 0o666)],
  ["data that everybody may write", /chmod -R o-w \.idp/, (data) => chmodSync(join(data, "data.json"), 0o602)],
  ["a folder of issuers that everybody may write", /chmod -R/, (data) => chmodSync(join(data, "issuers"), 0o777)],
  ["an issuer that everybody may write", /chmod -R/, (data) => chmodSync(join(data, "issuers/staging"), 0o777)],
  [
    "a link to a folder that everybody may write",
    /chmod/,
    (data) => {
      chmodSync(data, 0o777);
      link(data);
    },
  ],
  ...ofStrangers<readonly [string, RegExp, (data: string) => void]>([
    ["a folder of another user", /chown -R 0 \.idp\n.*rm -r \.idp/, giveAway],
    ["a folder of this user with another's lock", /chown -R 0 \.idp/, (data) => giveAway(join(data, "lock.json"))],
    ["a folder of this user with another's data", /chown -R 0 \.idp/, (data) => giveAway(join(data, "data.json"))],
    ["another user's issuer", /chown -R 0 \.idp/, (data) => giveAway(join(data, "issuers/staging"))],
    [
      "another user's link to a folder of this user",
      /rm \.idp$/m,
      (data) => {
        link(data);
        giveAway(data);
      },
    ],
  ]),
];

test.each(spoiled)("%s: commands and the start exit 7, and print the repair", async (_what, repair, spoil) => {
  const { cwd, data, got } = await planted();
  spoil(data);
  for (const words of [["seed", "-"], ["users", "list"], ["start", "--port", "auto"], ["start", "--https"], ["stop"]]) {
    expect(await idpIn(cwd, words, secrets), words.join(" ")).toMatchObject({
      code: 7,
      stderr: expect.stringMatching(repair) as string,
    });
  }
  expect((await idpIn(cwd, ["doctor"])).code).toBe(6);
  expect(got).toEqual([]);
});

test.each(ofStrangers(["root in the folder of a user"]))("%s uses that user's data", async () => {
  const { cwd, data, got } = await planted();
  giveAway(data);
  chownSync(cwd, stranger, stranger);
  await idpIn(cwd, ["users", "list"]);
  expect(got).not.toEqual([]);
});

const byOthers: readonly (readonly [string, (file: string) => void])[] = [
  ["that everybody may write", (file) => chmodSync(file, 0o666)],
  ...ofStrangers<readonly [string, (file: string) => void]>([["of another user", (file) => giveAway(file)]]),
];

test.each(byOthers)("fixtures %s are used only where they are named", async (_whose, spoil) => {
  const cwd = newFolder();
  const file = join(cwd, "idp.fixtures.yaml");
  writeFileSync(file, "users: [{ username: mallory }]\n");
  spoil(file);
  for (const words of [
    ["seed"],
    ["start", "--port", "auto"],
    ["start", "--memory", "--port", "auto"],
    ["exec", "--", "true"],
  ]) {
    const { code, stderr } = await idpIn(cwd, words);
    expect({ words, code }).toEqual({ words, code: words[0] === "exec" ? 125 : 7 });
    expect(stderr).toMatch(/idp\.fixtures\.yaml (belongs to|can be written by)/);
  }
  expect(await idpIn(cwd, ["seed", "idp.fixtures.yaml"])).toMatchObject({ code: 0 });
});

test.each(byOthers)("accepted cases of a file %s are not accepted", async (_whose, spoil) => {
  const cwd = newFolder();
  const file = join(cwd, "idp.check.yaml");
  writeFileSync(file, "client: { accept: { pkce: it is fine } }\n");
  spoil(file);
  const start = "http://127.0.0.1:9/login";
  const { code, stderr } = await idpIn(cwd, ["check", "client", "--start", start, "--signed-in", start, "--", "true"]);
  expect({ code, stderr }).toMatchObject({ code: 7, stderr: expect.stringContaining("idp.check.yaml ") as string });
});

test("a data folder that this user made is used", async () => {
  const cwd = newFolder();
  mkdirSync(join(cwd, ".idp"), { mode: 0o770 });
  expect(await idpIn(cwd, ["seed", "-"], secrets)).toMatchObject({ code: 0 });
});
