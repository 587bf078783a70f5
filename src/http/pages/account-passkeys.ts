import type { Request, Response } from "express";
import { addPasskey, removePasskey, type PasskeyChange } from "../../core/sign-in/factors/passkeys.ts";
import { redirect } from "../answer/answer.ts";
import { readBrowser } from "../input/cookies.ts";
import { requireOwnOrigin } from "../input/host-check.ts";
import { bodyParameters, single } from "../input/params.ts";
import { note, type Web } from "../web.ts";
import { accountPath, signInFirst } from "./account.ts";

/** The forms of the account page that add and remove passkeys. */

export const postAddPasskey = (web: Web) => async (req: Request, res: Response) => {
  requireOwnOrigin(web, req);
  const body = bodyParameters(req);
  const form = { csrf: single(body, "csrf") ?? "", passkey: single(body, "passkey") ?? "" };
  await answer(web, req, res, await addPasskey(web.ctx, readBrowser(web, req), form), "passkey-added");
};

export const postRemovePasskey = (web: Web) => async (req: Request, res: Response) => {
  requireOwnOrigin(web, req);
  const body = bodyParameters(req);
  const form = { csrf: single(body, "csrf") ?? "", id: single(body, "id") ?? "" };
  await answer(web, req, res, await removePasskey(web.ctx, readBrowser(web, req), form), "passkey-removed");
};

async function answer(
  web: Web,
  req: Request,
  res: Response,
  change: PasskeyChange,
  done: "passkey-added" | "passkey-removed",
): Promise<void> {
  if (change === null || change === "factor") {
    await signInFirst(web, req, res, accountPath, "factor");
    return;
  }
  const outcome = change === "done" ? done : "passkey-refused";
  note(res, { outcome: { kind: outcome } });
  redirect(res, `${web.base}${accountPath}?${outcome}=1`);
}
