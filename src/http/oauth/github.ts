import type { Request, RequestHandler, Response } from "express";
import { authenticateClient } from "../../core/records/clients/authentication.ts";
import { OAuthError } from "../../core/base/errors.ts";
import type { PresentedToken } from "../../core/protocol/tokens/dpop-binding.ts";
import { endAccess, readEmails, readOrgs } from "../../core/protocol/tokens/github.ts";
import { RedirectUriError } from "../../core/protocol/tokens/grant-types/authorization-code.ts";
import { readUserInfo } from "../../core/protocol/tokens/userinfo.ts";
import { sendJson, sendText } from "../answer/answer.ts";
import { cleaned, cleanerFor } from "../answer/cleaned.ts";
import { answerTo, errorBody, type ErrorAnswer } from "../answer/error-answers.ts";
import { privateApiHeaders } from "../answer/security-headers.ts";
import { jsonBody } from "../input/bodies.ts";
import { clientCredentials } from "../input/credentials.ts";
import { bodyParameters, single } from "../input/params.ts";
import type { Cors, Route } from "../route.ts";
import { note, noteRefusal, type Web } from "../web.ts";
import { tokenAnswer } from "./token.ts";

/** GitHub's way of OAuth 2.0, and the part of its API that a sign-in needs: https://docs.github.com/apps/oauth-apps and /rest. */

/** The refusal as the operator sees it, noted in the ledger. */
async function noted(web: Web, req: Request, res: Response, error: OAuthError): Promise<ErrorAnswer> {
  const answer = cleaned(answerTo(error, web.commandLine), await cleanerFor(web, req, res, error));
  const detail = typeof error.cause === "string" ? error.cause : answer.message;
  if (error.about !== null) note(res, error.about);
  noteRefusal(res, { ...answer, message: detail });
  return answer;
}

const troubleshooting =
  "https://docs.github.com/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors/";

/** What GitHub calls a refusal of the token endpoint. */
const codeOf = (error: OAuthError): string =>
  error instanceof RedirectUriError
    ? "redirect_uri_mismatch"
    : error.code === "invalid_client"
      ? "incorrect_client_credentials"
      : error.code === "invalid_grant"
        ? "bad_verification_code"
        : error.code;

/** A form, or JSON for a client that asks for it. */
function sendMembers(req: Request, res: Response, members: Readonly<Record<string, unknown>>): void {
  if (req.accepts(["application/x-www-form-urlencoded", "json"]) === "json") {
    sendJson(res, 200, members);
    return;
  }
  note(res, { answer: { json: JSON.stringify(members) } });
  const form = new URLSearchParams(
    Object.entries(members).map(([name, value]): [string, string] => [name, String(value)]),
  );
  const type = "application/x-www-form-urlencoded; charset=utf-8";
  sendText(res, 200, privateApiHeaders, type, form.toString());
}

/** The token endpoint. Its refusals have the status 200. */
export const postGithubToken =
  (web: Web): RequestHandler =>
  async (req, res) => {
    try {
      sendMembers(req, res, { ...(await tokenAnswer(web, req, res, "authorization_code")) });
    } catch (error) {
      if (!(error instanceof OAuthError) || error.code === "too_many_requests") throw error;
      const answer = await noted(web, req, res, error);
      const { error_description: description } = errorBody(error, answer);
      const code = codeOf(error);
      sendMembers(req, res, {
        error: code,
        error_description: description,
        error_uri: `${troubleshooting}#${code.replaceAll("_", "-")}`,
      });
    }
  };

const sendMessage = (res: Response, status: 401 | 404, message: string): void => {
  const more = { documentation_url: "https://docs.github.com/rest", status: String(status) };
  sendJson(res, status, { message, ...more });
};

/** Reads something of the user, as the API answers it. */
const reading =
  (
    web: Web,
    read: (
      presented: PresentedToken | undefined,
    ) => ReturnType<typeof readUserInfo | typeof readEmails | typeof readOrgs>,
  ): RequestHandler =>
  async (req, res) => {
    const token = /^(?:bearer|token) +(\S+) *$/i.exec(req.headers.authorization ?? "")?.[1];
    try {
      const { body, clientId, username } = await read(
        token === undefined ? undefined : { token, scheme: "Bearer", proof: null },
      );
      note(res, { client: clientId, user: username });
      if (body !== null) {
        sendJson(res, 200, body);
        return;
      }
      noteRefusal(res, {
        message: "Not Found: the token lacks the scope for this",
        // GitHub's API, which hides what a token may not read.
        rule: null,
        fix: "ask for the scope user:email",
      });
      sendMessage(res, 404, "Not Found");
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      await noted(web, req, res, error);
      sendMessage(res, 401, token === undefined ? "Requires authentication" : "Bad credentials");
    }
  };

/** Ends a token, or the grant behind it, for its client. */
const ending =
  (web: Web, what: "token" | "grant"): RequestHandler<{ clientId: string }> =>
  async (req, res) => {
    const body = bodyParameters(req);
    const { clientId } = req.params;
    note(res, { client: clientId });
    try {
      const client = await authenticateClient(web.ctx, clientCredentials(web, req, {}));
      const token = single(body, "access_token") ?? "";
      if (client.client_id === clientId && (await endAccess(web.ctx, client, token, what))) {
        note(res, { outcome: { kind: "revoked", values: { what: what === "token" ? "access_token" : "grant" } } });
        res.status(204).set(privateApiHeaders).end();
        return;
      }
      noteRefusal(res, {
        message: "Not Found: the token is unknown, dead or another client's",
        // GitHub's API.
        rule: null,
        fix: "send an access token of this client",
      });
      sendMessage(res, 404, "Not Found");
    } catch (error) {
      if (!(error instanceof OAuthError) || error.code === "too_many_requests") throw error;
      await noted(web, req, res, error);
      sendMessage(res, 401, "Bad credentials");
    }
  };

/** The API, at the address of the issuer and below the path that GitHub Enterprise Server and Auth.js have. */
export function githubRoutes(web: Web, cors: Cors): readonly Route[] {
  const api = { kind: "api", name: "userinfo", cors } as const;
  const ends = { kind: "api", name: "revoke", guard: [jsonBody] } as const;
  return ["", "/api/v3"].flatMap((below): Route[] => [
    { ...api, path: `${below}/user`, get: reading(web, (token) => readUserInfo(web.ctx, token)) },
    { ...api, path: `${below}/user/emails`, get: reading(web, (token) => readEmails(web.ctx, token)) },
    { ...api, path: `${below}/user/orgs`, get: reading(web, (token) => readOrgs(web.ctx, token)) },
    { ...ends, path: `${below}/applications/:clientId/token`, delete: ending(web, "token") },
    { ...ends, path: `${below}/applications/:clientId/grant`, delete: ending(web, "grant") },
  ]);
}
