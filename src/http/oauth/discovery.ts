import type { RequestHandler } from "express";
import { metadata, usesIdJag } from "../../core/discovery.ts";
import { supportedScopes } from "../../core/scopes/scopes.ts";
import { sendJson } from "../answer/answer.ts";
import { apiHeaders } from "../answer/security-headers.ts";
import { backchannelOf } from "../input/host-check.ts";
import { offersRegistration, type Web } from "../web.ts";

const headers = { ...apiHeaders, "Cache-Control": "public, max-age=60" };

/** Not cached: the response depends on the `Host` of the request. */
const backchannelHeaders = { ...apiHeaders, "Cache-Control": "no-store" };

/** Not cached: a new key signs at once (`idp keys rotate`), and a browser with the old set would refuse its signatures. */
const jwksHeaders = { ...apiHeaders, "Cache-Control": "no-cache" };

/** Both well-known documents (OpenID Connect Discovery 4, RFC 8414 3). */
export const discovery =
  (web: Web): RequestHandler =>
  async (req, res) => {
    const { ctx } = web;
    const backchannel = backchannelOf(web, req);
    const { languages } = web.renderer.texts;
    const supported = { ...(await supportedScopes(ctx)), languages, idJag: await usesIdJag(ctx) };
    const document = metadata(ctx, supported, {
      backchannel,
      dynamicRegistration: offersRegistration(web),
    });
    sendJson(res, 200, document, backchannel === null ? headers : backchannelHeaders);
  };

/** The JWK Set (RFC 7517 5). */
export const jwks =
  ({ ctx }: Web): RequestHandler =>
  async (_req, res) => {
    sendJson(res, 200, await ctx.keys.jwks(), jwksHeaders);
  };
