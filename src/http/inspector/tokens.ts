import type { Request, Response } from "express";
import type { RawParameters } from "../../core/protocol/authorize/parameters.ts";
import { OperationError } from "../../core/base/errors.ts";
import type { OperationName } from "../../core/admin/operations/routes.ts";
import { perform, type OperationInput } from "../../core/admin/operations/table.ts";
import { InteractionError } from "../../core/sign-in/interactions.ts";
import { decodeToken, findTokens, type FoundToken } from "../../core/protocol/tokens/read/decode.ts";
import { verifyToken } from "../../core/protocol/tokens/read/verify.ts";
import { exactJson, isObject } from "../../text/json.ts";
import { tokenFlaws } from "../../core/testing/controls/faults/flaws/access-token.ts";
import { flagOf, flagWith } from "../../core/base/hint.ts";
import { performed } from "../api/api.ts";
import { single, every } from "../input/params.ts";
import { pageCommand } from "../pages/commands.ts";
import { sendPage, type Page } from "../pages/page-writer.ts";
import type { Web } from "../web.ts";
import type { Renderer } from "../pages/templates/render.ts";
import { tabs, asAsked, changeOf, inspectorHref, mayHere } from "./access.ts";
import { namesIn, statusFor, tabPage, tabView, type ShowTab } from "./tab.ts";

/**
 * The tab that makes tokens, and decodes and checks those that are pasted. The fields of its form are those of the operation, and the flags of
 * the command. Tokens are sent by POST, so that no address, log or history keeps them. The page does not repeat one that was pasted.
 */

/** One token of a kind, or the whole response of the token endpoint. */
const kinds = ["access", "id", "refresh", "all"] as const;

const fields = ["kind", "user", "client", "scope", "audience", "expires_in"] as const;

/** What the form of a new token says that it is. */
export const makeToken = "make-token";

/** What was typed. */
interface TokenForm {
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
function operationFor({ values, flaws }: TokenForm): {
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

/** The command that makes the same. */
function tokenCommand(form: TokenForm): readonly string[] {
  const { name, input } = operationFor(form);
  const flags = Object.entries(input as Readonly<Record<string, unknown>>).flatMap(([field, value]) =>
    value === true ? [flagOf(field)] : flagWith(flagOf(field), String(value)),
  );
  return ["idp", ...name.split("."), ...flags];
}

/** What the tab shows. */
export type TokensView = Awaited<ReturnType<typeof tokensView>>;

export const renderTokens = (renderer: Renderer, view: TokensView): Page =>
  tabPage(renderer, view, "tokens", () => ({ kinds, allFlaws: tokenFlaws }), { copies: true });

/** A token response has up to three tokens. */
const maxTokens = 5;

/** What a page of the tab shows. */
interface Shown {
  readonly tokens?: Awaited<ReturnType<typeof examineAll>>;
  readonly made?: Awaited<ReturnType<typeof make>>["made"];
  /** The values of the form that was sent. */
  readonly typed?: TokenForm;
  readonly refusal?: OperationError | null;
}

export const showTokens: ShowTab = (web, req, res, refusal) => send(web, req, res, { refusal });

/** Null: the person may make none. */
async function formFor(web: Web, typed: TokenForm) {
  if (!mayHere(web, "token.issue")) return null;
  const { command } = pageCommand(web, ["idp", "token", "issue", "--user", "USERNAME", "--client", "CLIENT_ID"]);
  return { ...typed, command, ...(await namesIn(web)) };
}

async function send(web: Web, req: Request, res: Response, shown: Shown): Promise<void> {
  const view = await tokensView(web, req, res, shown);
  sendPage(res, statusFor(web, shown.refusal ?? null), renderTokens(web.renderer, view));
}

async function tokensView(web: Web, req: Request, res: Response, shown: Shown) {
  const { tokens = [], made = null, typed = tokenFormIn({}), refusal = null } = shown;
  return {
    ...tabView(web, req, res, refusal),
    action: inspectorHref(web, tabs.tokens),
    command: pageCommand(web, ["idp", "token", "verify", "-"]).command,
    ...{ tokens, made },
    makeToken,
    form: await formFor(web, typed),
  };
}

/** @param found `name`: its member in the token response; null: it was pasted alone */
async function examine({ ctx }: Web, { name, token }: FoundToken) {
  const { header, payload } = decodeToken(token, ctx.now());
  const { valid, checks, notes } = await verifyToken(ctx, { token });
  return { name, header: exactJson(header, 2), payload: exactJson(payload, 2), valid, checks, notes };
}

const examineAll = (web: Web, text: string) =>
  Promise.all(
    findTokens(text)
      .slice(0, maxTokens)
      .map((one) => examine(web, one)),
  );

/** Makes what the form says, for the person who asks. Its warnings are English. */
async function make(web: Web, form: TokenForm) {
  const { operator } = web;
  if (operator === undefined) throw new InteractionError("csrf");
  const { name, input } = operationFor(form);
  const asked = { name, input, by: operator, status: 201 };
  const answer: unknown = await performed(web, asked, () =>
    perform(web.ctx, name, input, { server: null, by: operator }),
  );
  const response = isObject(answer) ? answer : {};
  const single = Object.entries(response).flatMap(([member, text]) =>
    /^(?:|access_|id_|refresh_)token$/.test(member) && typeof text === "string" ? [{ name: member, text }] : [],
  );
  const whole = { name: "token_response", text: JSON.stringify(response, null, 2) };
  const isOne = "token" in response;
  const { warnings } = response;
  return {
    made: {
      texts: isOne ? single : [...single, whole],
      warnings: Array.isArray(warnings) ? warnings.map(String) : [],
      ...pageCommand(web, tokenCommand(form)),
    },
    tokens: await examineAll(web, isOne ? (single[0]?.text ?? "") : whole.text),
  };
}

async function answerTo(web: Web, body: RawParameters, typed: TokenForm): Promise<Shown> {
  if (single(body, "change") === makeToken) return make(web, typed);
  return { tokens: await examineAll(web, single(body, "token") ?? "") };
}

export const postTokens = (all: Web) => async (req: Request, res: Response) => {
  const body = changeOf(all, req);
  const web = asAsked(all, req);
  const typed = tokenFormIn(body);
  try {
    await send(web, req, res, { ...(await answerTo(web, body, typed)), typed });
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    await send(web, req, res, { typed, refusal: error });
  }
};
