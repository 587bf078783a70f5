import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl } from "../helpers/client.ts";
import { serve } from "../helpers/app.ts";
import { renderLogin, renderSignedOut } from "../../src/http/pages.ts";
import { createRenderer } from "../../src/http/render.ts";
import type { LoginView } from "../../src/http/views.ts";
import { loginViews, signedOutViews } from "../helpers/sample-views.ts";
import { templatesFolder } from "../helpers/templates-folder.ts";

const renderer = createRenderer();

const login = async (changes: Partial<LoginView> = {}): Promise<string> =>
  (await renderLogin(renderer, { ...loginViews["login-default"], ...changes })).html;

test("the stylesheet's address changes with its content, below the path of the issuer", async () => {
  const other = createRenderer([templatesFolder({ "style.css": "body { color: red }" })]);
  expect(other.stylesheet().css).toBe("body { color: red }");
  expect(other.stylesheet().version).not.toBe(renderer.stylesheet().version);
  const html = await login({ base: "/idp" });
  expect(html).toContain(`href="/idp/_idp/assets/style.css?v=${renderer.stylesheet().version}"`);
});

test("a folder replaces single files; the others are the built-in ones", async () => {
  const folder = templatesFolder({
    "signed-out.html": '{% layout "layout.html" %}{% block main %}<h1>Bye</h1>{% endblock %}',
  });
  const replaced = createRenderer([folder]);
  const { html } = await renderSignedOut(replaced, signedOutViews["signed-out"]);
  expect(html).toContain("<h1>Bye</h1>");
  expect(html).toContain('data-page="signed-out"');
  expect((await renderLogin(replaced, loginViews["login-default"])).html).toBe(await login());
});

test.each([
  ["unescaped output", "{{ client.name | raw }}", /undefined filter: raw/],
  ["a variable that is not there", "{{ nothing }}", /undefined variable: nothing/],
  ["a text that is not there", '{% t "no.such.text" %}', /no text "no\.such\.text"/],
  ["a text without its value", '{% t "login.to-app" %}', /no value for \{client\}/],
])("refuse %s", async (_what, template, message) => {
  const broken = createRenderer([templatesFolder({ "login.html": template })]);
  await expect(renderLogin(broken, loginViews["login-default"])).rejects.toThrow(message);
});

test("a running server takes pages, texts and the stylesheet of a folder", async () => {
  const folder = templatesFolder({
    "style.css": "body { color: teal }",
    "partials.txt": "is nobody's",
    "locales/en.json": JSON.stringify({ "login.title": "Come in" }),
    "signed-out.html": '{% layout "layout.html" %}{% block main %}<h1>Bye</h1>{% endblock %}',
  });
  const idp = await serve({ templates: folder });
  const browser = new Browser(idp.issuer);
  const login = await browser.open(authorizeUrl(idp));
  expect(login.body).toContain("<h1>Come in</h1>");
  expect(login.body).toContain("Pick a test user");
  const href = /href="([^"]+style\.css[^"]+)"/.exec(login.body)?.[1] ?? "";
  expect((await browser.open(href)).body).toBe("body { color: teal }");
  const account = await browser.press(await browser.open("/account"), "login-as-alice");
  expect((await browser.press(account, "account-signout")).body).toContain("<h1>Bye</h1>");
});

test("a page of theirs that is broken answers 500 in plain words, and the log says which", async () => {
  const notes: string[] = [];
  const templates = templatesFolder({ "login.html": "{{ nothing }}" });
  const idp = await serve({ templates, log: (note) => notes.push(note) });
  const broken = await new Browser(idp.issuer).open(authorizeUrl(idp));
  expect(broken.status).toBe(500);
  expect(broken.body).not.toContain("nothing");
  expect(notes.join("\n")).toContain("undefined variable: nothing");
});

test("so does the form that carries a refusal to the app", async () => {
  const notes: string[] = [];
  const templates = templatesFolder({ "form-post.html": "{{ nothing }}" });
  const idp = await serve({ templates, log: (note) => notes.push(note) });
  const broken = await new Browser(idp.issuer).open(authorizeUrl(idp, { prompt: "none", response_mode: "form_post" }));
  expect([broken.status, broken.headers.get("content-type")]).toEqual([500, "text/plain; charset=utf-8"]);
  expect(broken.body).toMatch(/^login_required: [^\n]*\n$/);
  expect(notes.join("\n")).toContain("undefined variable: nothing");
});

test.each(["en_US.json", "tr-TR.json", "english.json"])(
  "texts in %s are refused at start: it names no language",
  async (name) => {
    const folder = templatesFolder({ [`locales/${name}`]: "{}" });
    await expect(serve({ templates: folder })).rejects.toMatchObject({
      code: "usage",
      message: `${folder}/locales/${name} is not named by a language alone`,
    });
  },
);

test("a folder may have no texts, or a file of that name", async () => {
  const folder = mkdtempSync(join(tmpdir(), "idp-templates-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  expect(createRenderer([folder]).texts.languages).toEqual(["en", "tr"]);
  writeFileSync(join(folder, "locales"), "");
  expect(createRenderer([folder]).texts.languages).toEqual(["en", "tr"]);
});

test("what is no folder is refused at start", async () => {
  await expect(serve({ templates: "no/such/folder" })).rejects.toThrow("templates no/such/folder is not a folder");
});
