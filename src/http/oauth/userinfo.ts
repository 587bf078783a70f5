import type { Request, Response } from "express";
import { readUserInfo } from "../../core/protocol/tokens/userinfo.ts";
import { sendJson } from "../answer/answer.ts";
import { accessToken, proofOf } from "../input/credentials.ts";
import { bodyParameters, queryParameters } from "../input/params.ts";
import { note, type Web } from "../web.ts";

/** UserInfo (OpenID Connect Core 5.3). */
export const userinfo = (web: Web) => async (req: Request, res: Response) => {
  const token = accessToken(req, queryParameters(req), req.method === "POST" ? bodyParameters(req) : {});
  const proof = proofOf(web, req, "userinfo");
  const { body, clientId, username } = await readUserInfo(web.ctx, token && { proof, ...token });
  note(res, { client: clientId, user: username });
  sendJson(res, 200, body);
};
