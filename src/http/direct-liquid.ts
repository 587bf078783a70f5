import {
  BlockTag,
  IfTag,
  ForTag,
  IncludeTag,
  LayoutTag,
  LiquidError,
  Output,
  RenderError,
  RenderTag,
  toValueSync,
  TypeGuards,
  UnlessTag,
} from "liquidjs";
import type { Context, Emitter, Filter, Hash, Liquid, Template, Token, Value, ValueToken } from "liquidjs";
import { evaluateHash, evaluateToken, evaluateValue, isTrue } from "./direct-liquid-values.ts";
import { escapeHtml } from "./texts.ts";

/**
 * liquidjs walks through a template by generators, several for each `{{ value }}`: more than a millisecond for the login and the consent
 * page. Here the nodes that pages are mostly made of become plain functions, once for each template, that give up where anything is unusual
 * (a variable that is not there, a value that is no text): then liquidjs renders the node, as it does every other kind of node. Parsing,
 * scopes, lookups and errors are its own throughout.
 */

/** False: nothing was written, liquidjs has to do it. */
type Run = (ctx: Context, emitter: Emitter) => boolean;

/** A tag of ours that says for itself how it is written: from its language, its first word and its named values. */
export interface TextTag {
  readonly key: ValueToken | undefined;
  readonly values: Hash;
  readonly write: (ctx: Context, emitter: Emitter, key: unknown, values: Readonly<Record<string, unknown>>) => void;
}

const isTextTag = (template: object): template is TextTag => "write" in template && "key" in template;

/** What liquidjs keeps to itself of a tag `{% render "file", name: value %}`. */
interface RenderParts {
  readonly file: unknown;
  readonly currentFile?: string;
  readonly hash: { readonly hash: Readonly<Record<string, Token | undefined>> };
  readonly with?: unknown;
  readonly forBinding?: unknown;
}

/** What liquidjs keeps to itself of `{% layout "file" %}`. */
interface LayoutParts {
  readonly file: unknown;
  readonly currentFile?: string;
  readonly args: { readonly hash: object };
  readonly templates: Template[];
}

/** What liquidjs keeps to itself of `{% block name %}`. */
interface BlockParts {
  readonly block: string;
  readonly templates: Template[];
  readonly token: { readonly input: string };
}

/** In a context's register "blockMode": a block is written where it stands (0), or kept in "blocks" for the layout's block of its name (1). */
const blockModes = { write: 0, keep: 1 };

type Block = (parent: unknown, emitter: Emitter) => unknown;

/** Whether text of another place is rendered among these, in their scope: it may ask for any variable of it. */
const holdOthers = (templates: readonly Template[]): boolean =>
  templates.some(
    (template) =>
      template instanceof IncludeTag ||
      template instanceof LayoutTag ||
      template instanceof BlockTag ||
      (template.children !== undefined && holdOthers(toValueSync(template.children(false, true)))),
  );

