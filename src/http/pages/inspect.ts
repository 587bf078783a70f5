import type { Request, Response } from "express";
import { routeOf } from "../route.ts";
import { isBehindScenes, note, type Web } from "../web.ts";

/**
 * The command that opens a refused sign-in in the inspector; without a sign-in, the inspector. Null for a request that the ledger does not
 * hold. A page names only the command: the path of the inspector keeps its cookie from other servers, so no page for apps or users has it.
 */
export function inspectCommand(web: Web, req: Request, res: Response): string | null {
  const [path = ""] = req.originalUrl.split("?");
  if (isBehindScenes(web, path)) return null;
  const request = { endpoint: routeOf(res).name, url: req.originalUrl, body: req.body as unknown };
  const flow = web.ctx.ledger.flowOf(request);
  if (flow !== null) note(res, { flow });
  return web.commandLine(["idp", "open", ...(flow === null ? [] : [flow])]);
}
