import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { plainCommandLine } from "../../src/core/base/hint.ts";
import { commandLineOfTest, fixOfTest } from "../../src/core/testing/ledger/advice.ts";
import { repository } from "../helpers/readme.ts";
import { join } from "node:path";

/** What a failed test says in place of a command on a server that is gone. */

test.each([
  ["idp users restore bob", "in the fixtures or the test, make the user bob active"],
  [
    "idp clients edit demo-app --add-redirect-uri http://localhost:3001/cb",
    "in the fixtures, add http://localhost:3001/cb to redirect_uris of the client demo-app",
  ],
  ["idp clients edit --scope=openid -- -x", "in the fixtures, set scope of the client -x to openid"],
  [
    "idp clients add shop --public --redirect-uri http://localhost:3000/cb",
    "in the fixtures, add the client shop, set redirect_uris to [http://localhost:3000/cb]",
  ],
  ["idp users edit sue --password-stdin", "in the fixtures, set password of the user sue"],
  ["idp users add erin --email erin@example.com", "in the fixtures, add the user erin, set email to erin@example.com"],
  ["idp users edit sue --email sue@example.com", "in the fixtures, set email of the user sue to sue@example.com"],
  ["idp clients show demo-app --show-secrets", "see the client demo-app in the fixtures"],
  ["idp start --refresh-grace 10", "in the fixtures, set refresh_grace to 10 under settings"],
  ["idp start --client-metadata-documents", "in the fixtures, set client_metadata_documents to true under settings"],
  ["idp start --allow-host a.test", "start the server with --allow-host a.test"],
  ["idp clock advance 30s", "in the test, advance the clock by 30s"],
  ["idp open f7", "idp open f7"],
])("%s", (command, advice) => {
  expect(commandLineOfTest(command.split(" "))).toBe(advice);
});

test("a fix that a server wrote with its own command: the same, and one without a command as it was", () => {
  const command = ["idp", "clients", "edit", "it's", "--set", 'grant_types=["refresh_token"]'];
  const advice = `in the fixtures, set grant_types of the client it's to ["refresh_token"]`;
  const fix = `npx dev-${plainCommandLine(command)} --url http://localhost:4370`;
  expect(fixOfTest({ text: "", command }, fix)).toBe(advice);
  expect(fixOfTest({ text: "Do this", command }, `Do this: ${fix}`)).toBe(`Do this: ${advice}`);
  const sentence = "send the token exactly as the token response gave it";
  expect(fixOfTest({ text: sentence }, sentence)).toBe(sentence);
});

test("no fix of a refusal names a command for a server that is gone", () => {
  const table = readFileSync(join(repository, "test/http/refusals/table.txt"), "utf8");
  const fixes = [...table.matchAll(/^ +next: (.*)$/gm)].map(([, fix = ""]) => fix);
  expect(fixes.length).toBeGreaterThan(100);
  const commands = fixes.flatMap((fix) => /(?:^|: )((?:idp|curl) .*)$/.exec(fix)?.[1] ?? []);
  expect(commands.length).toBeGreaterThan(30);
  const advice = commands.map((command) => commandLineOfTest(command.split(" ")));
  expect(advice.filter((line) => /^(?:idp|curl) /.test(line))).toEqual([]);
});
