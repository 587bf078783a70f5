import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { OperationError } from "../../src/core/base/errors.ts";
import { checkFixtures } from "../../src/core/admin/seed/seed.ts";
import { readFixtures } from "../../src/serve/fixture-files.ts";
import { serve } from "../helpers/app.ts";
import { underAttack } from "../helpers/attack.ts";
import { Browser } from "../helpers/browser.ts";
import { linesOf } from "../helpers/fixtures.ts";
import { elementsOf } from "../helpers/html.ts";
import { dataUrl, pictures } from "../helpers/pictures.ts";

/** A brand that is more than a name, a color and a picture. */

const idp = await underAttack({ fixtures: [{ settings: { brand: { name: "Acme" } } }] });
const problemsOf = async (brand: object): Promise<readonly string[]> =>
  idp.call("seed", { settings: { brand } }).then(
    () => [],
    (error: unknown) => (error as OperationError).problems.map(({ message }) => message),
  );

test("a name is shown as text", async () => {
  const name = `"'><img src=x>{{7*7}}</title><%= 7 %>`;
  const ofPage = async (): Promise<readonly string[]> =>
    elementsOf((await new Browser(idp.issuer).open("/")).body).map(({ tag, attributes }) =>
      [tag, ...Object.keys(attributes)].join(" "),
    );
  const before = await ofPage();
  expect(await problemsOf({ name })).toEqual([]);
  expect(await ofPage()).toEqual(before);
  for (const wrong of ["a\nb", "a\u0000", "", "  ", "x".repeat(61), "a\u2028b"]) {
    expect(await problemsOf({ name: wrong }), wrong).toEqual(["must be 1 to 60 characters on one line"]);
  }
});

test("a color cannot add rules to the stylesheet", async () => {
  const colors = ["red", "#12", "#12345", "#1234567", "#gggggg", "url(//evil.test)", "#fff;}*{display:none", "#fff\n"];
  for (const color of [...colors, "#ffffff)}@import url(//evil.test);"]) {
    expect(await problemsOf({ color }), color).toEqual([`"${color}" is not a color such as "#0f766e"`]);
  }
});

test("an SVG with scripts is sent so that it runs nothing, and pages show it as an image only", async () => {
  const scripted = dataUrl("image/svg+xml", pictures.scriptedSvg);
  expect(await problemsOf({ logo: scripted })).toEqual([]);
  const { body } = await new Browser(idp.issuer).open("/");
  const [src] = elementsOf(body).flatMap(({ tag, attributes }) => (tag === "img" ? attributes["src"] : []));
  expect(body).not.toMatch(/alert|<object|<embed|<iframe/);
  for (const query of ["", "&type=text/html", "&v=../../x"]) {
    const { headers } = await fetch(idp.issuer + (src ?? "") + query, { headers: { accept: "text/html" } });
    expect(headers.get("content-type")).toBe("image/svg+xml");
    expect(headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  }
});

describe("the control API reads no file", () => {
  const sources = (more: object) => ({
    sources: [{ name: "a.yaml", text: "settings: { brand: { logo: logo.svg } }", ...more }],
  });
  const seed = async (body: object): Promise<string> => {
    const headers = { authorization: `Bearer ${idp.adminToken}`, "content-type": "application/json" };
    const response = await fetch(`${idp.issuer}/_idp/api/seed`, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
    });
    return `${response.status} ${await response.text()}`;
  };

  test.each<[string, object, string]>([
    ["of a document", { settings: { brand: { logo: "/etc/passwd" } } }, "must be a data URL such as"],
    ["of a file that was sent", sources({}), "must be a data URL such as"],
    ["in a folder that is named", sources({ folder: "/etc" }), "folder"],
    ["of another name", sources({ logos: { "other.svg": { url: "data:" } } }), "must be a data URL such as"],
    [
      "that holds something else",
      sources({ logos: { "logo.svg": { url: "/etc/passwd" } } }),
      "must be a data URL such",
    ],
    ["of another kind", sources({ logos: { "logo.svg": { path: "/etc/passwd" } } }), "must be fixtures, or { sources"],
    ["without a field", sources({ logos: JSON.parse('{"__proto__": {"url": "data:"}}') as object }), "422"],
  ])("%s", async (_what, body, problem) => {
    const answer = await seed(body);
    expect(answer).toMatch(/^422 /);
    expect(answer).toContain(problem);
  });

  test("what a command has read is taken", async () => {
    const read = { url: dataUrl("image/svg+xml", pictures.svg) };
    expect(await seed(sources({ logos: { "logo.svg": read } }))).toMatch(/^200 /);
  });
});

