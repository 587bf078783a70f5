import { BlockTag, CommentTag, ForTag, IfTag, LayoutTag, Output, RenderTag, TypeGuards, UnlessTag } from "liquidjs";
import type { Filter, Hash, Liquid, Template, Token, Value, ValueToken } from "liquidjs";
import {
  dataPlace,
  evaluateNamed,
  evaluateToken,
  evaluateValue,
  inData,
  isTrue,
  literalOf,
  pagePlace,
  unusual,
  type Evaluate,
  type Frame,
  type Places,
} from "./direct-liquid-values.ts";
import { escapeHtml } from "./texts.ts";

/**
 * liquidjs walks through a template by generators, several for each `{{ value }}`: more than a millisecond for the login and the consent
 * page. Here a page, with its layout and its partials, becomes one function of plain functions for each language. It gives up where anything is
 * unusual (a variable that is not there, a kind of node that pages are not made of): then liquidjs renders the page, and says what is wrong with it.
 */

/** @throws where liquidjs has to render the page */
export type WritePage = (page: object, data: object) => string;

/** The words of a text in a language. */
export type Words = (language: string, key: unknown, values: Readonly<Record<string, unknown>>) => string;

/** A tag of ours: a text, from its first word and its named values, as HTML. */
export interface TextTag {
  readonly key: ValueToken | undefined;
  readonly values: Hash;
  readonly html: Words;
}

const isTextTag = (template: object): template is TextTag => "html" in template && "key" in template;

/** What liquidjs keeps to itself of a tag `{% render "file", name: value %}`. */
interface RenderParts {
  readonly file: unknown;
  readonly hash: Hash;
  readonly with?: unknown;
  readonly forBinding?: unknown;
}

/** A piece of a page: text that never changes, or what writes it. */
type Piece = string | ((frame: Frame) => string);
type Write = (frame: Frame) => string;

/** What is known where a node stands. */
interface Scope {
  readonly places: Places;
  /** How many places the frame has so far: of all nodes of the file. */
  readonly frame: { size: number };
  /** Of a layout: what its blocks are filled with; null: no block may stand here. */
  readonly blocks: ReadonlyMap<string, readonly Template[]> | null;
}

/** A page's function in a language. @returns null where liquidjs has to render it */
export function compilePage(
  engine: Liquid,
  templates: readonly Template[],
  language: string,
  words: Words,
): WritePage | null {
  try {
    const places = new Map([
      ["page", pagePlace],
      [inData, dataPlace],
    ]);
    const write = compiler(engine, language, words)(templates, { places, frame: { size: places.size }, blocks: null });
    return (page, data) => write([page, data]);
  } catch {
    return null;
  }
}

/** One function of many pieces; what stands side by side and never changes is one text. */
function joined(pieces: readonly Piece[]): Write {
  const merged: Piece[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    if (typeof piece === "string" && typeof last === "string") merged[merged.length - 1] = last + piece;
    else if (piece !== "") merged.push(piece);
  }
  return (frame) => {
    let html = "";
    for (const piece of merged) html += typeof piece === "string" ? piece : piece(frame);
    return html;
  };
}

/** What is written of one frozen object, and of nothing else, is written once: a picker shows a dozen people, the same ones each time. */
function remembering(write: Write): Write {
  const written = new WeakMap<object, string>();
  return (frame) => {
    const [, given] = frame;
    if (typeof given !== "object" || given === null || !Object.isFrozen(given)) return write(frame);
    let html = written.get(given);
    if (html === undefined) {
      // In one piece: V8 puts off joining the pieces that a text is made of.
      html = Buffer.from(write(frame)).toString();
      written.set(given, html);
    }
    return html;
  };
}

const isBlank = (template: Template): boolean =>
  template instanceof CommentTag ||
  (TypeGuards.isHTMLToken(template.token) && template.token.getContent().trim() === "");

