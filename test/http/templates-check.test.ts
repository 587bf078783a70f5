import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createIdp } from "../../src/index.ts";
import { serve } from "../helpers/app.ts";
import { templatesFolder } from "../helpers/templates-folder.ts";

/** A folder of templates is checked at the start, so that no page fails later. */

const start = (templates: string) => createIdp({ templates, port: 0 });

describe("a mistake is refused, with file, line and column", () => {
  test.each([
    ["locales/tr.json", '{\n  "login.title": "Giriş"\n  "x": "y"\n}', /locales\/tr\.json:3:3 is not JSON/],
    ["locales/en.json", "{", /locales\/en\.json:1:2 is not JSON: a \} is missing/],
    ["locales/en.json", '{\n "a": "b"\n', /en\.json:3:1 is not JSON: a \} is missing/],
    ["locales/en.json", '{\n "a": "b",\n}', /en\.json:3:1 is not JSON: .*; remove a comma before \}/],
    ["locales/en.json", '{ "a": "b" "c": "d" }', /en\.json:1:12 is not JSON: a comma or a closing bracket is expected/],
    ["locales/en.json", "{ 'a': 'b' }", /en\.json:1:3 is not JSON: .* write text in double quotes/],
    ["locales/en.json", '{ "a" "b" }', /en\.json:1:7 is not JSON: a colon is expected/],
    ["locales/en.json", '{ "a": yes }', /en\.json:1:8 is not JSON: .* write text in double quotes/],
    [
      "locales/en.json",
      '{ "a": "b\n" }',
      /en\.json:1:8 is not JSON: a text does not end: its closing quote is missing/,
    ],
    ["locales/en.json", '{ // x\n "a": "b" }', /en\.json:1:3 is not JSON: JSON has no comments/],
    ["locales/en.json", '{ "a": "b" } x', /en\.json:1:14 is not JSON/],
    ["locales/en.json", "", /en\.json:1:1 is not JSON: it is empty/],
    ["locales/en.json", Buffer.from('{\n "a": "G\xfcl" }', "latin1"), /en\.json:2:9 is not UTF-8/],
    ["login.eta", Buffer.from("<p>\nG\xfcl", "latin1"), /login\.eta:2:2 is not UTF-8/],
    ["style.css", Buffer.from("/* \xfc */", "latin1"), /style\.css:1:4 is not UTF-8/],
    ["locales/en.json", "[]", /locales\/en\.json:1:1 must be an object of texts/],
    ["locales/en.json", '{\n  "login.title": 5\n}', /locales\/en\.json:2:3 "login.title" must be a text/],
    ["login.eta", "<h1>\n<% if (it.x { %>a<% } %>\n</h1>", /login\.eta:2:1 the JavaScript in the tags is not valid: /],
    ["partials/avatar.eta", "<p>\n\n  <%= it.a", /partials\/avatar\.eta:3:3 unclosed tag: %> is missing/],
  ])("%s %j", async (name, text, message) => {
    const failed = start(templatesFolder({ [name]: text }));
    await expect(failed).rejects.toMatchObject({ code: "invalid", message: expect.stringMatching(message) as string });
  });

  test("the next step compares the file with the built-in one; a file that cannot be read has none", async () => {
    const folder = templatesFolder({ "login.eta": "<% if ( %>" });
    const compared = [expect.stringMatching(/templates\/login\.eta$/) as string, join(folder, "login.eta")];
    await expect(start(folder)).rejects.toMatchObject({ hint: { command: ["diff", ...compared] } });
    const french = templatesFolder({ "locales/fr.json": "{" });
    const english = expect.stringMatching(/templates\/locales\/en\.json$/) as string;
    await expect(start(french)).rejects.toMatchObject({
      hint: { command: ["diff", english, join(french, "locales/fr.json")] },
    });
    for (const make of [mkdirSync, (path: string) => symlinkSync("nowhere", path)]) {
      const unreadable = templatesFolder({});
      make(join(unreadable, "login.eta"));
      await expect(start(unreadable)).rejects.toMatchObject({
        code: "invalid",
        message: expect.stringMatching(/login\.eta cannot be read: it is a (folder|link to a file that)/) as string,
        hint: { text: "Fix that, or remove it: then the built-in file is used." },
      });
    }
  });

  test("every mistake at once", async () => {
    const folder = templatesFolder({ "locales/en.json": "{", "login.eta": "<% if ( %>", "home.eta": "fine" });
    await expect(start(folder)).rejects.toThrow(/login\.eta:1:1 .*\n.*locales\/en\.json:1:2 /);
  });
});

test("unknown files and texts are told at the start, with what may be meant", async () => {
  const notes: string[] = [];
  const templates = templatesFolder({
    "logn.eta": "x",
    "locales/en.json": '{"login.titel":"x","scope.orders":"Orders","field.team":"Team","login.title":"Hello"}',
  });
  await serve({ templates, log: (line) => notes.push(line) });
  expect(notes).toEqual([
    expect.stringMatching(/logn\.eta replaces nothing\. Did you mean login\.eta\?$/),
    expect.stringMatching(/locales\/en\.json "login\.titel" is no text of a page\. Did you mean login\.title\?$/),
  ]);
});

test("a byte order mark is no mistake, and not part of a page", async () => {
  const idp = await serve({
    templates: templatesFolder({ "locales/en.json": '\ufeff{"login.title":"Hello"}', "home.eta": "\ufeff<p>one</p>" }),
  });
  const page = await (await fetch(idp.issuer, { headers: { accept: "text/html" } })).text();
  expect([page.includes("one"), page.includes("\ufeff")]).toEqual([true, false]);
});

test("tags of another engine, and values that a text does not have, are told at the start", async () => {
  const notes: string[] = [];
  const templates = templatesFolder({
    "home.eta": "<p>\n{{ name }}</p>",
    "login.eta": "{% if x %}",
    "locales/en.json": '{"login.to-app":"For {clint}","field.team":"{x}"}',
  });
  await serve({ templates, log: (line) => notes.push(line) });
  expect(notes).toEqual([
    expect.stringMatching(/home\.eta:2:1 \{\{ is shown as it is: the tags of templates are <%= … %>$/),
    expect.stringMatching(/login\.eta:1:1 \{% is shown as it is/),
    expect.stringMatching(/en\.json "login\.to-app" has \{clint\}, which has no value there\. Did you mean client\?$/),
  ]);
});

test("the pages are read again; with a mistake, they stay", async () => {
  const templates = templatesFolder({ "home.eta": "<p>one</p>" });
  const idp = await serve({ templates });
  const shown = async () => (await fetch(idp.issuer, { headers: { accept: "text/html" } })).text();
  expect(await shown()).toContain("one");
  writeFileSync(join(templates, "home.eta"), "<p>two</p>");
  await idp.reloadPages();
  expect(await shown()).toContain("two");
  writeFileSync(join(templates, "home.eta"), "<% if ( %>");
  await expect(idp.reloadPages()).rejects.toThrow("home.eta:1:1");
  expect(await shown()).toContain("two");
});
