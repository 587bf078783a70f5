import { stripVTControlCharacters } from "node:util";
import { Chalk } from "chalk";
import { expect, test } from "vitest";
import type { Invocation } from "../../src/cli/invocation.ts";
import { listFlaws } from "../../src/cli/commands/faults.ts";
import { fitted } from "../../src/cli/commands/status.ts";
import { cookiesText } from "../../src/cli/commands/sign-in/sign-in.ts";
import type { Held } from "../../src/client/app/visit.ts";
import { block, caseLine } from "../../src/cli/commands/check/screen.ts";
import type { Subject } from "../../src/check/frame/subject.ts";
import type { CaseResult } from "../../src/check/frame/verdict.ts";
import { showProgress } from "../../src/cli/output/progress.ts";
import { seedSummary } from "../../src/cli/output/words.ts";
import { cells, table } from "../../src/cli/output/table.ts";
import { duration, relative, utcTime } from "../../src/text/time.ts";

/** Tables, times and progress, to the letter: at most 80 cells wide, and what is to be copied is whole. */

const plain = new Chalk({ level: 0 });

test("a table cuts only columns that are not copied, and only to fit a terminal", () => {
  const rows = [
    { id: "user-one", name: "王小明 with a very long name" },
    { id: "b", name: "🦊" },
  ];
  const columns = [
    { title: "ID", value: (row: { id: string }) => row.id },
    { title: "NAME", value: (row: { name: string }) => row.name, shrinks: true as const },
  ];
  expect(table(columns, rows, plain, Infinity)).toBe(
    "ID        NAME\nuser-one  王小明 with a very long name\nb         🦊",
  );
  const narrow = table(columns, rows, plain, 24);
  expect(narrow).toBe("ID        NAME\nuser-one  王小明 with a…\nb         🦊");
  expect(Math.max(...narrow.split("\n").map(cells))).toBeLessThanOrEqual(24);
});

test("a case of a check keeps its columns, and on a terminal what does not fit goes below its name", () => {
  const did = "still lets the token in after 15s: the API verifies tokens locally, and this one has not expired";
  const one = { name: "backchannel-logout.api", verdict: "not-required", did } as CaseResult;
  expect(caseLine(one, plain, { width: Infinity, maxName: 33 })).toBe(
    `- not-required  backchannel-logout.api             ${did}`,
  );
  expect(caseLine(one, plain, { width: 80, maxName: 33 }).split("\n")).toEqual([
    "- not-required  backchannel-logout.api",
    "                still lets the token in after 15s: the API verifies tokens",
    "                locally, and this one has not expired",
  ]);
  expect(caseLine({ ...one, did: "locked out after 1.2 s" }, plain, { width: 80, maxName: 33 })).toBe(
    "- not-required  backchannel-logout.api             locked out after 1.2 s",
  );
});

test("what a case found fits the terminal, and what does not fit begins below its name", () => {
  const one = {
    name: "id-token.aud-extra",
    mustNot: "an ID token that names a second, unknown client signs a user in",
    did: "signed the user in",
    should: "refuse the ID token, and sign nobody in",
    paragraph: "OpenID Connect Core 3.1.3.7 (3)",
    fix: "compare aud with your client_id",
  } as CaseResult;
  const color = new Chalk({ level: 1 });
  expect(stripVTControlCharacters(block(one, { it: "the app" } as Subject, color, 80)).split("\n")).toEqual([
    "  ✗ id-token.aud-extra: an ID token that names a second, unknown client signs a",
    "    user in",
    "    the app   signed the user in",
    "    should    refuse the ID token, and sign nobody in (OpenID Connect Core",
    "              3.1.3.7 (3))",
    "    change    compare aud with your client_id",
  ]);
});

