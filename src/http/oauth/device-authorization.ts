import type { Request, Response } from "express";
import { authenticateDevice, beginDevice } from "../../core/protocol/device/begin.ts";
import { addressOf } from "../input/cookies.ts";
import { sendJson } from "../answer/answer.ts";
import { clientCredentials } from "../input/credentials.ts";
import { bodyParameters, every, single } from "../input/params.ts";
import { note, type Web } from "../web.ts";

/** The device authorization endpoint (RFC 8628 3.1). The page for the user of the device is in `pages/device.ts`. */
export const postDeviceAuthorization = (web: Web) => async (req: Request, res: Response) => {
  const body = bodyParameters(req);
  const client = await authenticateDevice(web.ctx, clientCredentials(web, req, body));
  note(res, { client: client.client_id, outcome: { kind: "device-waits-for-its-user" } });
  const answer = await beginDevice(web.ctx, client, {
    scope: single(body, "scope"),
    acr_values: single(body, "acr_values"),
    resource: [...every(body, "resource"), ...every(body, "audience")],
    address: addressOf(web, req),
  });
  sendJson(res, 200, answer);
};
