import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl } from "../helpers/client.ts";
import { serve } from "../helpers/app.ts";
import { renderLogin, type LoginView } from "../../src/http/pages/login.ts";
import { renderSignedOut } from "../../src/http/pages/pages.ts";
import { createRenderer } from "../../src/http/pages/templates/render.ts";
import { loginViews } from "../helpers/views/login.ts";
import { signedOutViews } from "../helpers/views/signed-out.ts";
import { templatesFolder } from "../helpers/templates-folder.ts";

const renderer = createRenderer();

const login = (changes: Partial<LoginView> = {}): string =>
  renderLogin(renderer, { ...loginViews["login-default"], ...changes }).html;

test("the stylesheet's address changes with its content, below the path of the issuer", () => {
  const other = createRenderer([templatesFolder({ "style.css": "body { color: red }" })]);
  expect(other.stylesheet().text).toBe("body { color: red }");
  expect(other.stylesheet().version).not.toBe(renderer.stylesheet().version);
  const html = login({ base: "/idp" });
  expect(html).toContain(`href="/idp/_idp/assets/style.css?v=${renderer.stylesheet().version}"`);
});

test("a folder replaces single files; the others are the built-in ones", () => {
  const folder = templatesFolder({
    "signed-out.eta": '<% layout("layout") %><h1>Bye</h1>',
  });
  const replaced = createRenderer([folder]);
  const { html } = renderSignedOut(replaced, signedOutViews["signed-out"]);
  expect(html).toContain("<h1>Bye</h1>");
  expect(html).toContain('data-page="signed-out"');
  expect(renderLogin(replaced, loginViews["login-default"]).html).toBe(login());
});

test("an error of a partial names the partial", () => {
  const broken = createRenderer([templatesFolder({ "partials/avatar.eta": "\n<%= it.nothing %>" })]);
  expect(() => renderLogin(broken, loginViews["login-default"])).toThrow(/^\S+avatar\.eta:2: [^\n]*it\.nothing %>$/);
});

test("a partial of a folder is used by the built-in pages", () => {
  const replaced = createRenderer([templatesFolder({ "partials/avatar.eta": "<i><%= it.avatar.initials %></i>" })]);
  expect(renderLogin(replaced, loginViews["login-default"]).html).toContain("<i>AA</i>");
});

test.each([
  [
    "a value that does not exist",
    "<p>\n<%= it.nothing %>",
    /^\S+login\.eta:2: a template shows text and numbers, not undefined: <%= it\.nothing %>$/,
  ],
  ["a value that is null", "<%= it.onlyUser %>", /not null: <%= it\.onlyUser %>$/],
  ["a value that is no text", "<%= it.client %>", /not object: <%= it\.client %>$/],
  ["a raw value that does not exist", "<%~ it.nothing %>", /not undefined: <%~ it\.nothing %>$/],
  [
    "a member of what does not exist",
    "<%= it.nothing.name %>",
    /login\.eta:1: Cannot read .*: <%= it\.nothing\.name %>$/,
  ],
  ["a text that does not exist", '<%~ it.html("no.such.text") %>', /no text "no\.such\.text"/],
  ["a text without its value", '<%~ it.html("login.to-app") %>', /no value for \{client\}/],
  ["a text with an undefined value", '<%= it.t("login.to-app", { client: it.nothing }) %>', /no value for \{client\}/],
  ["a template that does not exist", '<%~ include("partials/nothing") %>', /partials\/nothing\.eta is not in/],
])("refuse %s", (_what, template, message) => {
  const broken = createRenderer([templatesFolder({ "login.eta": template })]);
  expect(() => renderLogin(broken, loginViews["login-default"])).toThrow(message);
});

test("values in a template are escaped, also in a text", () => {
  const template = `<%= it.client.name %>|<%= it.t("login.to-app", { client: it.client.name }) %>|<%~ it.html("login.to-app", { client: it.client.name }, "app") %>`;
  const own = createRenderer([templatesFolder({ "login.eta": template })]);
  const view = { ...loginViews["login-default"], client: { id: "x", name: `<b>&"'**<%= 7 %>` } };
  const name = "&lt;b&gt;&amp;&#34;&#39;**&lt;%= 7 %&gt;";
  expect(renderLogin(own, view).html).toBe(
    `${name}|to continue to **${name}**|to continue to <strong><bdi id="app" data-testid="app">${name}</bdi></strong>`,
  );
});

