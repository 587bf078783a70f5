import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { renderAccount } from "../../src/http/pages/account.ts";
import { renderLogin } from "../../src/http/pages/login.ts";
import { createRenderer } from "../../src/http/pages/templates/render.ts";
import { elementsOf, unescapeHtml, wordsOf } from "../helpers/html.ts";
import { accountViews } from "../helpers/views/account.ts";
import { loginViews } from "../helpers/views/login.ts";
import { samples, type Sample } from "../helpers/sample-views.ts";
import { templatesFolder } from "../helpers/templates-folder.ts";

const textsOf = (language: string): Record<string, string> =>
  JSON.parse(readFileSync(new URL(`../../templates/locales/${language}.json`, import.meta.url), "utf8")) as Record<
    string,
    string
  >;
const english = textsOf("en");

/** Every sample in a language whose texts are «key {its} {values}». */
function inPseudoLanguage(): { sample: Sample; html: string }[] {
  const texts = Object.entries(english).map(([key, text]) => [
    key,
    `«${[key, ...(text.match(/\{\w+\}/g) ?? [])].join(" ")}»`,
  ]);
  const folder = templatesFolder({ "locales/qq.json": JSON.stringify(Object.fromEntries(texts)) });
  const renderer = createRenderer([folder]);
  return samples.map((sample) => ({
    sample,
    html: sample.render(renderer, { ...sample.view, lang: "qq" }).html,
  }));
}

test("every text is used", () => {
  const shown = inPseudoLanguage()
    .map(({ html }) => unescapeHtml(html))
    .join("\n");
  // Notes, and the pages, checks, outcomes and ends of a sign-in, are chosen by the routes, and may be any of them.
  const isShown = (key: string): boolean => shown.includes(`«${key}»`) || shown.includes(`«${key} `);
  const unused = Object.keys(english).filter(
    (key) => !/^(note|inspector\.(stopped|page|check|outcome)-)/.test(key) && !isShown(key),
  );
  expect(unused).toEqual([]);
});

test("Turkish has every one, in the same order, with the same values and marks, and not in English", () => {
  const turkish = textsOf("tr");
  expect(Object.keys(turkish)).toEqual(Object.keys(english));
  const marks = (text: string | undefined): string[] => (text?.match(/\{\w+\}|\*\*|`[^`{]*`|`/g) ?? []).sort();
  for (const [key, text] of Object.entries(english)) expect(marks(turkish[key]), key).toEqual(marks(text));
  const alike = Object.keys(english).filter((key) => turkish[key] === english[key]);
  expect(alike).toEqual(["field.socialLinks[].platform"]);
});

test("no text is upper-cased by the stylesheet or a template: a Turkish i would become another letter", () => {
  for (const name of ["style.css", "layout.eta", "login.eta", "consent.eta", "account.eta"]) {
    const text = readFileSync(new URL(`../../templates/${name}`, import.meta.url), "utf8");
    expect(text, name).not.toMatch(/text-transform|font-variant|\b(up|down|capitali[sz])case\b/);
  }
});

test("times and lengths of time are Turkish in Turkish", () => {
  const renderer = createRenderer();
  const { html } = renderAccount(renderer, { ...accountViews["account-one"], lang: "tr" }, "UTC");
  expect(html).toContain(">20 Kas 2026 12:04 UTC</time>");
  const reauth = renderLogin(renderer, { ...loginViews["login-reauth-max-age"], lang: "tr" });
  expect(reauth.html).toContain("2 saat 2 dakika önce giriş yaptınız. Uygulama son 5 dakika içinde");
});

test("no text is in a template: in another language no English word is left", () => {
  for (const { sample, html } of inPseudoLanguage()) {
    expect(html).toContain('<html lang="qq"');
    const values: string[] = [];
    JSON.stringify(sample.view, (_name, value: unknown) => {
      if (typeof value === "string" && value.length > 2) values.push(value);
      return value;
    });
    const labels = elementsOf(html).flatMap(({ attributes }) => attributes["aria-label"] ?? []);
    // Initials, times, code and what a person chose have no texts in the catalog.
    const shown = wordsOf(
      html.replace(/<pre\b[^]*?<\/pre>/g, "").replace(/<((text|time|bdi|script)\b|option [^>]*lang=)[^<]*/g, ""),
    );
    let rest = [shown, ...labels].join("\n").replace(/«[^»]*»/g, "");
    for (const value of values.sort((one, other) => other.length - one.length)) rest = rest.replaceAll(value, "");
    rest = rest.replace(/\bidp( users restore)?\b|\bHTTP\b|\bOK\b|\bms\b|\bcurl\b/g, "");
    // A value in which a part is marked is in pieces here.
    if (!/^error-(redirect-uri|client)/.test(sample.name)) expect(rest.match(/\p{L}+/gu) ?? []).toEqual([]);
  }
});

test("a language without texts is shown, and marked, as English", () => {
  const view = { ...loginViews["login-default"], lang: "../../../etc/passwd" };
  const { html } = renderLogin(createRenderer(), view);
  expect(html).toContain('<html lang="en"');
  expect(html).toContain("Pick a test user");
});

test("a text that a language lacks is taken from English", () => {
  const other = createRenderer([templatesFolder({ "locales/de.json": '{"login.pick":"Wählen"}' })]);
  const { html } = renderLogin(other, { ...loginViews["login-default"], lang: "de" });
  expect(html).toContain("Wählen");
  expect(html).toContain("Sign in with a password");
});