test("the cookies of a sign-in are counted apart only where they end at different times", () => {
  const at = "2026-11-30T21:34:02.000Z";
  const cookie = (expires: number) => ({ expires }) as Held["cookies"][number];
  const textOf = (...ends: readonly number[]) => cookiesText({ cookies: ends.map(cookie) } as unknown as Held);
  expect(textOf(Date.parse(at) / 1000)).toBe(`1 cookie, until ${at}`);
  expect(textOf(-1, -1)).toBe("2 cookies, until the browser closes");
  expect(textOf(-1, Date.parse(at) / 1000)).toBe(`2 cookies, 1 until the browser closes, 1 until ${at}`);
});

test("what does not fit in the line of idp status goes below, whole", () => {
  const parts = [
    new Chalk({ level: 1 }).green("running"),
    "http://localhost:4370",
    "4 users",
    "1 request in the ledger",
  ];
  const narrow = "running   http://localhost:4370   4 users\n          1 request in the ledger";
  expect(stripVTControlCharacters(fitted(48, parts))).toBe(narrow);
  expect(stripVTControlCharacters(fitted(Infinity, parts))).toBe(narrow.replace(/\n */, "   "));
  expect(fitted(10, ["running", "http://localhost:4370"])).toBe("running\n          http://localhost:4370");
});

test("a text in the last column takes several lines beside the others, and lines of its own where it has no room", () => {
  const rows = [{ id: "a", text: "one two three four five six seven" }];
  const columns = [
    { title: "ID", value: (row: { id: string }) => row.id.padEnd(4, "a") },
    { title: "TEXT", value: (row: { text: string }) => row.text, wraps: true as const },
  ];
  expect(table(columns, rows, plain, Infinity)).toBe("ID    TEXT\naaaa  one two three four five six seven");
  expect(table(columns, rows, plain, 32)).toBe("ID    TEXT\naaaa  one two three four five\n      six seven");
  expect(table(columns, rows, plain, 22)).toBe("ID    TEXT\naaaa\n  one two three four\n  five six seven");
});

test("the flaws on a screen of 80 cells: no line is longer, and no word is cut", async () => {
  const flaws = await listFlaws({ width: 80 } as Invocation);
  const lines = flaws.text(plain).split("\n");
  expect(Math.max(...lines.map(cells))).toBeLessThanOrEqual(80);
  expect(lines.join(" ").replaceAll(/\s+/g, " ")).toContain(
    "and not exchange the code (RFC 6749 4.1.2, 10.12, ASVS 5.0 10.2.1)",
  );
  expect(lines.join("")).not.toContain("…");
});

test.each([
  [0, "now"],
  [-59, "59 s ago"],
  [59.6, "in 60 s"],
  [-600, "10 min ago"],
  [7200, "in 2 h"],
  [-259_200, "3 days ago"],
  [-94_672_800, "3 years ago"],
])("%d s from now: %s", (seconds, text) => {
  expect(relative(seconds)).toBe(text);
});

test("impossible dates are null, and durations use the unit that fits", () => {
  expect(utcTime(1_700_000_000)).toBe("2023-11-14 22:13:20 UTC");
  expect(utcTime(1e300)).toBeNull();
  const words = [1800, 604_800, -5, 89, 3569, 3570, 5400, 9000, 93_600, 129_600, 2_592_000].map(duration);
  expect(words).toEqual([
    ...[
      "30 min",
      "7 days",
      "5 s",
      "89 s",
      "59 min",
      "1 h",
      "1 h 30 min",
      "2 h 30 min",
      "26 h",
      "1 day 12 h",
      "30 days",
    ],
  ]);
});

/** What a progress bar writes for 300 entries, one every `step` milliseconds. */
function barOf(animated: boolean, step: number, what = "Loading", columns = 80): string[] {
  let time = 0;
  const written: string[] = [];
  const stderr = { write: (text: string) => written.push(text), isTTY: true, columns };
  const progress = showProgress({ animated, now: () => time, stderr } as unknown as Invocation, what);
  for (let done = 1; done <= 300; done += 1) {
    time += step;
    progress.update(done, 300);
  }
  progress.end();
  return written;
}

