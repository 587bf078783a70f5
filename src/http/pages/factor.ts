import { requestView, viewFor } from "./reader.ts";
import { personOf } from "./views.ts";
import type { Response } from "express";
import type { Guidance } from "../../core/base/errors.ts";
import { giveFactor, showFactor, type FactorPage } from "../../core/sign-in/factors/factor.ts";
import { resumeSignIn } from "../../core/sign-in/next-step.ts";
import { takeStep } from "../oauth/authorize.ts";
import { knownBrowser, readBrowser } from "../input/cookies.ts";
import { requireOwnOrigin, passkeysElsewhere } from "../input/host-check.ts";
import { bodyParameters, queryParameters, single, type UidRequest } from "../input/params.ts";
import { note, noteRefusal, type Web } from "../web.ts";
import { sendPage, writerOf, type Page } from "./page-writer.ts";
import { accountPath } from "./account.ts";
import { formPageHeaders, passkeyPageHeaders } from "../answer/security-headers.ts";
import { passkeyScript, type Renderer } from "./templates/render.ts";
import { formatDuration } from "./templates/texts.ts";

export function renderFactor(renderer: Renderer, view: FactorView): Page {
  const { page, lang, say, plain } = writerOf(renderer, view);
  const { state, code, asked } = view;
  return page(
    "factor",
    { state, title: say(`factor.title-${asked}`), failed: state.startsWith("error-") },
    {
      ...view,
      notes: view.notes.map(plain),
      code: code?.code ?? null,
      validFor: code?.code == null ? null : formatDuration(code.expiresIn, lang),
      wait: code === null || code.code !== null ? null : formatDuration(code.wait, lang),
      script: view.options === null ? null : passkeyScript(renderer, view.base),
    },
    view.options === null ? formPageHeaders : passkeyPageHeaders,
  );
}

/** The page that asks for a one-time code or a passkey. */

const refusals = {
  otp: (user: string): Guidance & { readonly message: string } => ({
    message: "wrong code",
    rule: "RFC 6238 5.2",
    fix: { text: "To see the code of now", command: ["idp", "users", "otp", user] },
  }),
  passkey: (): Guidance & { readonly message: string } => ({
    message: "passkey refused",
    rule: "OpenID Connect Core 3.1.2.3",
    fix: "use a passkey that the user registered here, on the account page",
  }),
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
    noteRefusal(res, refusals[result.factor](result.username));
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
  const { ctx } = web;
  const page = await showFactor(ctx, req.params.uid, readBrowser(web, req), wanted);
  if (page === null) {
    await takeStep(web, req, res, await resumeSignIn(ctx, req.params.uid, readBrowser(web, req)));
    return;
  }
  if (refused === null) note(res, { user: page.user.username, outcome: { kind: "factor-page" } });
  sendPage(res, refused === null ? 200 : 401, renderFactor(web.renderer, factorView(web, req, res, page, refused)));
}

/** What the page shows. */
export type FactorView = ReturnType<typeof factorView>;

function factorView(
  web: Web,
  req: UidRequest,
  res: Response,
  page: FactorPage,
  refused: "error-otp" | "error-passkey" | null,
) {
  const path = `${web.base}/interaction/${req.params.uid}/factor`;
  const shown = viewFor(web, req, res, page);
  const { client, asked, instead, code } = page;
  const elsewhere = passkeysElsewhere(web, req);
  return {
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
    /** What the script asks the authenticator for, as JSON; null: no passkey can be used. */
    options: page.options === null || elsewhere !== null ? null : JSON.stringify(page.options),
    /** The address at which passkeys work, if this page is at another one. */
    elsewhere: asked === "passkey" ? elsewhere : null,
    insecure: page.insecure,
    instead,
    /** The page to go back to, on one of our own pages; null: the form cancels, and the browser goes back to the app. */
    cancelHref: client === null ? web.base + accountPath : null,
    insteadHref: instead === null ? null : `${path}?instead=${instead}`,
    // Links from the answer to a form lead back to this page, without the error.
    keptQuery: shown.keptQuery ?? "",
  };
}
