import { viewFor } from "./reader.ts";
import type { Request, Response } from "express";
import { leavesOf } from "../../core/sign-in/consent/consent.ts";
import { tryItClientId } from "../../core/base/identifiers.ts";
import { OAuthError, type Guidance } from "../../core/base/errors.ts";
import { readUserInfo } from "../../core/protocol/tokens/userinfo.ts";
import { reservedClaims } from "../../core/records/scopes/claim-table.ts";
import {
  beginTryIt,
  checkTryItCsrf,
  finishTryIt,
  isOwnResponse,
  removeTryItAccess,
  tryItCsrf,
  tryItPaths,
  type TryItSecrets,
} from "../../core/testing/try-it/try-it.ts";
import type { RawParameters } from "../../core/protocol/authorize/parameters.ts";
import type { DecodedToken } from "../../core/protocol/tokens/read/decode.ts";
import { exactJson } from "../../text/json.ts";
import { redirect } from "../answer/answer.ts";
import { answerTo, errorBody, HttpError } from "../answer/error-answers.ts";
import { knownBrowser, readBrowser, readTryItCookie, setBrowserCookie, setTryItCookie } from "../input/cookies.ts";
import { requireOwnOrigin } from "../input/host-check.ts";
import { bodyParameters, queryParameters, single } from "../input/params.ts";
import { note, noteRefusal, type Web } from "../web.ts";
import { sendPage, writerOf, type Page } from "./page-writer.ts";
import type { Renderer } from "./templates/render.ts";

/** "Try it": the built-in app that signs in from the start page (the setting `try_it`). */

/** The built-in app needs an ID token and UserInfo, which GitHub and Apple do not have both. */
export const offersTryIt = ({ ctx: { settings, layout } }: Web): boolean =>
  settings.try_it && layout.github !== true && layout.apple !== true;

/** @throws {HttpError} 404 if the setting is off */
function requireTryIt(web: Web): void {
  if (!offersTryIt(web)) {
    throw new HttpError(404, "there is nothing here: the setting try_it is off", {
      fix: { text: "Set try_it: true under settings of the fixture file" },
    });
  }
}

/** The form with which this browser begins a sign-in. `csrf`: for every form of the page. */
export function beginForm(web: Web, req: Request, res: Response) {
  const browser = knownBrowser(web, req);
  if (browser.isNew) setBrowserCookie(web, res, browser.id);
  return { beginAction: web.base + tryItPaths.begin, csrf: tryItCsrf(browser.id) };
}

/** The form of a page of ours. @throws {HttpError | InteractionError} if another site or another browser sent it */
function ownForm(web: Web, req: Request): RawParameters {
  requireTryIt(web);
  requireOwnOrigin(web, req);
  const body = bodyParameters(req);
  checkTryItCsrf(readBrowser(web, req).id, single(body, "csrf") ?? "");
  return body;
}

export const postTryIt = (web: Web) => async (req: Request, res: Response) => {
  const body = ownForm(web, req);
  const { path, secrets } = await beginTryIt(web.ctx, single(body, "login_hint"));
  const { state, nonce, verifier } = secrets;
  setTryItCookie(web, res, `${state}.${nonce}.${verifier}`);
  note(res, { client: tryItClientId, outcome: { kind: "to-authorization" } });
  redirect(res, web.base + path);
};

function secretsOf(cookie: string): TryItSecrets | null {
  const [state = "", nonce = "", verifier = ""] = cookie.split(".");
  return state === "" || nonce === "" || verifier === "" ? null : { state, nonce, verifier };
}

export const getTryItCallback = (web: Web) => async (req: Request, res: Response) => {
  requireTryIt(web);
  note(res, { client: tryItClientId });
  const query = queryParameters(req);
  const response = {
    state: single(query, "state"),
    iss: single(query, "iss"),
    code: single(query, "code"),
    error: single(query, "error"),
    error_description: single(query, "error_description"),
  };
  const secrets = secretsOf(readTryItCookie(web, req) ?? "");
  if (!isOwnResponse(secrets, response)) {
    sendFailed(web, req, res, "over", {
      code: "invalid_request",
      message: "state does not belong to a request of this browser",
      rule: "RFC 6749 10.12",
      fix: "begin again with the button",
    });
    return;
  }
  setTryItCookie(web, res, "");
  if (response.error !== undefined) {
    sendFailed(web, req, res, "refused", {
      code: response.error,
      message: response.error_description ?? "",
      // The authorization endpoint, or a fault, refused: the request before this one says why.
      rule: "RFC 6749 4.1.2.1",
      fix: "begin again with the button",
    });
    return;
  }
  try {
    const { accessToken, idToken, username } = await finishTryIt(web.ctx, secrets, response);
    note(res, { user: username, outcome: { kind: "signed-in" } });
    await sendTryIt(web, req, res, { state: "done", accessToken, idToken });
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    sendFailed(web, req, res, "refused", error);
  }
};

