import type { Request, Response } from "express";
import { OperationError } from "../../core/errors.ts";
import { decodeToken, findTokens, type FoundToken } from "../../core/tokens/read/decode.ts";
import { verifyToken } from "../../core/tokens/read/verify.ts";
import { exactJson } from "../../text/json-digits.ts";
import { single } from "../input/params.ts";
import { pageCommand } from "../pages/commands.ts";
import { sendPage } from "../pages/page-writer.ts";
import type { Web } from "../web.ts";
import { changeOf, inspectorHref } from "./access.ts";
import { statusFor, tabView, type ShowTab } from "./tab.ts";
import { tabs } from "./tabs.ts";
import { renderTokens, type TokenView } from "./views.ts";

/**
 * Decodes a token and shows every check. The token is sent by POST, so that no address, log or history keeps it. The page does not repeat
 * it.
 */

/** A token response has up to three tokens. */
const maxTokens = 5;

export const showTokens: ShowTab = async (web, req, res, refusal) => {
  send(web, req, res, [], refusal);
};

function send(
  web: Web,
  req: Request,
  res: Response,
  tokens: readonly TokenView[],
  refusal: OperationError | null,
): void {
  const view = {
    ...tabView(web, req, res, refusal),
    action: inspectorHref(web, tabs.tokens),
    command: pageCommand(web, ["idp", "token", "verify", "-"]).command,
    tokens,
  };
  sendPage(res, statusFor(web, refusal), renderTokens(web.renderer, view));
}

async function examine({ ctx }: Web, { name, token }: FoundToken): Promise<TokenView> {
  const { header, payload } = decodeToken(token, ctx.now());
  const { valid, checks, notes } = await verifyToken(ctx, { token });
  return { name, header: exactJson(header, 2), payload: exactJson(payload, 2), valid, checks, notes };
}

export const postTokens = (web: Web) => async (req: Request, res: Response) => {
  const body = changeOf(web, req);
  try {
    const found = findTokens(single(body, "token") ?? "").slice(0, maxTokens);
    send(web, req, res, await Promise.all(found.map((one) => examine(web, one))), null);
  } catch (error) {
    if (!(error instanceof OperationError)) throw error;
    send(web, req, res, [], error);
  }
};
