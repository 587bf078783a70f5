import type { Request, Response } from "express";
import { readUserInfo } from "../core/userinfo.ts";
import { bearerToken } from "./credentials.ts";
import { bodyParameters, queryParameters } from "./params.ts";
import { privateApiHeaders } from "./security-headers.ts";
import { note, type Web } from "./web.ts";

/** UserInfo (the spec; OpenID Connect Core 5.3). */
export const userinfo = (web: Web) => async (req: Request, res: Response) => {
  const token = bearerToken(req, queryParameters(req), req.method === "POST" ? bodyParameters(req) : {});
  const { body, clientId, username } = await readUserInfo(web.ctx, token);
  note(res, { client: clientId, user: username });
  res.set(privateApiHeaders).json(body);
};
