import type { Request, Response } from "express";
import { token } from "../../core/tokens/endpoint.ts";
import { tokenParameters } from "../../core/tokens/grant-types/list.ts";
import type { AnyTokenResponse } from "../../core/tokens/settle.ts";
import { sendJson } from "../answer/answer.ts";
import { clientCredentials, proofOf, accessToken } from "../input/credentials.ts";
import { bodyParameters, every, single, queryParameters } from "../input/params.ts";
import { privateApiHeaders } from "../answer/security-headers.ts";
import { note, type Web } from "../web.ts";
import { authenticateClient } from "../../core/clients/authentication.ts";
import { OAuthError } from "../../core/errors.ts";
import { introspect, revokeToken } from "../../core/tokens/introspect.ts";
import { readUserInfo } from "../../core/tokens/userinfo.ts";
import { beginDevice, authenticateDevice } from "../../core/device/begin.ts";

/*
 * The endpoints that an app calls by itself, without a browser: they read the request, call core and send the result.
 */

/** RFC 6749 5.1 requires `Pragma` beside `Cache-Control: no-store`. */
const tokenHeaders = { ...privateApiHeaders, Pragma: "no-cache" };

const tokensIn = (response: AnyTokenResponse): string =>
  response.token_type === "N_A"
    ? "ID-JAG"
    : Object.keys(response)
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
    values: Object.fromEntries(
      tokenParameters.map(([name, kind]) => [name, kind === "list" ? every(body, name) : single(body, name)]),
    ),
  });
  const { scope = "" } = response;
  note(res, {
    user: username,
    outcome: `${grantType ?? ""}: ${tokensIn(response)}${scope === "" ? "" : ` for "${scope}"`}`,
  });
  sendJson(res, 200, response, tokenHeaders);
};

/** The introspection endpoint (RFC 7662). */
export const postIntrospect = (web: Web) => async (req: Request, res: Response) => {
  const body = bodyParameters(req);
  const client = await authenticateClient(web.ctx, clientCredentials(web, req, body));
  note(res, { client: client.client_id });
  const token = single(body, "token");
  if (token === undefined)
    throw new OAuthError("invalid_request", "token is missing (RFC 7662 2.1)", {
      rule: "RFC 7662 2.1",
      fix: "send the token as the parameter token",
    });
  const answer = await introspect(web.ctx, client, token);
  note(res, { outcome: answer.active ? "active" : "inactive" });
  sendJson(res, 200, answer);
};

/** The revocation endpoint (RFC 7009). It ignores `token_type_hint`: the token itself shows its type (RFC 7009 2.1). */
export const postRevoke = (web: Web) => async (req: Request, res: Response) => {
  const body = bodyParameters(req);
  const client = await authenticateClient(web.ctx, clientCredentials(web, req, body));
  note(res, { client: client.client_id });
  const token = single(body, "token");
  if (token === undefined)
    throw new OAuthError("invalid_request", "token is missing (RFC 7009 2.1)", {
      rule: "RFC 7009 2.1",
      fix: "send the token as the parameter token",
    });
  const { revoked } = await revokeToken(web.ctx, { token }, client);
  note(res, { outcome: revoked === null ? "nothing to revoke" : `revoked: ${revoked}` });
  sendJson(res, 200, {});
};

/** UserInfo (OpenID Connect Core 5.3). */
export const userinfo = (web: Web) => async (req: Request, res: Response) => {
  const token = accessToken(req, queryParameters(req), req.method === "POST" ? bodyParameters(req) : {});
  const proof = proofOf(web, req, "userinfo");
  const { body, clientId, username } = await readUserInfo(web.ctx, token && { proof, ...token });
  note(res, { client: clientId, user: username });
  sendJson(res, 200, body);
};

/** The device authorization endpoint (RFC 8628 3.1). The page for the user of the device is in `pages/device.ts`. */
export const postDeviceAuthorization = (web: Web) => async (req: Request, res: Response) => {
  const body = bodyParameters(req);
  const client = await authenticateDevice(web.ctx, clientCredentials(web, req, body));
  note(res, { client: client.client_id, outcome: "device waits for its user" });
  const answer = await beginDevice(web.ctx, client, {
    scope: single(body, "scope"),
    acr_values: single(body, "acr_values"),
    resource: [...every(body, "resource"), ...every(body, "audience")],
  });
  sendJson(res, 200, answer);
};
