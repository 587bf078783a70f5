import type { Response } from "express";
import type { Guidance } from "../../core/errors.ts";
import { giveFactor, showFactor } from "../../core/factors/factor.ts";
import { goOn } from "../../core/sign-in/next-step.ts";
import { takeStep } from "../oauth/authorize.ts";
import { knownBrowser, readBrowser } from "../input/cookies.ts";
import { requireOwnOrigin } from "../input/form-origin.ts";
import { passkeysElsewhere } from "../input/host-check.ts";
import { bodyParameters, queryParameters, single, type UidRequest } from "../input/params.ts";
import { note, noteRefusal, type Web } from "../web.ts";
import { sendPage } from "./page-writer.ts";
import { renderFactor } from "./factor-view.ts";
import { accountPath } from "./account.ts";
import { personOf } from "./person.ts";
import { viewFor } from "./reader.ts";
import { requestView } from "./scope-words.ts";

/** The page that asks for a one-time code or a passkey. */

const refusals = {
  otp: (user: string): [string, Guidance] => [
    "wrong code",
    { rule: "RFC 6238 5.2", fix: { text: "To see the code of now", command: ["idp", "users", "otp", user] } },
  ],
  passkey: (): [string, Guidance] => [
    "passkey refused",
    { rule: "OpenID Connect Core 3.1.2.3", fix: "use a passkey that the user registered here, on the account page" },
  ],
};

export const getFactor = (web: Web) => async (req: UidRequest, res: Response) => {
  await sendFactor(web, req, res, null, single(queryParameters(req), "instead"));
};

export const postFactor = (web: Web) => async (req: UidRequest, res: Response) => {
  requireOwnOrigin(web, req);
  const body = bodyParameters(req);
  const result = await giveFactor(web.ctx, req.params.uid, knownBrowser(web, req), {
    csrf: single(body, "csrf") ?? "",
    otp: single(body, "otp"),
    passkey: single(body, "passkey"),
    cancel: single(body, "cancel") !== undefined,
  });
  if (result.kind === "refused") {
    note(res, { user: result.username });
    noteRefusal(web, res, ...refusals[result.factor](result.username));
    await sendFactor(web, req, res, `error-${result.factor}`, result.factor);
    return;
  }
  if (result.username !== null) note(res, { user: result.username });
  await takeStep(web, req, res, result, result.proof);
};

async function sendFactor(
  web: Web,
  req: UidRequest,
  res: Response,
  refused: "error-otp" | "error-passkey" | null,
  wanted: string | undefined,
): Promise<void> {
  const { ctx, base } = web;
  const page = await showFactor(ctx, req.params.uid, readBrowser(web, req), wanted);
  if (page === null) {
    await takeStep(web, req, res, await goOn(ctx, req.params.uid, readBrowser(web, req)));
    return;
  }
  if (refused === null) note(res, { user: page.user.username, outcome: "factor page" });
  const path = `${base}/interaction/${req.params.uid}/factor`;
  const shown = viewFor(web, req, res, page);
  const { client, asked, instead, code } = page;
  const elsewhere = passkeysElsewhere(web, req);
  const view = {
    ...requestView(page.request),
    ...shown,
    state: refused ?? asked,
    action: path,
    csrf: page.csrf,
    client: client === null ? null : { id: client.id, name: client.name(shown.lang) },
    user: personOf(page.user),
    asked,
    code,
    button: page.button,
    options: page.options === null || elsewhere !== null ? null : JSON.stringify(page.options),
    elsewhere: asked === "passkey" ? elsewhere : null,
    insecure: page.insecure,
    instead,
    // On one of our own pages the user is signed in already.
    cancelHref: client === null ? base + accountPath : null,
    insteadHref: instead === null ? null : `${path}?instead=${instead}`,
    // Links from the answer to a form lead back to this page, without the error.
    keptQuery: shown.keptQuery ?? "",
  };
  sendPage(res, refused === null ? 200 : 401, renderFactor(web.renderer, view));
}
