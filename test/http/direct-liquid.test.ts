import { readFileSync } from "node:fs";
import { Liquid } from "liquidjs";
import { expect, test, vi } from "vitest";
import { compilePage } from "../../src/http/direct-liquid.ts";
import { createRenderer, type Renderer } from "../../src/http/render.ts";
import { samples } from "../helpers/sample-views.ts";
import { templatesFolder } from "../helpers/templates-folder.ts";

/** What a page's function writes is what liquidjs renders, to the letter; it gives up where that is a refusal, or something unusual. */

const data = {
  name: `<b>"Ann" & 'Bo'</b>`,
  count: 3,
  yes: true,
  no: false,
  nothing: null,
  empty: "",
  none: [],
  names: ["a", "<b>", "c"],
  people: [
    { name: "Ann", tags: ["x", "y"] },
    { name: "Bo", tags: [] },
  ],
  deep: { er: { value: "v", list: [1, 2] } },
  sized: { size: "own", first: "own first", title: "own title" },
  call: () => "called",
};

const partials = {
  tags: "[{{ person.name }}:{{ extra }}{% for tag in person.tags %} {{ tag }}{{ page.title }}{% else %}no tags{% endfor %}]",
  titled: "{{ person }}{% if page.title %}{{ page.title }}{% endif %}",
  row: "[{{ person.name }}:{{ extra }}{% for tag in person.tags %} {{ tag }}{% endfor %}]",
  layout: "<main>{% block main %}default{% endblock %}</main>{{ page.title }}",
  outer:
    "<b>{% block main %}outer{% endblock %}{% block foot %}foot {{ name }}{% endblock %}{% block %}{% endblock %}</b>",
  middle: "{% layout 'outer' %}{% block main %}<i>{% block inner %}middle{% endblock %}</i>{% endblock %}",
  asking: "{% layout 'outer' %}{% block main %}asking {{ block.super }}{% endblock %}",
  around: "{% layout 'around' %}",
  nameless: "<b>{% block %}nameless{% endblock %}</b>",
  repeating: "{% for n in names %}{% block item %}{% endblock %}{% endfor %}",
  included: "[{{ block.super }}]",
  numbered: "{{ forloop.index }}",
  listing: "{% for n in names %}{{ n }}{% endfor %}",
};

const direct: readonly string[] = [
  "plain text",
  '{% if name == "x" or count > 2 %}a{% endif %}{% if count > 2 and no %}b{% endif %}{% if nothing == null %}c{% endif %}',
  "{% unless no %}a{% endunless %}{% unless yes %}a{% else %}b{% endunless %}",
  "{% for n in names %}{{ n }},{% else %}none{% endfor %}{% for n in none %}{{ n }}{% else %}none{% endfor %}",
  "{% layout 'layout' %}{% block main %}{% for p in people %}{{ p.name }}{% endfor %}{% endblock %}",
  "{% layout 'repeating' %}{% block item %}{{ n }}{% endblock %}",
  "{{ name }} {{ deep.er.value }} {{ 'a<' }} {{ page.title }}",
  "{% if yes %}a{% else %}b{% endif %}{% if no %}a{% elsif nothing %}b{% elsif page %}c{% else %}d{% endif %}",
  "{% for p in people %}{% render 'tags', person: p, extra: name %}{% endfor %}{% for p in people %}{{ p.name }}{% endfor %}",
  "{% layout 'layout' %}{% comment %}not this{% endcomment %} {% block main %}{{ name }}{% endblock %} {% block other %}nor this{% endblock %}",
  "{% layout 'layout' %}",
  "{% if names.size > 2 %}{{ sized.size }}{% endif %}{% if none.size == 0 %}none{% endif %}{{- name -}} x",
  "{% for n in names %}{% for p in people %}{{ n }}{{ p.name }}{% endfor %}{{ n }}{% for m in names %}{{ n }}{{ m }}{% endfor %}{% endfor %}",
  "{% render 'titled', person: name %}{% render 'titled', page: sized, person: name %}{% render 'titled', person: name, page: sized %}",
  "{% for page in people %}{{ page.name }}{% endfor %}{{ page.title }}{% for data in names %}{{ data }}{% endfor %}",
];

