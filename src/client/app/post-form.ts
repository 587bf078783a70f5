import { webAddress, type Outgoing } from "../http.ts";
import { formsOf, insideAt, kindOf, tagsOf, type Tag } from "./html.ts";

/** A form of a page as a person fills it in: every field as it came, and a text in one of them. */

interface Field {
  readonly name: string;
  readonly value: string;
  /** A person types into it. */
  readonly isText: boolean;
  /** What a person has to type into it, made of a text; null: it is not required, or no text fits. */
  readonly required: ((text: string) => string) | null;
}

export interface PostForm {
  readonly action: string;
  readonly enctype: string;
  readonly fields: readonly Field[];
}

const textTypes = ["", "text", "search"];
const asItIs = (text: string): string => text;
/** Fields that take a text, or one of a form of its own (HTML 4.10.5.1). */
const typed: Readonly<Record<string, (text: string) => string>> = {
  ...Object.fromEntries([...textTypes, "tel", "password"].map((type) => [type, asItIs])),
  email: (text) => `${text}@example.com`,
  url: (text) => `https://example.com/${text}`,
};
const notSent = ["submit", "button", "reset", "image", "file"];

const attribute = ({ attributes }: Tag, name: string): string => attributes.get(name) ?? "";

const textOf = (tags: readonly Tag[]): string => tags.map(({ text = "" }) => text).join("");

/** The value of a list: the option that is selected, else the first (HTML 4.10.7). */
function selectedIn(tags: readonly Tag[]): string {
  const at = tags.flatMap((tag, index) => (tag.name === "option" && !tag.isEnd ? [index] : []));
  const chosen = at.find((index) => tags[index]?.attributes.has("selected")) ?? at[0];
  if (chosen === undefined) return "";
  const inside = tags.slice(chosen + 1);
  const end = inside.findIndex(({ name }) => name === "option" || name === "select");
  const text = textOf(inside.slice(0, end === -1 ? undefined : end)).trim();
  return tags[chosen]?.attributes.get("value") ?? text;
}

function fieldAt(tags: readonly Tag[], at: number): Field | null {
  const tag = tags[at];
  if (tag === undefined || tag.isEnd) return null;
  const name = attribute(tag, "name");
  if (name === "" || tag.attributes.has("disabled")) return null;
  const isEditable = !tag.attributes.has("readonly");
  const isRequired = isEditable && tag.attributes.has("required");
  if (tag.name === "textarea") {
    // A first line break is not part of the text (HTML 13.2.6.4.7).
    const value = textOf(insideAt(tags, at)).replace(/^\r?\n/, "");
    return { name, value, isText: isEditable, required: isRequired ? asItIs : null };
  }
  if (tag.name === "select") return { name, value: selectedIn(insideAt(tags, at)), isText: false, required: null };
  if (tag.name !== "input") return null;
  const type = kindOf(tag, "type");
  if (notSent.includes(type)) return null;
  if (type === "checkbox" || type === "radio") {
    if (!tag.attributes.has("checked")) return null;
    return { name, value: tag.attributes.get("value") ?? "on", isText: false, required: null };
  }
  const isText = textTypes.includes(type) && isEditable;
  return { name, value: attribute(tag, "value"), isText, required: isRequired ? (typed[type] ?? null) : null };
}

/** The button that sends the form where a person presses Enter (HTML 4.10.22.2). */
function buttonIn(tags: readonly Tag[]): readonly Field[] {
  const button = tags.find(
    (tag) =>
      !tag.isEnd &&
      ((tag.name === "button" && ["", "submit"].includes(kindOf(tag, "type"))) ||
        (tag.name === "input" && kindOf(tag, "type") === "submit")),
  );
  const name = button === undefined ? "" : attribute(button, "name");
  if (button === undefined || name === "") return [];
  return [{ name, value: attribute(button, "value"), isText: false, required: null }];
}

/** The forms of a page that are sent by POST. */
export function postForms(html: string, address: string): readonly PostForm[] {
  return formsOf(tagsOf(html)).flatMap(([form, ...tags]) => {
    if (form === undefined || kindOf(form, "method") !== "post") return [];
    const action = webAddress(attribute(form, "action") || address, address);
    if (action === null) return [];
    const fields = [...tags.flatMap((_tag, at) => fieldAt(tags, at) ?? []), ...buttonIn(tags)];
    return [{ action: action.href, enctype: kindOf(form, "enctype"), fields }];
  });
}

/**
 * The field of a form that gets a text: the named one, else the first one for text that is empty or holds an earlier one.
 * @returns its name; null: there is none
 */
export function fieldFor({ fields }: PostForm, named: string | null, earlier: readonly string[]): string | null {
  if (named !== null) return fields.some(({ name }) => name === named) ? named : null;
  const isFree = (value: string): boolean => value.trim() === "" || earlier.includes(value.trim());
  return fields.find(({ isText, value }) => isText && isFree(value))?.name ?? null;
}

/** @param boundary of the parts, where the form has some */
export function filled(form: PostForm, field: string, text: string, boundary: string): Outgoing {
  const { action, enctype, fields } = form;
  const pairs = fields.map(({ name, value, required }): [string, string] => {
    if (name === field) return [name, text];
    return [name, required !== null && value.trim() === "" ? required(text) : value];
  });
  if (enctype !== "multipart/form-data") return { method: "POST", url: action, form: new URLSearchParams(pairs) };
  // RFC 7578 2, with names and values as browsers write them (HTML 4.10.22.8).
  const escaped = (name: string): string => name.replaceAll("\n", "%0A").replaceAll("\r", "%0D").replaceAll('"', "%22");
  const parts = pairs.map(
    ([name, value]) => `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(name)}"\r\n\r\n${value}\r\n`,
  );
  const body = `${parts.join("")}--${boundary}--\r\n`;
  return {
    method: "POST",
    url: action,
    content: { type: `multipart/form-data; boundary=${boundary}`, text: body },
  };
}

/** The value of `<meta name="csrf-token">`, which scripts send as a header; null: there is none. */
export function metaToken(html: string): string | null {
  const tag = tagsOf(html).find(({ name, attributes }) => name === "meta" && attributes.get("name") === "csrf-token");
  return tag?.attributes.get("content") ?? null;
}