describe("a fixture file names a picture in its own folder only", () => {
  const outside = mkdtempSync(join(tmpdir(), "idp-brand-"));
  const folder = join(outside, "fixtures");
  afterAll(() => {
    rmSync(outside, { recursive: true });
  });
  mkdirSync(join(folder, "sub.png"), { recursive: true });
  for (const name of ["logo.svg", ".hidden.svg", "a b.svg"]) writeFileSync(join(folder, name), pictures.svg);
  writeFileSync(join(folder, "other.png"), pictures.svg);
  writeFileSync(join(folder, "key.pem"), "secret");
  writeFileSync(join(folder, "large.png"), Buffer.concat([pictures.png, Buffer.alloc(100_000)]));
  writeFileSync(join(outside, "secret.svg"), pictures.svg);
  symlinkSync(join(outside, "secret.svg"), join(folder, "link.svg"));
  symlinkSync(outside, join(folder, "up"));
  symlinkSync("logo.svg", join(folder, "inside.svg"));
  symlinkSync("loop.svg", join(folder, "loop.svg"));

  const problemOf = async (logo: string): Promise<readonly string[]> => {
    writeFileSync(join(folder, "a.yaml"), `settings:\n  brand:\n    logo: ${JSON.stringify(logo)}\n`);
    const { sources } = await readFixtures(["a.yaml"], folder);
    return linesOf(checkFixtures(sources));
  };

  test.each(["logo.svg", "./logo.svg", "sub.png/../logo.svg", "inside.svg", ".hidden.svg", "a b.svg"])(
    "%s is one",
    async (logo) => {
      expect(await problemOf(logo)).toEqual([]);
    },
  );

  const elsewhere = "is not in the folder of the fixture file";
  test.each([
    ["../secret.svg", elsewhere],
    ["sub.png/../../secret.svg", elsewhere],
    [join(outside, "secret.svg"), elsewhere],
    [join(folder, "logo.svg"), elsewhere],
    ["/etc/passwd", elsewhere],
    ["..", elsewhere],
    [".", elsewhere],
    ["", elsewhere],
    ["link.svg", "is a link that leaves the folder"],
    ["up/secret.svg", "is a link that leaves the folder"],
    ["loop.svg", "cannot be read (ELOOP)"],
    ["missing.svg", "is not there"],
    ["logo.svg/x.svg", "is not there"],
    ["sub.png", "is not a file"],
    ["key.pem", "must be a PNG, JPEG, WebP or SVG file"],
    ["https://cdn.example.test/logo.txt", "must be a PNG, JPEG, WebP or SVG file"],
    ["file:///etc/passwd", "must be a PNG, JPEG, WebP or SVG file"],
    ["large.png", "has more than 100 kB"],
    ["other.png", "has the type image/png, but its content is not PNG"],
    ["logo.svg\0.png", "cannot be read"],
  ])("%j is not", async (logo, problem) => {
    const [line = "", ...others] = await problemOf(logo);
    expect(others).toEqual([]);
    expect(line.startsWith(`a.yaml:3:11 settings.brand.logo `)).toBe(true);
    expect(line).toContain(problem);
  });
});

test("a start with such a file fails, and says where", async () => {
  const folder = mkdtempSync(join(tmpdir(), "idp-brand-"));
  writeFileSync(join(folder, "a.json"), '{ "issuers": { "b": { "settings": { "brand": { "logo": "../x.svg" } } } } }');
  const refusal = await serve({ fixtures: join(folder, "a.json") }).catch((error: unknown) => error);
  rmSync(folder, { recursive: true });
  expect((refusal as OperationError).problems).toMatchObject([
    { line: 1, column: 56, path: "issuers.b.settings.brand.logo" },
  ]);
});
