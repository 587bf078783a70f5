import type { Request, Response } from "express";
import type { RawParameters } from "../../core/authorize/parameters.ts";
import { OperationError } from "../../core/errors.ts";
import { perform } from "../../core/operations/table.ts";
import { InteractionError } from "../../core/sign-in/interactions.ts";
import { decodeToken, findTokens, type FoundToken } from "../../core/tokens/read/decode.ts";
import { verifyToken } from "../../core/tokens/read/verify.ts";
import { exactJson, isObject } from "../../text/json.ts";
import { performed } from "../api/api.ts";
import { single } from "../input/params.ts";
import { pageCommand } from "../pages/commands.ts";
import { sendPage } from "../pages/page-writer.ts";
import type { Web } from "../web.ts";
import { asAsked, changeOf, inspectorHref, mayHere } from "./access.ts";
import { namesIn, statusFor, tabView, type ShowTab } from "./tab.ts";
import { tabs } from "./tabs.ts";
import {
  operationFor,
  makeToken,
  renderTokens,
  tokenCommand,
  tokenFormIn,
  type TokenForm,
  type TokensView,
  type TokenView,
} from "./token-form.ts";

/**
 * Makes tokens; decodes a token and shows every check. Tokens are sent by POST, so that no address, log or history keeps them. The page does
 * not repeat one that was pasted.
 */

/** A token response has up to three tokens. */
const maxTokens = 5;

/** What a page of the tab shows. */
interface Shown {
  readonly tokens?: readonly TokenView[];
  readonly made?: TokensView["made"];
  /** Of the form that was sent. */
  readonly typed?: TokenForm;
  readonly refusal?: OperationError | null;
}

export const showTokens: ShowTab = (web, req, res, refusal) => send(web, req, res, { refusal });

async function formFor(web: Web, typed: TokenForm): Promise<TokensView["form"]> {
  if (!mayHere(web, "token.issue")) return null;
  const { command } = pageCommand(web, ["idp", "token", "issue", "--user", "USERNAME", "--client", "CLIENT_ID"]);
  return { ...typed, command, ...(await namesIn(web)) };
}

async function send(web: Web, req: Request, res: Response, shown: Shown): Promise<void> {
  const { tokens = [], made = null, typed = tokenFormIn({}), refusal = null } = shown;
  const view = {
    ...tabView(web, req, res, refusal),
    action: inspectorHref(web, tabs.tokens),
    command: pageCommand(web, ["idp", "token", "verify", "-"]).command,
    ...{ tokens, made },
    makeToken,
    form: await formFor(web, typed),
  };
  sendPage(res, statusFor(web, refusal), renderTokens(web.renderer, view));
}

async function examine({ ctx }: Web, { name, token }: FoundToken): Promise<TokenView> {
  const { header, payload } = decodeToken(token, ctx.now());
  const { valid, checks, notes } = await verifyToken(ctx, { token });
  return { name, header: exactJson(header, 2), payload: exactJson(payload, 2), valid, checks, notes };
}

const examineAll = (web: Web, text: string): Promise<readonly TokenView[]> =>
  Promise.all(
    findTokens(text)
      .slice(0, maxTokens)
      .map((one) => examine(web, one)),
  );

/** Makes what the form says, for the person who asks. */
async function make(web: Web, form: TokenForm): Promise<Pick<Shown, "made" | "tokens">> {
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
