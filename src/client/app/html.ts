import { Tokenizer, TokenizerMode, type Token } from "parse5";
import { webAddress } from "../http.ts";

/**
 * Reads from HTML what a browser without scripts needs to go on. It reads tags, and builds no tree: the cost of a tree grows with the square
 * of the length for pages that are made for that.
 */

const { SCRIPT_DATA, RAWTEXT, RCDATA, PLAINTEXT } = TokenizerMode;

/** Elements that contain text and no tags (HTML 13.2.6.2). */
const textElements = new Map([
  ["script", SCRIPT_DATA],
  ...["style", "xmp", "iframe", "noembed", "noframes"].map((name) => [name, RAWTEXT] as const),
  ...["title", "textarea"].map((name) => [name, RCDATA] as const),
  ["plaintext", PLAINTEXT],
] as const);

/** A tag, with the names of elements and attributes in small letters. */
export interface Tag {
  readonly name: string;
  readonly isEnd: boolean;
  readonly attributes: ReadonlyMap<string, string>;
  /** Of a piece of text, whose name is `#text`. */
  readonly text?: string;
}

export function tagsOf(html: string): readonly Tag[] {
  const tags: Tag[] = [];
  const add = (isEnd: boolean, { tagName, attrs }: Token.TagToken): void => {
    tags.push({ name: tagName, isEnd, attributes: new Map(attrs.map(({ name, value }) => [name, value])) });
  };
  const ignore = (): void => undefined;
  const say = ({ chars }: Token.CharacterToken): void => {
    tags.push({ name: "#text", isEnd: false, attributes: new Map(), text: chars });
  };
  const tokenizer = new Tokenizer(
    {},
    {
      onStartTag(tag) {
        add(false, tag);
        tokenizer.state = textElements.get(tag.tagName) ?? tokenizer.state;
      },
      onEndTag(tag) {
        add(true, tag);
      },
      ...{ onComment: ignore, onDoctype: ignore, onEof: ignore },
      ...{ onCharacter: say, onNullCharacter: ignore, onWhitespaceCharacter: say },
    },
  );
  tokenizer.write(html, true);
  return tags;
}

interface Form {
  readonly action: string;
  readonly fields: URLSearchParams;
}

/** The forms of a page: each with its tag, and with what is in it. */
export function formsOf(tags: readonly Tag[]): readonly (readonly Tag[])[] {
  const forms: Tag[][] = [];
  let open: Tag[] | null = null;
  for (const tag of tags) {
    if (tag.name === "form" && tag.isEnd) open = null;
    // A form within a form is none (HTML 13.2.6.4.7).
    else if (tag.name === "form") {
      if (open !== null) continue;
      open = [tag];
      forms.push(open);
    } else open?.push(tag);
  }
  return forms;
}

/**
 * The form of a page that has a single form with nothing to fill in, as "Sign in with …" often is; null: a person has to decide, or it leads
 * nowhere.
 */
export function onlyForm(html: string, address: string): Form | null {
  const [[form, ...elements] = [], ...others] = formsOf(tagsOf(html));
  if (form === undefined || others.length > 0 || kindOf(form, "method") !== "post") return null;
  const inputs = elements.filter(({ name }) => name === "input");
  if (!inputs.every((tag) => ["hidden", "submit"].includes(kindOf(tag, "type")))) return null;
  if (elements.some(({ name }) => name === "select" || name === "textarea")) return null;
  return sentBy(form, inputs, address);
}

/** @param inputs those whose values are sent are hidden */
function sentBy(form: Tag, inputs: readonly Tag[], address: string): Form | null {
  const fields = inputs
    .filter((tag) => kindOf(tag, "type") === "hidden")
    .map(({ attributes }): [string, string] => [attributes.get("name") ?? "", attributes.get("value") ?? ""]);
  const action = webAddress(form.attributes.get("action") ?? address, address);
  return action === null ? null : { action: action.href, fields: new URLSearchParams(fields) };
}

const plain = (text: string): string => text.replaceAll(/\s+/g, " ").trim();

/** What is in an element that begins at this place. Its kind does not nest (HTML 13.2.6.4.7: a, button, select), so no tag is in two of them. */
export function insideAt(tags: readonly Tag[], at: number): readonly Tag[] {
  let end = at + 1;
  while (end < tags.length && tags[end]?.name !== tags[at]?.name) end += 1;
  return tags.slice(at + 1, end);
}

/** What an element says, which begins at this place. */
const labelAt = (tags: readonly Tag[], at: number): string =>
  plain(
    insideAt(tags, at)
      .map(({ text = "" }) => text)
      .join(""),
  );

/** The form that the button with this text sends; null: no button has it. */
export function formWith(html: string, address: string, label: string): (Form & { readonly isGet: boolean }) | null {
  for (const [form, ...tags] of formsOf(tagsOf(html))) {
    const button = tags.find((tag, at) => {
      if (tag.isEnd) return false;
      if (tag.name === "input") return kindOf(tag, "type") === "submit" && tag.attributes.get("value") === label;
      return (
        tag.name === "button" && ["", "submit"].includes(kindOf(tag, "type")) && labelAt(tags, at) === plain(label)
      );
    });
    if (form === undefined || button === undefined) continue;
    const sent = sentBy(
      form,
      tags.filter(({ name, isEnd }) => name === "input" && !isEnd),
      address,
    );
    const [name = "", value = ""] = ["name", "value"].map((one) => button.attributes.get(one));
    if (name !== "") sent?.fields.append(name, value);
    return sent === null ? null : { ...sent, isGet: kindOf(form, "method") !== "post" };
  }
  return null;
}

/** Where the link with this text leads; null: no link has it. */
export function linkWith(html: string, address: string, label: string): string | null {
  const tags = tagsOf(html);
  const link = tags.find((tag, at) => tag.name === "a" && !tag.isEnd && labelAt(tags, at) === plain(label));
  return link === undefined ? null : (webAddress(link.attributes.get("href") ?? "", address)?.href ?? null);
}

export const kindOf = ({ attributes }: Tag, name: string): string => (attributes.get(name) ?? "").toLowerCase();

/** Where a page sends the browser on by itself (`<meta http-equiv="refresh">`). */
export function refreshOf(html: string, address: string): string | null {
  const tag = tagsOf(html).find((one) => one.name === "meta" && kindOf(one, "http-equiv") === "refresh");
  const [, rest = ""] = /^\s*[\d.]+(?:\s*[;,]\s*|\s+)(.*)$/s.exec(tag?.attributes.get("content") ?? "") ?? [];
  const [, quote, target = ""] = /^(?:url\s*=\s*)?(["']?)(.*)$/is.exec(rest) ?? [];
  const [named = ""] = quote === "" || quote === undefined ? [target] : target.split(quote);
  return named === "" ? null : (webAddress(named, address)?.href ?? null);
}

/** The addresses of the scripts that a page names. */
export const scriptsOf = (html: string, address: string): readonly string[] =>
  tagsOf(html).flatMap(({ name, isEnd, attributes }) => {
    const src = name === "script" && !isEnd ? attributes.get("src") : undefined;
    return src === undefined ? [] : (webAddress(src, address)?.href ?? []);
  });

/** What a person reads on a page. */
export function visibleText(html: string): string {
  const hidden = ["script", "style", "title", "template"];
  let within: string | null = null;
  const texts: string[] = [];
  for (const { name, isEnd, text } of tagsOf(html)) {
    if (within === null && !isEnd && hidden.includes(name)) within = name;
    else if (isEnd && name === within) within = null;
    else if (within === null) texts.push(text ?? " ");
  }
  return plain(texts.join(""));
}
