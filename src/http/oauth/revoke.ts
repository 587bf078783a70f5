import type { Request, Response } from "express";
import { authenticateClient } from "../../core/records/clients/authentication.ts";
import { OAuthError } from "../../core/base/errors.ts";
import { revokeToken } from "../../core/protocol/tokens/revoke.ts";
import { sendJson } from "../answer/answer.ts";
import { clientCredentials } from "../input/credentials.ts";
import { bodyParameters, single } from "../input/params.ts";
import { note, type Web } from "../web.ts";

/** The revocation endpoint (RFC 7009). It ignores `token_type_hint`: the token itself shows its type (RFC 7009 2.1). */
export const postRevoke = (web: Web) => async (req: Request, res: Response) => {
  const body = bodyParameters(req);
  const client = await authenticateClient(web.ctx, clientCredentials(web, req, body));
  note(res, { client: client.client_id });
  const token = single(body, "token");
  if (token === undefined)
    throw new OAuthError("invalid_request", "token is missing", {
      rule: "RFC 7009 2.1",
      fix: "send the token as the parameter token",
    });
  const { revoked } = await revokeToken(web.ctx, { token }, client);
  note(res, {
    outcome: revoked === null ? { kind: "nothing-to-revoke" } : { kind: "revoked", values: { what: revoked } },
  });
  sendJson(res, 200, {});
};
