import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl } from "../helpers/client.ts";
import { elementsOf } from "../helpers/html.ts";
import { dataUrl, pictures } from "../helpers/pictures.ts";
import { templatesFolder } from "../helpers/templates-folder.ts";
import type { Idp } from "../../src/index.ts";

/** The setting `brand`: the name, the accent color and the picture of the pages. */

const logo = dataUrl("image/png", pictures.png);
const brand = { name: "Acme", color: "#0f766e", logo };

/** What a page has of a brand. */
async function lookOf(idp: Idp, path: string) {
  const { body } = await new Browser(idp.issuer).open(path);
  const elements = elementsOf(body);
  const styles = elements.flatMap(({ attributes }) => (attributes["rel"] === "stylesheet" ? attributes["href"] : []));
  return {
    title: /&#183; (.*)<\/title>/.exec(body)?.[1],
    name: /<bdi>([^<]*)<\/bdi>\s*<\/p>\s*<\/header>/.exec(body)?.[1],
    icon: elements.find(({ attributes }) => attributes["rel"] === "icon")?.attributes["href"] ?? "",
    img: elements.find(({ tag }) => tag === "img")?.attributes,
    styles,
  };
}

const get = async (idp: Idp, path: string) => fetch(new URL(path, idp.issuer));

test("every page has the name, the accent color and the picture", async () => {
  const idp = await serve({ fixtures: [{ settings: { brand } }] });
  const pages = ["/", "/account", "/device", "/nowhere", authorizeUrl(idp, { client_id: "?" }), "/_idp/"];
  for (const path of pages) {
    const { title, name, icon, img, styles } = await lookOf(idp, path);
    expect({ title, name }, path).toEqual({ title: "Acme", name: "Acme" });
    expect(icon).toBe(img?.["src"]);
    expect(img?.["alt"]).toBe("");
    expect(styles).toHaveLength(2);
    const picture = await get(idp, icon);
    expect(Object.fromEntries(picture.headers)).toMatchObject({
      "content-type": "image/png",
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
    });
    expect(Buffer.from(await picture.arrayBuffer())).toEqual(pictures.png);
    expect(await (await get(idp, styles[1] ?? "")).text()).toContain("--accent: light-dark(#0f766e, ");
  }
});

test("the start page says that the brand is running", async () => {
  const titleOf = async (idp: Idp) => /<h1>([^<]*)<\/h1>/.exec((await new Browser(idp.issuer).open("/")).body)?.[1];
  expect(await titleOf(await serve({ fixtures: [{ settings: { brand } }] }))).toBe("Acme is running");
  expect(await titleOf(await serve())).toBe("idp is running");
});

test("each part stands alone: a logo without a name is described as idp, and a color is in the icon", async () => {
  const idp = await serve({ fixtures: [{ settings: { brand: { logo } } }] });
  expect(await lookOf(idp, "/")).toMatchObject({ title: "idp", name: undefined, img: { alt: "idp" } });
  expect((await lookOf(idp, "/")).styles).toHaveLength(1);
  await idp.call("seed", { settings: { brand: { color: "#0f766e" } } });
  const colored = await lookOf(idp, "/");
  expect(colored).toMatchObject({ title: "idp", name: "idp", img: undefined });
  expect(colored.icon).toContain("fill='%230f766e'");
  await idp.call("seed", { settings: { brand: { name: "Acme & Söhne" } } });
  expect(await lookOf(idp, "/")).toMatchObject({ title: "Acme &amp; Söhne", name: "Acme &amp; Söhne", img: undefined });
});

test("without a brand, the pages are those of idp, and there is neither a picture nor a second stylesheet", async () => {
  const idp = await serve();
  expect(await lookOf(idp, "/")).toMatchObject({ title: "idp", name: "idp", img: undefined });
  expect((await lookOf(idp, "/")).styles).toHaveLength(1);
  for (const path of ["/_idp/assets/logo", "/_idp/assets/brand.css"]) expect((await get(idp, path)).status).toBe(404);
});

test("a change counts at once, under another address; a reset and a restored snapshot bring the old one back", async () => {
  const idp = await serve({ fixtures: [{ settings: { brand } }] });
  const first = await lookOf(idp, "/");
  await idp.snapshot("before");
  const other = { name: "Other", logo: dataUrl("image/svg+xml", pictures.svg) };
  const change = () => idp.call("seed", { settings: { brand: other } });
  await change();
  const second = await lookOf(idp, "/");
  expect(second).toMatchObject({ title: "Other" });
  expect(second.icon).not.toBe(first.icon);
  expect((await get(idp, second.icon)).headers.get("content-type")).toBe("image/svg+xml");
  await idp.restore("before");
  expect(await lookOf(idp, "/")).toEqual(first);
  await change();
  await idp.reset();
  expect(await lookOf(idp, "/")).toEqual(first);
});

