import { expect, test } from "vitest";
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
