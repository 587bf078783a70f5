import type { Request, Response } from "express";
import { token } from "../../core/tokens/endpoint.ts";
import { sendJson } from "../answer/answer.ts";
import { clientCredentials } from "../input/credentials.ts";
import { proofOf } from "../input/dpop.ts";
import { bodyParameters, every, single } from "../input/params.ts";
import { privateApiHeaders } from "../answer/security-headers.ts";
import { note, type Web } from "../web.ts";

/** RFC 6749 5.1 requires `Pragma` beside `Cache-Control: no-store`. */
const tokenHeaders = { ...privateApiHeaders, Pragma: "no-cache" };

const tokensIn = (response: object): string =>
  Object.keys(response)
    .filter((name) => name.endsWith("_token"))
    .map((name) => name.replace("_token", ""))
    .join(", ");

/** The token endpoint (RFC 6749 3.2). */
export const postToken = (web: Web) => async (req: Request, res: Response) => {
  const body = bodyParameters(req);
  const credentials = clientCredentials(web, req, body);
  const grantType = single(body, "grant_type");
  note(res, { client: credentials.basic?.id ?? credentials.id ?? null });
  const { response, username } = await token(web.ctx, {
    ...credentials,
    proof: proofOf(web, req, "token"),
    grant_type: grantType,
    code: single(body, "code"),
    redirect_uri: single(body, "redirect_uri"),
    code_verifier: single(body, "code_verifier"),
    device_code: single(body, "device_code"),
    refresh_token: single(body, "refresh_token"),
    scope: single(body, "scope"),
    resource: every(body, "resource"),
    audience: every(body, "audience"),
    subject_token: single(body, "subject_token"),
    subject_token_type: single(body, "subject_token_type"),
    actor_token: single(body, "actor_token"),
    actor_token_type: single(body, "actor_token_type"),
    requested_token_type: single(body, "requested_token_type"),
  });
  note(res, {
    user: username,
    outcome: `${grantType ?? ""}: ${tokensIn(response)}${response.scope === "" ? "" : ` for "${response.scope}"`}`,
  });
  sendJson(res, 200, response, tokenHeaders);
};
