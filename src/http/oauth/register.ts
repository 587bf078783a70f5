import type { Request, Response } from "express";
import {
  readRegistration,
  registerClient,
  removeRegistration,
  updateRegistration,
  type RegistrationAccess,
} from "../../core/admin/register/register.ts";
import { sendJson } from "../answer/answer.ts";
import { addressOf } from "../input/cookies.ts";
import { privateApiHeaders } from "../answer/security-headers.ts";
import { note, type Web } from "../web.ts";

/** Dynamic client registration (RFC 7591) and its management (RFC 7592); only with `--dynamic-registration`. */

type ClientRequest = Request<{ clientId: string }>;

function accessOf(req: ClientRequest, res: Response): RegistrationAccess {
  const { clientId } = req.params;
  note(res, { client: clientId });
  return { clientId, token: /^bearer +(\S+) *$/i.exec(req.headers.authorization ?? "")?.[1] };
}

export const postRegister = (web: Web) => async (req: Request, res: Response) => {
  const registered = await registerClient(web.ctx, req.body, addressOf(web, req));
  note(res, { client: registered.client_id, outcome: { kind: "client-registered" } });
  sendJson(res, 201, registered);
};

export const getRegistration = (web: Web) => async (req: ClientRequest, res: Response) => {
  sendJson(res, 200, await readRegistration(web.ctx, accessOf(req, res)));
};

export const putRegistration = (web: Web) => async (req: ClientRequest, res: Response) => {
  sendJson(res, 200, await updateRegistration(web.ctx, accessOf(req, res), req.body));
};

export const deleteRegistration = (web: Web) => async (req: ClientRequest, res: Response) => {
  await removeRegistration(web.ctx, accessOf(req, res));
  res.status(204).set(privateApiHeaders).end();
};
