import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Liquid, Template } from "liquidjs";
import type { TextTag, Words, WritePage } from "./direct-liquid.ts";
import { OperationError } from "../core/errors.ts";
import { packageFile } from "../package.ts";
import type { Theme } from "./views.ts";
import { languageAsHtml, loadTexts, type Texts, type TextValues } from "./texts.ts";

/** What the layout needs to know of a page; seen by every template as `page`. */
export interface PageFrame {
  readonly name: string;
  readonly state: string;
  readonly lang: string;
  readonly dir: "ltr" | "rtl";
  /** The path of the issuer, without a trailing slash: "" or "/idp". */
  readonly base: string;
  readonly title: string;
  readonly theme: Theme;
  /** The same page otherwise: links that a person can take. */
  readonly choices: {
    readonly languages: readonly { readonly code: string; readonly href: string; readonly current: boolean }[];
    /** `key`: of the text. */
    readonly themes: readonly { readonly key: string; readonly href: string; readonly current: boolean }[];
  };
  /** Something was refused: the title says so first. */
  readonly failed: boolean;
}

interface Stylesheet {
  readonly css: string;
  /** A digest of the content. */
  readonly version: string;
}

/** Turns templates and data into pages. Made once, for all requests. */
export interface Renderer {
  readonly texts: Texts;
  stylesheet(): Stylesheet;
  /** The HTML of `<template>.html` in its layout. */
  render(template: string, frame: PageFrame, data: object): Promise<string>;
}

const builtInRoot = fileURLToPath(packageFile("templates/"));

/** Where the stylesheet is served, below the path of the issuer. */
export const stylesheetPath = "/_idp/assets/style.css";

interface Engine {
  readonly liquid: Liquid;
  /** Null: liquidjs renders the page. */
  readonly compile: (templates: readonly Template[], language: string) => WritePage | null;
}

/** A page in a language: how liquidjs knows it, and as a function. */
interface Compiled {
  readonly templates: Template[];
  readonly write: WritePage | null;
}

/**
 * The template engine, loaded with the first page only. No value gets into a page unescaped: the engine escapes every output, the filter
 * that would turn that off is taken away, and a variable or a text that does not exist is an error.
 */
async function createEngine(roots: readonly string[], texts: Texts): Promise<Engine> {
  const [{ evalToken, Hash, Liquid }, { compilePage }] = await Promise.all([
    import("liquidjs"),
    import("./direct-liquid.ts"),
  ]);
  const liquid = new Liquid({
    root: [...roots],
    cache: true,
    outputEscape: "escape",
    strictFilters: true,
    strictVariables: true,
    ownPropertyOnly: true,
    relativeReference: false,
  });
  delete liquid.filters["raw"];
  const languageOf = (globals: object): string => (globals as { page: PageFrame }).page.lang;

  const noValues: TextValues = {};
  /** The values of a text, as text; `hook` is none of them. */
  const asText = (values: Readonly<Record<string, unknown>>): TextValues => {
    const names = Object.keys(values);
    if (names.length === 0) return noValues;
    const named: Record<string, string> = {};
    for (const name of names) if (name !== "hook") named[name] = String(values[name]);
    return named;
  };

  // {{ "login.title" | t: client: client.name }}: plain text, for attributes.
  const words: Words = (language, key, values) => texts.plain(language, { key: String(key), values: asText(values) });
  liquid.registerFilter("t", function (key: unknown, ...values: [string, unknown][]) {
    return words(languageOf(this.context.globals), key, Object.fromEntries(values));
  });

  const registerTextTag = (name: string, html: Words): void => {
    liquid.registerTag(name, {
      parse(token) {
        Object.assign(this, { key: token.tokenizer.readValue(), values: new Hash(token.tokenizer), html });
      },
      *render(context, emitter) {
        const { key, values } = this as unknown as TextTag;
        const named = (yield values.render(context)) as Parameters<Words>[2];
        emitter.write(html(languageOf(context.globals), yield evalToken(key, context), named));
      },
    });
  };
  // {% t "consent.title", client: client.name, hook: "consent-client" %}: HTML, with the marks of the text; a hook names its value for tests.
  registerTextTag("t", (language, key, values) =>
    texts.html(language, String(key), asText(values), values["hook"] as string | undefined),
  );
  // {% language "tr" %}: a language by its own name.
  registerTextTag("language", (_language, code) => languageAsHtml(String(code)));

  return { liquid, compile: (templates, language) => compilePage(liquid, templates, language, words) };
}

/**
 * @param overrides folders whose files (templates, `style.css`, `locales/*.json`) go before the built-in ones, file by file; the first wins
 * @throws {OperationError} usage, where one is no folder
 */
export function createRenderer(overrides: readonly string[] = []): Renderer {
  const roots = [...overrides.map(folderOf), builtInRoot];
  const texts = loadTexts(roots);
  let engine: Promise<Engine> | null = null;
  const pages = new Map<string, Compiled>();
  let style: Stylesheet | null = null;

  function stylesheet(): Stylesheet {
    if (style === null) {
      const css = readFirst(roots, "style.css");
      style = { css, version: createHash("sha256").update(css).digest("base64url").slice(0, 16) };
    }
    return style;
  }

  return {
    texts,
    stylesheet,
    async render(template, frame, data) {
      const page = { stylesheet: `${frame.base}${stylesheetPath}?v=${stylesheet().version}`, ...frame };
      const { liquid, compile } = await (engine ??= createEngine(roots, texts));
      const name = `${template} ${frame.lang}`;
      let known = pages.get(name);
      if (known === undefined) {
        const templates = liquid.parseFileSync(`${template}.html`);
        pages.set(name, (known = { templates, write: compile(templates, frame.lang) }));
      }
      try {
        if (known.write !== null) return known.write(page, data);
      } catch {
        // What is unusual there, liquidjs can do, or says what is wrong.
      }
      return liquid.renderSync(known.templates, data, { globals: { page } }) as string;
    },
  };
}

/** @throws {OperationError} usage */
function folderOf(path: string): string {
  if (!statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new OperationError("usage", `templates ${path} is not a folder`, {
      hint: "It holds files as login.html, style.css or locales/en.json, whichever you want to replace",
    });
  }
  return resolve(path);
}

function readFirst(roots: readonly string[], name: string): string {
  for (const root of roots) {
    try {
      return readFileSync(join(root, name), "utf8");
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    }
  }
  throw new Error(`${name} is in none of ${roots.join(", ")}`);
}
