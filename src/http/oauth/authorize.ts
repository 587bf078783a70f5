/*
 * http/oauth: the endpoints of the protocol, one file per endpoint, named as in the contract.
 */
import type { Outcome, OutcomeKind } from "../../core/testing/ledger/outcome.ts";
import { viewFor } from "../pages/reader.ts";
import type { Request, Response } from "express";
import { beginAuthorization } from "../../core/protocol/authorize/authorize.ts";
import type { StepResult } from "../../core/sign-in/next-step.ts";
import { authorizeParameters, type RawParameters } from "../../core/protocol/authorize/parameters.ts";
import { OAuthError } from "../../core/base/errors.ts";
import { redirect } from "../answer/answer.ts";
import { noteUnchecked } from "../answer/cleaned.ts";
import { knownBrowser, readBrowser, setBrowserCookie, setSessionCookie } from "../input/cookies.ts";
import { bodyParameters, clientQuery, single } from "../input/params.ts";
import { sendAssertion } from "../saml/post.ts";
import { note, type Web } from "../web.ts";
import { sendMessage, sendPage, renderFormPost } from "../pages/page-writer.ts";
import { responseLocation, type AuthorizationResponse } from "../../core/sign-in/response.ts";

type ReturnStep = Extract<StepResult["step"], { kind: "return" }>;

export const getAuthorize = (web: Web) => (req: Request, res: Response) => authorize(web, req, res, clientQuery(req));

/**
 * The authorization endpoint (RFC 6749 3.1) for POST. A POST from the client's page is cross-site, so it comes without the session cookie
 * (SameSite). The same request as a GET comes with it.
 */
export const postAuthorize = (web: Web) => async (req: Request, res: Response) => {
  const parameters = bodyParameters(req);
  const isAlone = readBrowser(web, req).session === null;
  const location = isAlone ? asGet(web, web.ctx.layout.paths.authorize, parameters, authorizeParameters) : null;
  if (location === null) {
    await authorize(web, req, res, parameters);
    return;
  }
  await noteUnchecked(web, req, res);
  redirect(res, location);
};

/**
 * Refuses a request that came without cookies and is too long to be repeated with them. An answer without them would set new ones, so any
 * page could replace those of the browser.
 * @param next what the client can do instead
 */
export const tooLongForGet = (next: string): OAuthError =>
  new OAuthError(
    "invalid_request",
    `the request came without cookies, and is too long to be repeated as GET: ${next}`,
    {
      // A limit of proxies, not of a standard.
      rule: null,
      fix: "push the request to the PAR endpoint first",
    },
  );

/** Characters: common proxies refuse longer request lines. */
const maxLocationLength = 12_000;

/**
 * The same request as a GET, which comes with the session cookie; null if it would be too long.
 * @param known the parameters of the endpoint. Any other is left out: a secret that has no place there is not written into an address
 */
export function asGet(web: Web, path: string, parameters: RawParameters, known: readonly string[]): string | null {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters).filter(([name]) => known.includes(name))) {
    for (const item of typeof value === "string" ? [value] : (value ?? [])) query.append(name, item);
  }
  const location = `${web.base}${path}?${query.toString()}`;
  return location.length > maxLocationLength ? null : location;
}

async function authorize(web: Web, req: Request, res: Response, parameters: RawParameters): Promise<void> {
  const clientId = parameters["client_id"];
  note(res, { client: typeof clientId === "string" ? clientId : null });
  const browser = knownBrowser(web, req);
  const result = await beginAuthorization(web.ctx, parameters, browser);
  if (browser.isNew && result.step.kind === "page") {
    if (req.method === "POST" && browser.session === null) throw tooLongForGet("shorten it, or push it (RFC 9126)");
    setBrowserCookie(web, res, browser.id);
  }
  // The response of a sign-in that ends here says it too.
  const ofState = web.ctx.layout.github === true && single(parameters, "state") === undefined ? [withoutState] : [];
  const remarks = [...(result.step.kind === "page" ? patternRemarks(result.pattern) : []), ...ofState];
  await takeStep(web, req, res, result, null, remarks);
}

/** What the ledger says of an app of GitHub, where PKCE and nonce are no help against forged responses. */
const withoutState =
  "no state was sent: any site can sign its visitors in at this app as somebody else (RFC 6749 10.12)";

/** What the ledger says of a redirect URI that is not registered itself. */
export const patternRemarks = (pattern: string | null): readonly string[] =>
  pattern === null ? [] : [`redirect_uri let in by the pattern ${pattern}`];

/** Sends the browser to the next step. @param proof what the user just proved, for the log @param remarks on the request, for the ledger */
export async function takeStep(
  web: Web,
  req: Request,
  res: Response,
  { step, sessionCookie }: StepResult,
  proof: string | null = null,
  remarks: readonly string[] = [],
): Promise<void> {
  const after = (kind: OutcomeKind, more: readonly string[] = []): Outcome => {
    const all = [...remarks, ...more];
    return { kind, ...(proof !== null && { proof }), ...(all.length > 0 && { remarks: all }) };
  };
  if (sessionCookie !== null) setSessionCookie(web, res, sessionCookie);
  switch (step.kind) {
    case "page":
      note(res, { outcome: after(`${step.page}-page`) });
      redirect(res, `${web.base}/interaction/${step.uid}/${step.page}`);
      return;
    case "own-page":
      redirect(res, web.base + step.path);
      return;
    case "saml":
      await sendAssertion(web, req, res, step, remarks);
      return;
    case "return":
      note(res, {
        client: step.clientId,
        user: step.username,
        outcome: after("back-to-the-client-with-a-code", patternRemarks(step.answer.target.pattern)),
      });
      res.locals["authorizationResponse"] = step;
      sendToClient(web, req, res, step.answer);
  }
}

/** The authorization response that a request ends with, if it grants something; else null. */
export const authorizationResponseOf = (res: Response): ReturnStep | null =>
  (res.locals["authorizationResponse"] as ReturnStep | undefined) ?? null;

/**
 * Answers the client: with a redirect, with a page whose form the browser posts (OAuth 2.0 Form Post Response Mode 2), or, for the SDKs of
 * some vendors, with a message to the client's page.
 */
export function sendToClient(web: Web, req: Request, res: Response, answer: AuthorizationResponse): void {
  const { target, parameters } = answer;
  const { messages } = web.ctx.layout;
  const isMessage = messages?.mode === target.mode;
  if (target.mode !== "form_post" && !isMessage) {
    redirect(res, responseLocation(answer));
    return;
  }
  note(res, { answer: { location: target.redirectUri, parameters } });
  if (isMessage) {
    const response = Object.fromEntries(parameters);
    const message = messages.type === undefined ? response : { type: messages.type, response };
    sendMessage(res, message, new URL(target.redirectUri).origin);
    return;
  }
  const view = { ...viewFor(web, req, res), action: target.redirectUri, parameters };
  sendPage(res, 200, renderFormPost(web.renderer, view));
}