/** The sign-in failed. */
export type TryItFailedView = ReturnType<typeof failedView>;

type Failure = Pick<OAuthError, "message"> & Guidance & { readonly code: string };

/** @param state `refused`: by the server. `over`: the response does not belong to a request of this browser. */
const failedView = (web: Web, req: Request, res: Response, state: "refused" | "over", { code, message }: Failure) => ({
  ...viewFor(web, req, res),
  keptQuery: null,
  ...beginForm(web, req, res),
  state,
  error: code,
  description: message,
  homeHref: `${web.base}/`,
});

export function renderTryItFailed(renderer: Renderer, view: TryItFailedView): Page {
  const { page, say } = writerOf(renderer, view);
  const { state } = view;
  const heading = { name: "try-it", state, title: say(`try-it.title-${state}`), failed: true };
  return page("try-it-failed", heading, { ...view, sentence: say(`try-it.${state}`) });
}

function sendFailed(web: Web, req: Request, res: Response, state: TryItFailedView["state"], failure: Failure): void {
  const { code, message, rule, fix } = failure;
  noteRefusal(res, { code, message, rule, fix });
  sendPage(res, 400, renderTryItFailed(web.renderer, failedView(web, req, res, state, failure)));
}

export const postTryItUserInfo = (web: Web) => async (req: Request, res: Response) => {
  const body = ownForm(web, req);
  const accessToken = single(body, "access_token") ?? "";
  const removes = single(body, "remove") !== undefined;
  if (removes) await removeTryItAccess(web.ctx, accessToken);
  note(res, { client: tryItClientId, outcome: { kind: removes ? "access-removed" : "userinfo-called" } });
  await sendTryIt(web, req, res, { state: removes ? "removed" : "called", accessToken, idToken: null });
};

/** Calls UserInfo as the app does. A refusal is shown as the endpoint answers it. */
async function callUserInfo(web: Web, token: string) {
  const path = web.base + web.ctx.layout.paths.userinfo;
  try {
    const { body } = await readUserInfo(web.ctx, { token, scheme: "Bearer", proof: null });
    return { path, status: 200, body: JSON.stringify(body, null, 2) };
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const answer = answerTo(error, web.commandLine);
    return { path, status: answer.status, body: JSON.stringify(errorBody(error, answer), null, 2) };
  }
}

/** What an ID token says about the user, without what it says about itself. */
function claimsOf({ payload }: DecodedToken) {
  const ofToken = reservedClaims.filter((name) => name !== "sub");
  return leavesOf(Object.fromEntries(Object.entries(payload).filter(([name]) => !ofToken.includes(name))));
}

interface Received {
  /** After the sign-in, after another call of UserInfo, or after the access was removed. */
  readonly state: "done" | "called" | "removed";
  readonly accessToken: string;
  /** Null on the pages after the first. */
  readonly idToken: DecodedToken | null;
}

/** What the app received. */
export type TryItView = Awaited<ReturnType<typeof tryItView>>;

async function tryItView(web: Web, req: Request, res: Response, { state, accessToken, idToken }: Received) {
  return {
    ...viewFor(web, req, res),
    // No link may lead back here: the address of the callback has a code, and the other address answers a form.
    keptQuery: null,
    state,
    /** Calls UserInfo again; first removes the access, if asked to. */
    action: web.base + tryItPaths.userinfo,
    ...beginForm(web, req, res),
    accessToken,
    idToken: idToken && {
      claims: claimsOf(idToken),
      /** Header and payload, as JSON. */
      decoded: exactJson({ header: idToken.header, payload: idToken.payload }, 2),
    },
    /** The last call. */
    userinfo: await callUserInfo(web, accessToken),
    homeHref: `${web.base}/`,
  };
}

export function renderTryIt(renderer: Renderer, view: TryItView): Page {
  const { page, say, field } = writerOf(renderer, view);
  const { idToken, state, userinfo } = view;
  const answered = userinfo.status === 200;
  const title = say(`try-it.title-${state}`);
  return page(
    "try-it",
    { state, title },
    {
      ...view,
      answered,
      sentence: say(state === "done" ? "try-it.done" : answered ? "try-it.answered" : `try-it.${state}-refused`),
      idToken: idToken && { ...idToken, claims: idToken.claims.map(field) },
    },
  );
}

const sendTryIt = async (web: Web, req: Request, res: Response, received: Received): Promise<void> => {
  sendPage(res, 200, renderTryIt(web.renderer, await tryItView(web, req, res, received)));
};