function compiler(engine: Liquid, language: string, words: Words) {
  const partials = new Map<string, Write>();

  const listOf = (templates: readonly Template[], scope: Scope): Write =>
    joined(templates.map((template) => pieceOf(template, scope)));

  function pieceOf(template: Template, scope: Scope): Piece {
    if (TypeGuards.isHTMLToken(template.token)) return template.token.getContent();
    if (isTextTag(template)) return text(template, scope);
    if (template instanceof Output) return output(template, scope);
    if (template instanceof IfTag) return branches(template.branches, template.elseTemplates ?? [], scope, isTrue);
    if (template instanceof UnlessTag && template.branches.length === 1) {
      return branches(template.branches, template.elseTemplates, scope, (value) => !isTrue(value));
    }
    if (template instanceof ForTag) return loop(template, scope);
    if (template instanceof RenderTag) return partial(template as unknown as RenderParts, scope);
    if (template instanceof LayoutTag) return layout(template, scope);
    if (template instanceof BlockTag) return block(template, scope);
    if (template instanceof CommentTag) return "";
    throw unusual;
  }

  /** A text that is named to the letter, and has no values, is the same in every page. */
  function said(
    say: Words,
    key: Token | undefined,
    named: Readonly<Record<string, Token | undefined>>,
    { places }: Scope,
  ): Piece {
    if (Object.keys(named).length === 0 && TypeGuards.isQuotedToken(key)) return say(language, literalOf(key), {});
    const [keyOf, valuesOf] = [evaluateToken(key, places), evaluateNamed(named, places)];
    return (frame) => say(language, keyOf(frame), valuesOf(frame));
  }

  const text = ({ key, values, html }: TextTag, scope: Scope): Piece => said(html, key, values.hash, scope);

  function output({ value: { initial, filters } }: Output, scope: Scope): Piece {
    // The last filter is the escaping.
    const [first, ...others] = filters.slice(0, -1);
    if (others.length > 0) throw unusual;
    if (first !== undefined) {
      const [key, ...rest] = initial.postfix;
      if (rest.length > 0) throw unusual;
      return said((...given) => escapeHtml(words(...given)), key, namedIn(first), scope);
    }
    const evaluate = evaluateValue({ initial }, scope.places);
    return (frame) => {
      const found = evaluate(frame);
      if (typeof found !== "string") throw unusual;
      return escapeHtml(found);
    };
  }

  /** The arguments of the filter `t`, `client: client.name`. */
  function namedIn({ name, args }: Filter): Record<string, Token | undefined> {
    if (name !== "t") throw unusual;
    return Object.fromEntries(
      args.map((arg) => {
        if (!Array.isArray(arg) || typeof arg[0] !== "string") throw unusual;
        return [arg[0], arg[1]];
      }),
    );
  }

  function branches(
    all: readonly { readonly value: Value; readonly templates: readonly Template[] }[],
    otherwise: readonly Template[],
    scope: Scope,
    passes: (value: unknown) => boolean,
  ): Piece {
    const tests = all.map(({ value, templates }) => {
      if (value.filters.length > 0) throw unusual;
      return { evaluate: evaluateValue(value, scope.places), write: listOf(templates, scope) };
    });
    const last = listOf(otherwise, scope);
    return (frame) => {
      for (const { evaluate, write } of tests) if (passes(evaluate(frame))) return write(frame);
      return last(frame);
    };
  }

  function loop({ variable, collection, hash, templates, elseTemplates }: ForTag, scope: Scope): Piece {
    if (Object.keys(hash.hash).length > 0 || variable === "forloop") throw unusual;
    const evaluate = evaluateToken(collection, scope.places);
    const place = scope.frame.size++;
    const write = listOf(templates, { ...scope, places: new Map([...scope.places, [variable, place]]) });
    const otherwise = listOf(elseTemplates, scope);
    return (frame) => {
      const items = evaluate(frame);
      if (!Array.isArray(items)) throw unusual;
      if (items.length === 0) return otherwise(frame);
      let html = "";
      for (const item of items) {
        frame[place] = item;
        html += write(frame);
      }
      return html;
    };
  }

  /** A file of its own, which knows what it is given, and `page`. */
  function partial({ file, hash: { hash }, with: bound, forBinding }: RenderParts, scope: Scope): Piece {
    if (typeof file !== "string" || bound !== undefined || forBinding !== undefined) throw unusual;
    const given: Evaluate[] = [(frame) => frame[pagePlace]];
    const places = new Map<string, number>();
    for (const [name, token] of Object.entries(hash)) {
      places.set(name, given.push(evaluateToken(token, scope.places)) - 1);
    }
    const write = partialOf(file, places, scope.places.get("page") === pagePlace);
    return (frame) => {
      const own: Frame = [];
      for (const evaluate of given) own.push(evaluate(frame));
      return write(own);
    };
  }

  /** Once, however often it is used: what it writes depends on what it is given alone. @param knowsPage whether it may speak of `page` */
  function partialOf(file: string, places: Places, knowsPage: boolean): Write {
    const name = JSON.stringify([file, knowsPage, ...places.keys()]);
    const known = partials.get(name);
    if (known !== undefined) return known;
    const templates = engine.parseFileSync(file);
    const compiled = (own: Places): Write =>
      listOf(templates, { places: own, frame: { size: places.size + 1 }, blocks: null });
    let write: Write;
    try {
      write = compiled(places);
      if (places.size === 1) write = remembering(write);
    } catch (error) {
      if (!knowsPage) throw error;
      write = compiled(new Map([["page", pagePlace], ...places]));
    }
    partials.set(name, write);
    return write;
  }

  function layout({ file, args, templates }: LayoutTag, scope: Scope): Piece {
    if (typeof file !== "string" || Object.keys(args.hash).length > 0 || scope.blocks !== null) throw unusual;
    const blocks = new Map<string, readonly Template[]>();
    for (const template of templates) {
      if (isBlank(template)) continue;
      if (!(template instanceof BlockTag) || blocks.has(template.block)) throw unusual;
      blocks.set(template.block, template.templates);
    }
    return listOf(engine.parseFileSync(file), { ...scope, blocks });
  }

  function block({ block: name, templates }: BlockTag, scope: Scope): Piece {
    // One without a name stands for what is in none.
    if (scope.blocks === null || name === "") throw unusual;
    return listOf(scope.blocks.get(name) ?? templates, { ...scope, blocks: null });
  }

  return listOf;
}
