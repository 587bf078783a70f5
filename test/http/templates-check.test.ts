import { writeFileSync } from "node:fs";
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
    ["locales/en.json", "{", /locales\/en\.json:1:2 is not JSON/],
    ["locales/en.json", "[]", /locales\/en\.json:1:1 must be an object of texts/],
    ["locales/en.json", '{\n  "login.title": 5\n}', /locales\/en\.json:2:3 "login.title" must be a text/],
    ["login.eta", "<h1>\n<% if (it.x { %>a<% } %>\n</h1>", /login\.eta:2:1 /],
    ["partials/avatar.eta", "<p>\n\n  <%= it.a", /partials\/avatar\.eta:3:3 unclosed tag/],
  ])("%s", async (name, text, message) => {
    const failed = start(templatesFolder({ [name]: text }));
    await expect(failed).rejects.toMatchObject({ code: "invalid", message: expect.stringMatching(message) as string });
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

test("the pages are read again; with a mistake, they stay", async () => {
  const templates = templatesFolder({ "home.eta": "<p>one</p>" });
  const idp = await serve({ templates });
  const shown = async () => (await fetch(idp.issuer, { headers: { accept: "text/html" } })).text();
  expect(await shown()).toContain("one");
  writeFileSync(join(templates, "home.eta"), "<p>two</p>");
  idp.reloadPages();
  expect(await shown()).toContain("two");
  writeFileSync(join(templates, "home.eta"), "<% if ( %>");
  expect(() => idp.reloadPages()).toThrow("home.eta:1:1");
  expect(await shown()).toContain("two");
});
