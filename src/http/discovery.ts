import type { Request, RequestHandler } from "express";
import { metadata } from "../core/discovery.ts";
import { supportedScopes } from "../core/scopes.ts";
import { jsonType, sendJson, sendText } from "./answer.ts";
import { apiHeaders } from "./security-headers.ts";
import type { Web } from "./web.ts";

/** The public documents: the same for everybody, so their text is made once for as long as what they say stays the same. */

const headers = { ...apiHeaders, "Cache-Control": "public, max-age=60" };

/** A key may sign from one moment to the next (`idp keys rotate`), and a browser that kept the old set would refuse what it signed. */
const jwksHeaders = { ...apiHeaders, "Cache-Control": "no-cache" };

/** Both well-known documents (OpenID Connect Discovery 4, RFC 8414 3). */
export const discovery = (web: Web): RequestHandler => {
  const { ctx, dynamicRegistration } = web;
  let made: { readonly of: string; readonly text: string } | null = null;
  return async (req, res) => {
    const supported = await supportedScopes(ctx);
    const of = JSON.stringify(supported);
    const backchannel = backchannelOf(web, req);
    if (backchannel !== null) {
      // What it says depends on the name it was asked under.
      sendJson(res, 200, metadata(ctx, supported, { backchannel, dynamicRegistration }), {
        ...apiHeaders,
        "Cache-Control": "no-store",
      });
      return;
    }
    if (made?.of !== of)
      made = { of, text: JSON.stringify(metadata(ctx, supported, { backchannel: null, dynamicRegistration })) };
    sendText(res, 200, headers, jsonType, made.text);
  };
};

/** The base of the back-channel endpoints, where it is not the issuer's own; the host check has settled that the name is ours. */
export function backchannelOf({ backchannel, issuer, base }: Web, req: Request): string | null {
  const { host } = req.headers;
  if (backchannel === "off" || host === undefined || host === issuer.host) return null;
  return `${req.protocol}://${host}${base}`;
}

/** RFC 7517 5. */
export const jwks = ({ ctx }: Web): RequestHandler => {
  let made: { readonly of: unknown; readonly text: string } | null = null;
  return async (_req, res) => {
    const keys = await ctx.keys.jwks();
    if (made?.of !== keys) made = { of: keys, text: JSON.stringify(keys) };
    sendText(res, 200, jwksHeaders, jsonType, made.text);
  };
};
