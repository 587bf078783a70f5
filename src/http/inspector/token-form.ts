import type { RawParameters } from "../../core/authorize/parameters.ts";
import { tokenFlaws } from "../../core/controls/faults/token-flaws.ts";
import { flagWith } from "../../core/hint.ts";
import type { OperationInput, OperationName } from "../../core/operations/table.ts";
import { every, single } from "../input/params.ts";
import type { Page } from "../pages/page-writer.ts";
import type { Renderer } from "../pages/templates/render.ts";
import { tabPage, type NamesView, type TabView } from "./views.ts";

/** The tab that makes tokens and examines them, and the form of a new one: its fields are those of the operation, and the flags of the command. */

/** One token of a kind, or the whole response of the token endpoint. */
const kinds = ["access", "id", "refresh", "all"] as const;

const fields = ["kind", "user", "client", "scope", "audience", "expires_in"] as const;

/** What the form of a new token says that it is. */
export const makeToken = "make-token";

/** What was typed. */
export interface TokenForm {
  readonly values: Readonly<Record<(typeof fields)[number], string>>;
  readonly flaws: readonly string[];
}

export function tokenFormIn(body: RawParameters): TokenForm {
  const valueOf = (name: string): string => (single(body, name) ?? "").trim();
  return {
    values: Object.fromEntries(fields.map((name) => [name, valueOf(name)])) as TokenForm["values"],
    flaws: tokenFlaws.filter((flaw) => every(body, "flaws").includes(flaw)),
  };
}

type Makes = "token.issue" | "issue.tokens";

/** The operation that makes what somebody filled in. A value of the wrong kind stays as it is, and the operation refuses it. */
export function operationFor({ values, flaws }: TokenForm): {
  readonly name: Makes & OperationName;
  readonly input: OperationInput<Makes>;
} {
  const { kind, expires_in: life, ...texts } = values;
  const given = Object.fromEntries<unknown>(Object.entries(texts).filter(([, text]) => text !== ""));
  const isWhole = kind === "all";
  const input = {
    ...given,
    ...(!isWhole && kind !== "" && { type: kind }),
    ...(life !== "" && { expires_in: /^\d{1,9}$/.test(life) ? Number(life) : life }),
    ...Object.fromEntries(flaws.map((flaw) => [flaw, true])),
  };
  return { name: isWhole ? "issue.tokens" : "token.issue", input: input as OperationInput<Makes> };
}

const flagOf = (name: string): string => `--${name.replaceAll("_", "-")}`;

/** The command that makes the same. */
export function tokenCommand(form: TokenForm): readonly string[] {
  const { name, input } = operationFor(form);
  const flags = Object.entries(input as Readonly<Record<string, unknown>>).flatMap(([field, value]) =>
    value === true ? [flagOf(field)] : flagWith(flagOf(field), String(value)),
  );
  return ["idp", ...name.split("."), ...flags];
}

export interface TokenView {
  /** Its member in the token response; null: the token was pasted alone. */
  readonly name: string | null;
  /** JSON. */
  readonly header: string;
  readonly payload: string;
  readonly valid: boolean;
  /** Each check, as `idp token verify` words it. English. */
  readonly checks: readonly { readonly name: string; readonly ok: boolean; readonly detail: string }[];
  readonly notes: readonly string[];
}

export interface TokensView extends TabView {
  readonly action: string;
  readonly command: string;
  readonly tokens: readonly TokenView[];
  readonly makeToken: string;
  /** Null: the person may make none. */
  readonly form: (TokenForm & NamesView & { readonly command: string }) | null;
  /** What was made just now. The warnings are English. */
  readonly made: {
    readonly texts: readonly { readonly name: string; readonly text: string }[];
    readonly warnings: readonly string[];
    readonly command: string;
    readonly beside: string | null;
  } | null;
}

export const renderTokens = (renderer: Renderer, view: TokensView): Page =>
  tabPage(renderer, view, "tokens", () => ({ kinds, allFlaws: tokenFlaws }), { copies: true });