/** Refusals, and what pages are not made of. */
const others: readonly string[] = [
  "{% for forloop in people %}{{ forloop.name }}{% endfor %}",
  "{% render 'tags', person: people, extra: nil %}",
  "{{ nil }}",
  "{{ name }} {{ count }} {{ yes }} {{ nothing }} {{ names }} {{ deep.er.value }} {{ deep.er.list[1] }} {{ names.size }} {{ 'a<' }}",
  "{{ name | upcase }} {{ names | join: ', ' }} {{ count | plus: 2 }}",
  "{% if yes %}a{% else %}b{% endif %}{% if no %}a{% elsif nothing %}b{% elsif empty %}c{% else %}d{% endif %}",
  '{% if empty == "" %}a{% endif %}{% if none == empty %}b{% endif %}{% if names contains "a" %}c{% endif %}{% if count >= 3 %}d{% endif %}',
  "{% if name != nothing and yes or no %}a{% endif %}{% if count == 3 %}b{% endif %}{% if name > 2 %}c{% endif %}",
  "{% for n in names %}{{ forloop.index }}{{ n }}{% unless forloop.last %},{% endunless %}{% endfor %}",
  "{% for n in names %}{% include 'numbered' %}{% endfor %}{% for n in names %}{% if yes %}{% include 'numbered' %}{% endif %}{% endfor %}",
  "{% for n in names %}{{ n }}{% endfor %}{% for n in names offset: continue %}{{ n }}{% endfor %}",
  "{% assign constructor = name %}{% for n in names %}{{ constructor }}{% endfor %}",
  "{% for n in names limit: 2 %}{{ n }}{% endfor %}{% for n in names reversed %}{{ n }}{% endfor %}",
  "{% for n in names %}{% if n == 'c' %}{% break %}{% endif %}{{ n }}{% endfor %}!",
  "{% for n in names %}{% if n == 'a' %}{% continue %}{% endif %}{{ n }}{% for m in names %}{% break %}{% endfor %}{% endfor %}!",
  "{% for n in (1..count) %}{{ n }}{% endfor %}{% for n in name %}{{ n }}{% endfor %}",
  "{% for p in people %}{% render 'row', person: p, extra: count %}{% endfor %}",
  "{% render 'row' with people[0] as person, extra: 'x' %}{% render 'row' for people as person, extra: name %}",
  "{% assign a = count %}{{ a }}{% capture b %}{{ name }}{% endcapture %}{{ b }}{% case count %}{% when 3 %}three{% endcase %}",
  "{% layout 'layout' %}nothing of this{% assign a = count %}{% block other %}nor this{% endblock %}",
  "{% layout 'outer' %}{{ name }}{% block foot %}{{ page.title }}{% if yes %}{{ deep.er.value }}{% endif %}{% endblock %}",
  "{% layout 'outer' %}{% block main %}{{ block.super }}, {{ count }}{% endblock %}{% block foot %}f{% endblock %}",
  "{% layout 'middle' %}{% block inner %}{{ name }}{% endblock %}",
  "{% layout 'middle' %}{% block main %}{{ name }}{% endblock %}{% block foot %}{{ block.super }}!{% endblock %}",
  "{% layout 'asking' %}{% block main %}{{ name }}{% endblock %}",
  "{% layout 'asking' %}{% block main %}{{ name }}{{ block.super }}{% endblock %}",
  "{% layout 'layout', name: 'given' %}{% block main %}{{ name }}{% endblock %}",
  "{% layout 'outer' %}{% block main %}{% block main %}x{% endblock %}{% endblock %}",
  "{% layout 'nameless' %}{% block %}{{ block.super }}!{% endblock %}",
  "{% layout 'nameless' %}{% block %}x{% endblock %}y",
  "{% layout 'nameless' %}{{ name }}",
  "{% layout 'outer' %}{% block main %}{% include 'included' %}{% endblock %}",
  "{% layout 'middle' %}{% block main %}{% include 'included' %}{% endblock %}",
  "{% layout 'outer' %}{% block main %}{% if block %}yes{% endif %}{% endblock %}",
  "{% layout 'repeating' %}{% block item %}{{ forloop.index }}{% endblock %}",
  "{% layout 'listing' %}{% break %}",
  "{% layout none %}{% block main %}x{% endblock %}",
  "{% block main %}{{ count }}{% endblock %}{% block main %}again{% endblock %}",
  "{% layout 'layout' %}{% block main %}{{ nowhere }}{% endblock %}",
  "{% layout 'missing' %}{% block main %}x{% endblock %}",
  "{{ names.first }} {{ names.last }} {{ deep.size }} {{ people.last.name }} {{ sized.size }} {{ sized.first }}",
  "{% if deep.__proto__ %}a{% endif %}",
  "{{ deep.toString }}",
  "{% comment %}{{ nowhere }}{% endcomment %}{% raw %}{{ name }}{% endraw %}{{- name -}} x",
  "{{ nowhere }}",
  "{{ deep.nowhere.value }}",
  "{% if nowhere %}a{% endif %}",
  "{% if yes or nowhere %}a{% endif %}",
  "{% for n in nowhere %}{% endfor %}",
  "{% render 'row', person: nowhere %}",
  "{% render 'row', person: name %}",
  "{% for n in names %}{{ name.constructor }}{% endfor %}",
  "{% if call %}a{% endif %}",
  "{% for p in people %}{{ p.call }}{% endfor %}",
  "{{ forloop }}",
  "{% render 'tags', person: name, extra: name %}",
  "{{ name | upcase | downcase }}",
  "{% if yes | upcase %}a{% endif %}",
];