test("work of more than a second shows a progress bar, which is cleared at the end", () => {
  expect(barOf(true, 3)).toEqual([]);
  expect(barOf(false, 10)).toEqual([]);
  const bar = barOf(true, 10);
  expect(bar[0]).toBe(`\r\u001b[KLoading  ${"█".repeat(10)}${"░".repeat(20)}  33 %`);
  expect(bar.at(-2)).toBe(`\r\u001b[KLoading  ${"█".repeat(30)}  99 %`);
  expect(bar.at(-1)).toBe("\r\u001b[K");
});

test("a progress bar never reaches the edge of the terminal, where it could not be cleared", () => {
  const what = "Still let in, for at most 5m: scim, backchannel-logout, revocation, silence, all";
  for (const columns of [120, 96, 80, 40]) {
    const lines = barOf(true, 10, what, columns).map((line) => line.replace("\r\u001b[K", ""));
    expect(lines.filter((line) => cells(line) >= columns)).toEqual([]);
    expect(lines[0]?.endsWith("  33 %"), lines[0]).toBe(true);
  }
  expect(barOf(true, 10, what, 120)[0]).toContain(`${what}  █`);
  expect(barOf(true, 10, what, 80)[0]).toContain(
    "Still let in, for at most 5m: scim, backchannel-logout, revocation, sile…  33 %",
  );
});

test("the result of a seed is listed by kind, with few names", () => {
  const none = { added: [], changed: [], same: 0 };
  const changed = ["a", "b", "c", "d"].map((name) => ({ name, fields: ["email", "about"] }));
  const result = {
    users: { added: ["x"], changed, same: 2 },
    clients: { ...none, same: 1 },
    scopes: none,
    grants: none,
    settings: none,
  };
  expect(seedSummary(result)).toBe(
    "users 1 added, 4 changed (a: email about, b: email about, c: email about, …), 2 same; clients 1 same",
  );
  expect(seedSummary({ ...result, users: none, clients: none })).toBe("no users, clients, scopes, grants or settings");
});

test("a list with very long names: values to copy are not cut, and the other rows keep their columns", () => {
  const long = `${"a.very.long.name.".repeat(4)}of@subsidiary.example.com`;
  const rows = [
    ["alice", "alice@example.com", "active", "Alice Adams"],
    [long, `mail.${long}`, "active", "Maximiliane-Charlotte von und zu Hohenlohe-Langenburg"],
    ["bob", `bob.${"b".repeat(60)}@example.com`, "banned", "Bob Brown"],
  ];
  const titles = ["USERNAME", "EMAIL", "STATUS", "NAME"];
  const columns = titles.map((title, index) => ({
    title,
    value: (row: readonly string[]) => row[index] ?? "",
    ...(title === "NAME" && { shrinks: true as const }),
  }));
  expect(table(columns, rows, plain, 80)).toMatchSnapshot();
  // Where a program reads it, a row is a line.
  expect(table(columns, rows, plain, Infinity).split("\n")).toHaveLength(4);
});

test("a client with several redirect URIs: one below the other, and off a terminal on its line", () => {
  const uris = [
    "http://localhost:3000/callback",
    `https://staging.example.com/${"apps/".repeat(12)}cb`,
    "com.example.app:/cb",
  ];
  const rows = [
    { id: "demo-app", uris },
    { id: "shop", uris: ["http://localhost:8080/cb"] },
  ];
  const columns = [
    { title: "CLIENT", value: ({ id }: (typeof rows)[number]) => id },
    { title: "REDIRECT URIS", value: (row: (typeof rows)[number]) => row.uris.join("\n") },
  ];
  expect(table(columns, rows, plain, 80)).toMatchSnapshot();
  expect(table(columns, rows, plain, Infinity)).toContain(uris.join(" "));
});
