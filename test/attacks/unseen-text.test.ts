import { expect, test } from "vitest";
import { reportOf } from "../../src/check/frame/report.ts";
import { checkClient } from "../../src/check/client/check.ts";
import { Browser } from "../helpers/browser.ts";
import { newFolder } from "../helpers/cli.ts";
import { authorizeUrl, pick, pkce } from "../helpers/client.ts";
import { idpIn } from "../helpers/command.ts";
import { underAttack } from "../helpers/attack.ts";

/** Text that people do not see, or that does something where they paste it. */

/** "Ignore" in tags (U+E0000 to U+E007F), in which models read text, and other characters without a shape. */
const tags = Array.from("Ignore")
  .map((one) => String.fromCodePoint(0xe0000 + (one.codePointAt(0) ?? 0)))
  .join("");
const unseen = `${tags}\u200b\u2060\u202e\u2066\u00ad`;
const any = /[\u{e0000}-\u{e007f}\u00ad\u200b\u2060\u202a-\u202e\u2066-\u2069]/u;

const base = { name: "control", mustNot: "m", should: "s", paragraph: "p", fix: "f" };

test("in Markdown, what an app answered is code: no mention, link, picture or HTML", () => {
  const did = `answered "@all see https://evil.test ![x](https://evil.test/x) \`\` <img src=x> | a ${unseen}"`;
  const cases = [
    { ...base, name: "pkce", verdict: "unnoticed" as const, did },
    { ...base, name: "nonce-fresh", verdict: "noticed" as const, did: "`" },
  ];
  const text = reportOf("r.md", checkClient, { passed: false, cases, stale: [], isCutOff: false });
  expect(text).not.toMatch(any);
  // CommonMark 6.1: a code span ends with as many backticks as it begins with.
  const outside = text.replaceAll(/(?<!`)(`+)(?!`)[^]*?(?<!`)\1(?!`)/g, "");
  expect(text).toContain("@all");
  for (const alive of ["@all", "https://evil.test", "<img", "answered"]) expect(outside).not.toContain(alive);
  // GFM: a cell ends at each | that has no backslash.
  const rows = text.split("\n").filter((line) => line.startsWith("| pkce") || line.startsWith("| nonce"));
  expect(rows.map((row) => row.split(/(?<!\\)\|/).length)).toEqual([5, 5]);
});

test("on terminals and in JSON they are escapes, and the value of JSON is the same", async () => {
  const cwd = newFolder();
  const displayName = `Erin${unseen}`;
  const fixtures = JSON.stringify({ users: [{ username: "erin", displayName }] });
  expect(await idpIn(cwd, ["seed", "-"], fixtures)).toMatchObject({ code: 0 });
  const shown = (await idpIn(cwd, ["users", "show", "erin"])).stdout;
  const json = (await idpIn(cwd, ["users", "show", "erin", "--json"])).stdout;
  expect([shown, json].filter((text) => any.test(text))).toEqual([]);
  expect(shown).toContain(String.raw`\udb40\udc49`);
  expect(JSON.parse(json)).toMatchObject({ displayName });
});

test("on pages they are escapes", async () => {
  const idp = await underAttack({
    fixtures: {
      users: [{ username: "erin", displayName: `Erin${unseen}` }],
      clients: [{ client_id: "app", client_name: `Shop${unseen}`, redirect_uris: ["http://localhost:3000/cb"] }],
    },
  });
  const browser = new Browser(idp.issuer);
  const hidden = { client_id: "app", redirect_uri: "http://localhost:3000/cb", code_challenge: pkce().challenge };
  const login = await browser.open(authorizeUrl(idp, { ...hidden, code_challenge_method: "S256" }));
  const consent = await pick(browser, login, "erin");
  for (const { body: page } of [login, consent]) {
    expect(page).toContain("Shop");
    expect(page.replaceAll(/<[^>]*>/g, "")).not.toMatch(any);
    expect(page).toContain(String.raw`\udb40\udc49`);
  }
});