const engine = (): Liquid =>
  new Liquid({
    cache: true,
    templates: partials,
    outputEscape: "escape",
    strictVariables: true,
    ownPropertyOnly: true,
  });

const page = { title: "T" };

/** What is written directly; null: liquidjs has to do it. */
function written(template: string): string | null {
  const liquid = engine();
  const write = compilePage(liquid, liquid.parse(template), "en", () => "");
  try {
    return write === null ? null : write(page, data);
  } catch {
    return null;
  }
}

test.each(direct)("directly: %s", (template) => {
  expect(written(template)).toBe(engine().parseAndRenderSync(template, data, { globals: { page } }));
});

test("what a partial writes of one frozen thing is written once; not where it, or one in it, speaks of the page or of more", () => {
  const liquid = new Liquid({
    cache: true,
    outputEscape: "escape",
    templates: {
      named: "[{{ person.name }}]",
      spoken: "[{{ person.name }} {{ page.title }}]",
      around: "({% render 'spoken', person: person %})",
      within: "({% render 'named', person: person %})",
      two: "[{{ person.name }} {{ extra }}]",
    },
  });
  const template = `{% render 'named', person: person %}{% render 'spoken', person: person %}{% render 'around', person: person %}
    {%- render 'within', person: person %}{% render 'two', person: person, extra: extra %}`;
  const write = compilePage(liquid, liquid.parse(template), "en", () => "");
  let reads = 0;
  const person = {
    get name(): string {
      reads += 1;
      return "<Ann>";
    },
  };
  const whole = (title: string, extra: string, given: object): string | null => {
    try {
      return write?.({ title }, { person: given, extra }) ?? null;
    } catch {
      return null;
    }
  };
  const wanted = (title: string, extra: string): string =>
    liquid.parseAndRenderSync(
      template,
      { person: { name: "<Ann>" }, extra },
      { globals: { page: { title } } },
    ) as string;
  expect(whole("T", "x", person)).toBe(wanted("T", "x"));
  expect(whole("U", "y", Object.freeze(person))).toBe(wanted("U", "y"));
  reads = 0;
  expect(whole("V", "z", person)).toBe(wanted("V", "z"));
  // Those that speak of the page, and of more than the person.
  expect(reads).toBe(3);
});

test("a partial that is used twice, and in it another one twice, is compiled once", () => {
  const files = Array.from({ length: 40 }, (_, at): [string, string] => {
    const next = `{% render 'p${at + 1}', n: n %}`;
    return [
      `p${at}`,
      at === 39 ? "{{ n }}" : `{% if n == "" %}${next}{% else %}{% endif %}{% if n != "" %}${next}{% endif %}`,
    ];
  });
  const liquid = new Liquid({ cache: true, templates: Object.fromEntries(files), outputEscape: "escape" });
  const write = compilePage(liquid, liquid.parse("{% render 'p0', n: name %}"), "en", () => "");
  expect(write?.(page, { name: "<Ann>" })).toBe("&lt;Ann&gt;");
});

test.each(others)("by liquidjs: %s", (template) => {
  expect(written(template)).toBeNull();
});

/** The built-in pages, with something in their layout that only liquidjs can do. */
const byLiquid = (): Renderer =>
  createRenderer([
    templatesFolder({ "layout.html": `${readFileSync("templates/layout.html", "utf8").trimEnd()}{% assign a = 1 %}` }),
  ]);

test("every page is the same by liquidjs, and those of a sign-in are written without it", async () => {
  const [renderer, other] = [createRenderer(), byLiquid()];
  const renderSync = vi.spyOn(Liquid.prototype, "renderSync");
  const slow = new Set<string>();
  for (const { name, view, render } of samples) {
    for (const lang of ["en", "tr"]) {
      renderSync.mockClear();
      const { html, content } = await render(renderer, { ...view, lang });
      if (renderSync.mock.calls.length > 0) slow.add(content().page);
      expect(html.trimEnd(), `${name} in ${lang}`).toBe((await render(other, { ...view, lang })).html.trimEnd());
    }
  }
  renderSync.mockRestore();
  expect([...slow].sort()).toEqual(["account", "device", "error"]);
});