test("npm run check: raw output is for body, include and the HTML of texts only", () => {
  const check = (files: Record<string, string>) =>
    spawnSync(process.execPath, ["scripts/check-templates.js", templatesFolder(files)], { encoding: "utf8" });
  const good =
    '<% layout("layout") %><%= it.client.name %><%~ it.body %><%~ include("partials/avatar") %><%~ it.html("login.pick") %>';
  expect(check({ "good.eta": good })).toMatchObject({ status: 0, stderr: "" });
  const bad = [
    "<%~ it.client.name %>",
    "<% ~ it.client.name %>",
    "<%-~ it.client.name -%>",
    '<%~ it.html("login.pick") + it.client.name %>',
    '<%~ include("partials/details"), it.html(it.client.name) %>',
    "<% output(it.client.name) %>",
    "<% __eta.res += it.client.name %>",
  ];
  const { status, stderr } = check({ "good.eta": good, "bad.eta": bad.join("\n") });
  expect(status).toBe(1);
  expect(stderr.match(/bad\.eta:\d+(?= {2}.*is raw output)|good/g)).toEqual(bad.map((_, at) => `bad.eta:${at + 1}`));
});

test("a running server takes pages, texts and the stylesheet of a folder", async () => {
  const folder = templatesFolder({
    "style.css": "body { color: teal }",
    "partials.txt": "is nobody's",
    "locales/en.json": JSON.stringify({ "login.title": "Come in" }),
    "signed-out.eta": '<% layout("layout") %><h1>Bye</h1>',
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

test("a broken page of a folder gives a plain 500, and the log names it", async () => {
  const notes: string[] = [];
  const templates = templatesFolder({ "login.eta": "<%= it.nothing %>" });
  const idp = await serve({ templates, log: (note) => notes.push(note) });
  const broken = await new Browser(idp.issuer).open(authorizeUrl(idp));
  expect(broken.status).toBe(500);
  expect(broken.body).not.toContain("nothing");
  expect(notes.join("\n")).toMatch(/eta:1: .* not undefined: <%= it\.nothing %>/);
});

test("a broken form_post page of a folder does so too", async () => {
  const notes: string[] = [];
  const templates = templatesFolder({ "form-post.eta": "<%= it.nothing %>" });
  const idp = await serve({ templates, log: (note) => notes.push(note) });
  const broken = await new Browser(idp.issuer).open(authorizeUrl(idp, { prompt: "none", response_mode: "form_post" }));
  expect([broken.status, broken.headers.get("content-type")]).toEqual([500, "text/plain; charset=utf-8"]);
  expect(broken.body).toMatch(/^login_required: [^\n]*\n$/);
  expect(notes.join("\n")).toMatch(/eta:1: .* not undefined: <%= it\.nothing %>/);
});

test.each(["en_US.json", "tr-TR.json", "english.json"])(
  "texts in %s are refused at start: it names no language",
  async (name) => {
    const folder = templatesFolder({ [`locales/${name}`]: "{}" });
    await expect(serve({ templates: folder })).rejects.toMatchObject({
      code: "usage",
      message: `${folder}/locales/${name} must be named after a language only`,
    });
  },
);

test("a folder may have no texts, or a file of that name", () => {
  const folder = mkdtempSync(join(tmpdir(), "idp-templates-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  expect(createRenderer([folder]).texts.languages).toEqual(["en", "tr"]);
  writeFileSync(join(folder, "locales"), "");
  expect(createRenderer([folder]).texts.languages).toEqual(["en", "tr"]);
});

test("a path that is not a folder is refused at start", async () => {
  await expect(serve({ templates: "no/such/folder" })).rejects.toThrow("templates no/such/folder is not a folder");
});