test("each issuer has its own, below its own path", async () => {
  const file = {
    settings: { brand: { name: "First" } },
    issuers: { beta: { settings: { brand: { name: "Beta", logo } } } },
  };
  const idp = await serve({ fixtures: [file] });
  expect((await lookOf(idp, "/")).title).toBe("First");
  const { title, icon } = await lookOf(idp, "/i/beta/");
  expect(title).toBe("Beta");
  expect(icon).toMatch(/^\/i\/beta\/_idp\/assets\/logo\?v=/);
  expect((await get(idp, icon)).status).toBe(200);
});

test("an export has the picture in it, as fixtures too, and an import takes it", async () => {
  const idp = await serve({ fixtures: [{ settings: { brand } }] });
  expect(await idp.call("export", { as: "fixtures" })).toMatchObject({ settings: { brand } });
  const state = await idp.call("export", {});
  await idp.call("seed", { settings: { brand: { name: "Other" } } });
  await idp.call("import", state);
  expect((await lookOf(idp, "/")).title).toBe("Acme");
});

test("own pages have it as it.brand; pages as JSON leave it out", async () => {
  const templates = templatesFolder({
    "home.eta": '<% layout("layout") %><h1>Welcome to <%= it.brand.name %></h1>',
  });
  const idp = await serve({ templates, fixtures: [{ settings: { brand } }] });
  expect((await new Browser(idp.issuer).open("/")).body).toContain("<h1>Welcome to Acme</h1>");
  const json = await fetch(`${idp.issuer}/device`, { headers: { accept: "application/json" } });
  expect(await json.text()).not.toContain("Acme");
});

test("the guide begins with an example that works", async () => {
  const guide = readFileSync(new URL("../../docs/pages.md", import.meta.url), "utf8");
  const [, heading, text = ""] = /^## (.*)\n[\s\S]*?```yaml\n([\s\S]*?)```/m.exec(guide) ?? [];
  expect(heading).toBe("Your brand");
  const folder = mkdtempSync(join(tmpdir(), "idp-brand-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  writeFileSync(join(folder, "idp.fixtures.yaml"), text);
  writeFileSync(join(folder, "logo.svg"), pictures.svg);
  const notes: string[] = [];
  const idp = await serve({ fixtures: folder, log: (note) => notes.push(note) });
  expect(await lookOf(idp, "/")).toMatchObject({ title: "Acme", name: "Acme", img: { height: "32" } });
  expect(notes).toEqual([]);
});

test("a start with a color that is hard to read says which one the pages use; so do changed fixtures", async () => {
  const notes: string[] = [];
  const branded = (color: string) => ({ value: { settings: { brand: { color } } } });
  const idp = await serve({ fixtures: [branded("#ffcc00")], log: (note) => notes.push(note) });
  // Each instance says it.
  expect([...new Set(notes.splice(0))]).toEqual([
    expect.stringMatching(/^brand\.color #ffcc00 has a contrast of 1\.3:1 .* so they use #/),
  ]);
  await idp.changeFixtures([branded("#0f766e")]);
  expect(notes).toEqual([]);
  await idp.changeFixtures([branded("#8ab4f8")]);
  expect(notes).toEqual([expect.stringMatching(/^brand\.color #8ab4f8 has a contrast of 1\.8:1 /)]);
});

test("a fixture file names the picture by a path beside it, and a reset reads it again", async () => {
  const folder = mkdtempSync(join(tmpdir(), "idp-brand-"));
  onTestFinished(() => {
    rmSync(folder, { recursive: true });
  });
  mkdirSync(join(folder, "img"));
  const write = (bytes: Buffer): void => {
    writeFileSync(join(folder, "img", "logo.svg"), bytes);
  };
  write(pictures.svg);
  const files = {
    yaml: "settings: { brand: { logo: img/logo.svg } }",
    json: '{"settings":{"brand":{"logo":"./img/logo.svg"}}}',
  };
  for (const [end, text] of Object.entries(files)) writeFileSync(join(folder, `a.${end}`), text);
  const pictureOf = async (idp: Idp) => (await get(idp, (await lookOf(idp, "/")).icon)).text();
  for (const end of Object.keys(files)) {
    const path = join(folder, `a.${end}`);
    write(pictures.svg);
    const idp = await serve({ fixtures: () => [path] });
    expect(await pictureOf(idp)).toBe(pictures.svg.toString());
    write(pictures.scriptedSvg);
    expect(await pictureOf(idp)).toBe(pictures.svg.toString());
    await idp.reset();
    expect(await pictureOf(idp)).toBe(pictures.scriptedSvg.toString());
  }
});
