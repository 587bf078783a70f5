import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpIn, leaves, startHere } from "../helpers/command.ts";

/** No message sends the reader to a user, a client or a scope of the demo where the data is the reader's own. */

const demo = /\b(?:alice|bob|carol|dave|demo-(?:app|spa|service))\b/;

const fixtures = `
users: [{ username: gulsen, password: pw }, { username: kees }]
clients: [{ client_id: shop, client_secret: shop-secret, redirect_uris: ["http://localhost:3000/cb"] }]
scopes: { "orders:read": { description: { en: See orders } } }
`;

/** They serve, wait, or do their work in this process and not on the data. */
const others = [
  "",
  "start",
  "stop",
  "exec",
  "wait",
  "reset",
  "requests follow",
  "check api",
  "check client",
  "check sp",
  "init",
];

async function ownServer(): Promise<(words: string) => ReturnType<typeof idpIn>> {
  const cwd = newFolder();
  const file = join(cwd, "own.yaml");
  writeFileSync(file, fixtures);
  await startHere(["--data", "d", "--fixtures", file], { cwd });
  return (words) => idpIn(cwd, [...words.split(" "), "--data", "d", "--no-input"]);
}

test("each command without arguments, on the server of own fixtures", async () => {
  const run = await ownServer();
  for (const words of (await leaves()).filter((path) => !others.includes(path))) {
    const { stdout, stderr } = await run(words);
    expect(stdout + stderr, words).not.toMatch(demo);
  }
});

test("a command that lacks a name gives one that there is", async () => {
  const run = await ownServer();
  for (const [words, command] of [
    ["users show", "idp users show gulsen --data d"],
    ["users otp", "idp users otp gulsen --data d"],
    ["users edit", "idp users edit gulsen --display-name 'Another name' --data d"],
    ["users edit --set role=x", "idp users edit gulsen --add-claim role=x --data d"],
    ["users edit --status active", "idp users edit gulsen --display-name 'Another name' --data d"],
    ["clients show", "idp clients show shop --data d"],
    ["clients edit", "idp clients edit shop --name 'Another name' --data d"],
    ["grants show", "idp grants show GRANT_ID --data d"],
    ["revoke", "idp revoke --user gulsen --client shop --data d"],
    ["sessions end", "idp sessions end --user gulsen --data d"],
    ["token issue", "--client shop"],
    ["issue code --client shop", "--user gulsen"],
    ["login --deny", "idp login --user gulsen --deny --data d"],
  ] as const) {
    const { code, stderr } = await run(words);
    expect([code, stderr], words).toEqual([2, expect.stringMatching(/\n {2}[\w ]+: .*\n$/)]);
    expect(stderr.trimEnd().split(": ").at(-1), words).toBe(command);
  }
  const { code } = await run("issue grant --user gulsen --client shop");
  expect(code).toBe(0);
  expect((await run("grants show")).stderr).toMatch(/idp grants show [^G]\S+ --data d\n$/);
});

test("an unknown scope: those that there are, also of own fixtures", async () => {
  const run = await ownServer();
  const { stderr } = await run("issue tokens --user gulsen --client shop --scope nope");
  expect(stderr).toMatch(/ask for some of: openid profile .* orders:read\n$/);
});
