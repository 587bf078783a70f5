import { renderConsent, type ConsentView } from "../../src/http/pages/consent.ts";
import { expect, test } from "vitest";
import { createRenderer } from "../../src/http/pages/templates/render.ts";
import { elementsOf, hooked, wordsOf, type Element } from "../helpers/html.ts";
import { consentViews } from "../helpers/views/consent.ts";

const renderer = createRenderer();

const consent = (name: keyof typeof consentViews, changes: Partial<ConsentView> = {}): string =>
  renderConsent(renderer, { ...consentViews[name], ...changes }).html;
const scopeFields = (html: string): Element[] =>
  elementsOf(html).filter(({ attributes }) => attributes["name"] === "scope");

test("names who asks, where it returns, and who is signed in", () => {
  const html = consent("consent-default");
  expect(html).toContain(
    '<h1><bdi id="consent-client" data-testid="consent-client">Demo App</bdi> asks for access to your account</h1>',
  );
  expect(html).toContain("<code><bdi>localhost:3000</bdi></code>");
  const user = wordsOf(html.slice(html.indexOf('id="consent-user"')).split("</div>")[0] ?? "");
  expect(user).toMatch(/Alice Adams[^]*alice@example\.com/);
});

test("ticks what is checked, and sends the locked scope by a hidden field", () => {
  const html = consent("consent-default");
  expect(hooked(html, "consent-scope-openid").attributes).toMatchObject({ disabled: "", checked: "" });
  expect(hooked(html, "consent-scope-openid").attributes).not.toHaveProperty("name");
  expect(scopeFields(html)[0]?.attributes).toEqual({ type: "hidden", name: "scope", value: "openid" });
  expect(hooked(html, "consent-scope-email").attributes).toMatchObject({
    name: "scope",
    value: "email",
    checked: "",
  });
  expect(hooked(html, "consent-scope-phone").attributes).not.toHaveProperty("checked");
});

test("shows the very values, and says which are not set", () => {
  const words = wordsOf(consent("consent-default")).replace(/\s+/g, " ");
  expect(words).toContain("E-mail alice@example.com Verified yes");
  expect(words).toContain("Location not set");
  expect(words).toContain("About empty");
});

test("labels a value by its path, whatever its position in a list, or shows the path itself", () => {
  const words = wordsOf(consent("consent-every-field")).replace(/\s+/g, " ");
  expect(words).toContain("Address the socialLinks[1].url Label the socialLinks[12].label");
  expect(wordsOf(consent("consent-default"))).toContain("roles");
});

test("titles a single requested claim by its name in the language of the page", () => {
  expect(wordsOf(consent("consent-default"))).toContain("See one detail: Given name");
  expect(wordsOf(consent("consent-default", { lang: "tr" }))).toContain("Tek bir bilgiyi görme:");
});

test("titles a scope by the fixture, else by the catalog, else by its name", () => {
  const row = { locked: false, declined: false, values: [] };
  const html = consent("consent-default", {
    scopes: {
      fresh: [
        { ...row, name: "orders", title: "See your orders" },
        { ...row, name: "phone", title: null },
        { ...row, name: "mystery", title: null },
      ],
      granted: [],
    },
  });
  const titles = [...html.matchAll(/class="scope-title">([^<]*)</g)].map((match) => match[1]);
  expect(titles).toEqual(["See your orders", "See your phone number", "mystery"]);
});

test("sets new scopes apart from those already granted", () => {
  const html = consent("consent-incremental");
  const [fresh = "", granted = ""] = (html.split("<fieldset>")[1] ?? "").split('<details class="granted"');
  expect(fresh).toContain(">New</legend>");
  expect(granted).toMatch(/<summary[^>]*><span>Already allowed: <bdi>[^<]*See your e-mail address/);
  expect(fresh).toContain("consent-scope-phone");
  expect(granted).toContain("consent-scope-email");
  expect(granted).not.toContain("consent-scope-phone");
});

test("makes Allow the primary button, and has a dead button first so that Enter in a field decides nothing", () => {
  const html = consent("consent-default");
  const { attributes: allow } = hooked(html, "consent-allow");
  const { attributes: deny } = hooked(html, "consent-deny");
  expect(allow).toMatchObject({ name: "decision", value: "allow", class: "primary" });
  expect(deny).toMatchObject({ name: "decision", value: "deny" });
  const form = elementsOf(html.slice(html.indexOf('<form id="consent-form"')));
  expect(form.find(({ tag }) => tag === "button")?.attributes).toEqual({ formmethod: "dialog", hidden: "" });
});
