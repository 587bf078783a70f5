import type { RawParameters } from "../../core/protocol/authorize/parameters.ts";
import type { Problem } from "../../core/base/errors.ts";
import { parseJson, isObject } from "../../text/json.ts";
import { flagOf, flagWith } from "../../core/base/hint.ts";
import type { FaultInput } from "../../core/testing/controls/faults/faults.ts";
import { faultEndpoints, faultMethods } from "../../core/testing/controls/faults/endpoints.ts";
import { flawNames } from "../../core/testing/controls/faults/flaw-list.ts";
import { single } from "../input/params.ts";

/** The form that adds a fault: its fields are those of the operation, and the flags of the command. */

interface FaultField {
  /** The name of the operation's field. */
  readonly name: string;
  readonly kind: "text" | "number" | "lines" | "list" | "tick" | "name";
  /** Only for a list. The first one is selected. */
  readonly options: readonly string[];
  /** Whether the page explains the field. */
  readonly hint: boolean;
}

interface Group {
  readonly name: "requests" | "response";
  readonly fields: readonly FaultField[];
}

const field = (kind: FaultField["kind"], name: string, options: readonly string[] = []): FaultField => ({
  ...{ name, kind, options },
  hint: hinted.includes(name),
});

const hinted = ["times", "skip", "always", "header", "content_type", "delay", "drop_after", "drop", "after"];

const faultForm: { readonly groups: readonly Group[] } = {
  groups: [
    {
      name: "requests",
      fields: [
        field("list", "endpoint", ["any", ...faultEndpoints]),
        ...[field("name", "client"), field("name", "user"), field("text", "grant_type")],
        field("list", "method", ["", ...faultMethods]),
        ...[field("number", "times"), field("number", "skip"), field("tick", "always")],
      ],
    },
    {
      name: "response",
      fields: [
        ...[field("number", "status"), field("text", "error"), field("text", "description")],
        ...[field("lines", "header"), field("lines", "body"), field("text", "content_type")],
        field("list", "flaw", ["", ...flawNames]),
        ...[field("text", "delay"), field("number", "drop_after")],
        ...[field("tick", "drop"), field("tick", "after")],
      ],
    },
  ],
};

/** A field with what was typed, and what is wrong with it. */
export interface FilledField extends FaultField {
  readonly typed: string;
  readonly problem: string | null;
}

/** @param typed the form that was refused; null: none was */
export const faultFormWith = (
  typed: RawParameters | null,
  problems: readonly Problem[],
): readonly { readonly name: string; readonly fields: readonly FilledField[] }[] =>
  faultForm.groups.map(({ name, fields }) => ({
    name,
    fields: fields.map((field) => ({
      ...field,
      typed: typed === null ? "" : (single(typed, field.name) ?? ""),
      problem: problems.find(({ path }) => path.split(/[.[]/).includes(field.name))?.message ?? null,
    })),
  }));

/** What testers want most. Each is a sentence in the locales. */
export const faultPresets: readonly { readonly name: string; readonly fields: Readonly<Record<string, string>> }[] = [
  { name: "token-503", fields: { endpoint: "token", status: "503" } },
  { name: "userinfo-slow", fields: { endpoint: "userinfo", delay: "5s" } },
  { name: "nonce-wrong", fields: { endpoint: "token", flaw: "nonce-wrong" } },
  { name: "signature-wrong", fields: { endpoint: "token", flaw: "signature-wrong" } },
  { name: "state-wrong", fields: { endpoint: "authorize", flaw: "state-wrong" } },
  {
    name: "lost-tokens",
    fields: { endpoint: "token", grant_type: "authorization_code", drop: "1", after: "1" },
  },
  { name: "keys-rotated", fields: { endpoint: "jwks", flaw: "keys-rotated" } },
];

/** `Retry-After: 2`, one per line. A line without a colon is a header without a value. */
const headersIn = (typed: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    typed.split("\n").map((line) => {
      const [name = "", value = ""] = line.split(/:(.*)/s);
      return [name.trim(), value.trim()];
    }),
  );

/** What was typed, as the operation takes it. A value of the wrong kind stays as it is, and the operation refuses it. */
function valueOf({ name, kind }: FaultField, typed: string): unknown {
  if (kind === "tick") return true;
  if (kind === "number" && /^\d{1,7}$/.test(typed)) return Number(typed);
  return name === "header" ? headersIn(typed) : typed;
}

/** @returns the fault as JSON */
export function faultIn(body: RawParameters): string {
  const given = faultForm.groups
    .flatMap(({ fields }) => fields)
    .flatMap((each) => {
      // Browsers end the lines of a form with CRLF.
      const typed = (single(body, each.name) ?? "").replaceAll("\r\n", "\n").trim();
      return typed === "" ? [] : [[each.name, valueOf(each, typed)]];
    });
  return JSON.stringify(Object.fromEntries(given));
}

/** @param fault as {@link faultIn} returns it; the operation checks it */
export const faultOf = (fault: string): FaultInput => parseJson(fault) as FaultInput;

/** The command that adds the same fault. */
export function faultCommand(fault: string): readonly string[] {
  const { endpoint, ...rest } = faultOf(fault);
  const flags = Object.entries(rest as Readonly<Record<string, unknown>>).flatMap(([name, value]) => {
    const flag = flagOf(name);
    if (value === true) return [flag];
    if (!isObject(value)) return flagWith(flag, String(value));
    return Object.entries(value).flatMap(([header, content]) => flagWith(flag, `${header}: ${String(content)}`));
  });
  return ["idp", "faults", "add", endpoint, ...flags];
}