/** The variable `block`, not the tag. */
const blockVariable = /(?<!\{%-?\s*)\bblock\b/;

/** No `break` and no `continue` holds any more. */
const goOn = (ctx: Context): void => {
  ctx.breakCalled = ctx.continueCalled = false;
};

/** Makes `engine` render as this file says; its output escaping is {@link escapeHtml}. */
export function renderDirectly(engine: Liquid): void {
  const lists = new WeakMap<readonly Template[], (ctx: Context, emitter: Emitter) => void>();

  function listOf(templates: readonly Template[]): (ctx: Context, emitter: Emitter) => void {
    let list = lists.get(templates);
    if (list === undefined) {
      const nodes = templates.map((template) => ({ template, run: runOf(template) }));
      list = (ctx, emitter) => {
        for (const { template, run } of nodes) {
          try {
            if (run === null || !run(ctx, emitter)) {
              const html: unknown = toValueSync(template.render(ctx, emitter) as Generator);
              if (html !== undefined && html !== null && html !== "") emitter.write(html);
            }
          } catch (error) {
            throw LiquidError.is(error) ? error : new RenderError(error as Error, template);
          }
          if (ctx.breakCalled || ctx.continueCalled) return;
        }
      };
      lists.set(templates, list);
    }
    return list;
  }

  /** Null: liquidjs renders it. */
  function runOf(template: Template): Run | null {
    if (TypeGuards.isHTMLToken(template.token)) return html(template.token.getContent());
    if (isTextTag(template)) return text(template);
    if (template instanceof Output) return output(template);
    if (template instanceof IfTag) return branches(template.branches, template.elseTemplates ?? [], isTrue);
    if (template instanceof UnlessTag && template.branches.length === 1) {
      return branches(template.branches, template.elseTemplates, (value) => !isTrue(value));
    }
    if (template instanceof ForTag) return loop(template);
    if (template instanceof RenderTag) return partial(template as unknown as RenderParts);
    if (template instanceof LayoutTag) return layout(template as unknown as LayoutParts);
    if (template instanceof BlockTag) return block(template);
    return null;
  }

  const html =
    (content: string): Run =>
    (_ctx, emitter) => {
      emitter.write(content);
      return true;
    };

  function text({ key, values, write }: TextTag): Run | null {
    const [keyOf, fill] = [evaluateToken(key), evaluateHash(values.hash)];
    if (keyOf === null || fill === null) return null;
    return (ctx, emitter) => {
      const given: Record<string, unknown> = {};
      if (!fill(ctx, given)) return false;
      write(ctx, emitter, keyOf(ctx), given);
      return true;
    };
  }

  /** Words of the catalogue as plain text: the filter `t` without values, which the layout is full of. */
  const words = engine.filters["t"] as (this: { context: Context }, key: unknown) => string;
  const isWords = ({ name, args }: Filter): boolean => name === "t" && args.length === 0;

  function output({ value: { initial, filters } }: Output): Run | null {
    const evaluate = evaluateValue({ initial });
    // The last filter is the escaping.
    const [first] = filters.slice(0, -1);
    if (evaluate === null || filters.length > 2 || (first !== undefined && !isWords(first))) return null;
    return (ctx, emitter) => {
      const found = evaluate(ctx);
      if (typeof found !== "string") return false;
      emitter.write(escapeHtml(first === undefined ? found : words.call({ context: ctx }, found)));
      return true;
    };
  }

  function branches(
    all: readonly { readonly value: Value; readonly templates: Template[] }[],
    otherwise: readonly Template[],
    passes: (value: unknown) => boolean,
  ): Run | null {
    if (all.some(({ value }) => value.filters.length > 0)) return null;
    const tests = all.map(({ value, templates }) => ({ evaluate: evaluateValue(value), list: listOf(templates) }));
    if (tests.some(({ evaluate }) => evaluate === null)) return null;
    const last = listOf(otherwise);
    return (ctx, emitter) => {
      for (const { evaluate, list } of tests) {
        const value = evaluate?.(ctx);
        if (value === undefined) return false;
        if (!passes(value)) continue;
        list(ctx, emitter);
        return true;
      }
      last(ctx, emitter);
      return true;
    };
  }

  function loop({ variable, collection, hash, templates, token }: ForTag): Run | null {
    const evaluate = evaluateToken(collection);
    if (evaluate === null || Object.keys(hash.hash).length > 0) return null;
    if (token.input.includes("forloop") || holdOthers(templates)) return null;
    const list = listOf(templates);
    // What a later loop with `offset: continue` leaves out.
    const passed = `continue-${variable}-${collection.getText()}`;
    return (ctx, emitter) => {
      const items = evaluate(ctx);
      if (!Array.isArray(items) || items.length === 0) return false;
      ctx.setRegister(passed, items.length);
      const scope = Object.create(null) as Record<string, unknown>;
      ctx.push(scope);
      for (const item of items) {
        scope[variable] = item;
        goOn(ctx);
        list(ctx, emitter);
        if (ctx.breakCalled) break;
      }
      goOn(ctx);
      ctx.pop();
      return true;
    };
  }

  function partial({ file, currentFile, hash, with: bound, forBinding }: RenderParts): Run | null {
    const fill = evaluateHash(hash.hash);
    if (typeof file !== "string" || bound !== undefined || forBinding !== undefined || fill === null) return null;
    let list: ((ctx: Context, emitter: Emitter) => void) | null = null;
    return (ctx, emitter) => {
      const child = ctx.spawn();
      if (!fill(ctx, child.bottom())) return false;
      list ??= listOf(toValueSync<Template[]>(engine._parsePartialFile(file, true, currentFile)));
      list(child, emitter);
      return true;
    };
  }

  function layout({ file, currentFile, args, templates }: LayoutParts): Run | null {
    if (typeof file !== "string" || Object.keys(args.hash).length > 0) return null;
    const content = listOf(templates);
    let frame: ((ctx: Context, emitter: Emitter) => void) | null = null;
    return (ctx, emitter) => {
      frame ??= listOf(toValueSync<Template[]>(engine._parseLayoutFile(file, true, currentFile)));
      ctx.setRegister("blockMode", blockModes.keep);
      const rest = createEmitter();
      content(ctx, rest);
      const blocks = ctx.getRegister<Record<string, Block>>("blocks", {});
      const direct = ctx.getRegister<Record<string, Block>>("directBlocks", {});
      // A block without a name stands for what is in none.
      blocks[""] ??= direct[""] = (_parent, into) => into.write(rest.buffer);
      ctx.setRegister("blockMode", blockModes.write);
      frame(ctx, emitter);
      return true;
    };
  }

  function block({ block: name, templates, token }: BlockParts): Run | null {
    // `{{ block.super }}` asks for what the block of the layout would have written.
    if (blockVariable.test(token.input) || holdOthers(templates)) return null;
    const list = listOf(templates);
    return (ctx, emitter) => {
      const blocks = ctx.getRegister<Record<string, Block>>("blocks", {});
      const direct = ctx.getRegister<Record<string, Block>>("directBlocks", {});
      const given = blocks[name];
      // One of liquidjs's may ask for this one, by that variable.
      if (given !== undefined && given !== direct[name]) return false;
      const write: Block = given ?? ((_parent, into) => list(ctx, into));
      if (ctx.getRegister<number>("blockMode") === blockModes.keep) blocks[name] = direct[name] = write;
      else write(undefined, emitter);
      return true;
    };
  }

  // liquidjs asks for a generator, and takes what any function gives.
  engine.renderer.renderTemplates = ((templates: Template[], ctx: Context, emitter?: Emitter) => {
    const into = emitter ?? createEmitter();
    listOf(templates)(ctx, into);
    return into.buffer;
  }) as unknown as typeof engine.renderer.renderTemplates;
}

function createEmitter(): Emitter {
  const emitter = {
    buffer: "",
    write: (html: unknown) => {
      emitter.buffer += String(html);
    },
  };
  return emitter;
}
