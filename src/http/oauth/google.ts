import type { Request, RequestHandler, Response } from "express";
import { rsaCertificates } from "../../core/records/keys/certificates.ts";
import { OAuthError } from "../../core/base/errors.ts";
import { revokeToken } from "../../core/protocol/tokens/revoke.ts";
import { sendJson } from "../answer/answer.ts";
import { checkedApiHeaders } from "../answer/security-headers.ts";
import { bodyParameters, queryParameters, single } from "../input/params.ts";
import { note, type Web } from "../web.ts";

/** What Google has its own way: https://developers.google.com/identity/protocols/oauth2/web-server#tokenrevoke */

/** Where google-auth-library reads the keys. */
export const googleCertificates = "/oauth2/v1/certs";

/**
 * Revokes a token for whoever has it. Credentials of a client are ignored. The token may be in the query, where google-auth-library sends it.
 */
export const postGoogleRevoke = (web: Web) => async (req: Request, res: Response) => {
  const token = single(bodyParameters(req), "token") ?? single(queryParameters(req), "token");
  if (token === undefined)
    throw new OAuthError("invalid_request", "token is missing", {
      rule: "RFC 7009 2.1",
      fix: "send the token as the parameter token",
    });
  const { revoked, client } = await revokeToken(web.ctx, { token }, "bearer");
  note(res, { client });
  if (revoked === null) {
    const error = new OAuthError("invalid_token", "the token is unknown, expired or already revoked", {
      // Google's answer, where RFC 7009 2.2 has 200.
      rule: null,
      fix: "nothing is left to revoke",
      status: 400,
    });
    throw error;
  }
  note(res, { outcome: { kind: "revoked", values: { what: revoked } } });
  sendJson(res, 200, {});
};

/** The keys as certificates in PEM, by `kid`. */
export const certificates =
  ({ ctx }: Web): RequestHandler =>
  async (_req, res) => {
    sendJson(res, 200, await rsaCertificates(ctx), checkedApiHeaders);
  };
