import type { Request, Response } from "express";
import { authenticateClient } from "../../core/records/clients/authentication.ts";
import { pushRequest } from "../../core/protocol/authorize/par.ts";
import { clientCredentials, proofOf } from "../input/credentials.ts";
import { bodyParameters } from "../input/params.ts";
import { addressOf } from "../input/cookies.ts";
import { sendJson } from "../answer/answer.ts";
import { note, type Web } from "../web.ts";

/** The pushed authorization request endpoint (RFC 9126 2). */
export const postPar = (web: Web) => async (req: Request, res: Response) => {
  const body = bodyParameters(req);
  const client = await authenticateClient(web.ctx, { ...clientCredentials(web, req, body), isPushed: true });
  note(res, { client: client.client_id, outcome: { kind: "request-pushed" } });
  sendJson(
    res,
    201,
    await pushRequest(web.ctx, client, body, {
      proof: proofOf(web, req, "par"),
      peer: { address: addressOf(web, req) },
    }),
  );
};
