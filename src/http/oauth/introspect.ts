import type { Request, Response } from "express";
import { authenticateClient } from "../../core/records/clients/authentication.ts";
import { OAuthError } from "../../core/base/errors.ts";
import { introspect } from "../../core/protocol/tokens/introspect.ts";
import { sendJson } from "../answer/answer.ts";
import { clientCredentials } from "../input/credentials.ts";
import { bodyParameters, single } from "../input/params.ts";
import { note, type Web } from "../web.ts";

/** The introspection endpoint (RFC 7662). */
export const postIntrospect = (web: Web) => async (req: Request, res: Response) => {
  const body = bodyParameters(req);
  const client = await authenticateClient(web.ctx, clientCredentials(web, req, body));
  note(res, { client: client.client_id });
  const token = single(body, "token");
  if (token === undefined)
    throw new OAuthError("invalid_request", "token is missing", {
      rule: "RFC 7662 2.1",
      fix: "send the token as the parameter token",
    });
  const answer = await introspect(web.ctx, client, token);
  note(res, { outcome: { kind: answer.active ? "active" : "inactive" } });
  sendJson(res, 200, answer);
};
