import type { Request, RequestHandler } from "express";
import type { Context } from "../../core/context.ts";
import { metadata, usesIdJag } from "../../core/protocol/discovery.ts";
import { supportedScopes } from "../../core/records/scopes/scopes.ts";
import { cut } from "../../text/redacted.ts";
import { sendJson } from "../answer/answer.ts";
import { apiHeaders, checkedApiHeaders, privateApiHeaders } from "../answer/security-headers.ts";
import { backchannelOf } from "../input/host-check.ts";
import { offersRegistration, type Web } from "../web.ts";

const headers = { ...apiHeaders, "Cache-Control": "public, max-age=60" };

/** Both well-known documents (OpenID Connect Discovery 4, RFC 8414 3). */
export const discovery =
  (web: Web): RequestHandler =>
  async (req, res) => {
    const { ctx } = web;
    const backchannel = backchannelOf(web, req);
    if (backchannel === null) remarkOnName(web, req);
    const { languages } = web.renderer.texts;
    const supported = { ...(await supportedScopes(ctx)), languages, idJag: await usesIdJag(ctx) };
    const document = metadata(ctx, supported, {
      backchannel,
      dynamicRegistration: offersRegistration(web),
    });
    // The document of the back channel is kept by no cache: it depends on the `Host` of the request.
    sendJson(res, 200, document, backchannel === null ? headers : privateApiHeaders);
  };

/** Clients that were remarked on, by what tells them apart: no more than these many. */
const maxRemarks = 100;
const remarked = new WeakMap<Context, Set<string>>();

/**
 * Says once per client that it read the document under a name that the issuer does not have: a library compares the issuer of the document
 * with the address that it was given (OpenID Connect Discovery 4.3), and stops with an error that this server never sees.
 */
function remarkOnName({ ctx, base }: Web, { headers, protocol }: Request): void {
  const { host = "", "user-agent": program = "" } = headers;
  const asked = `${protocol}://${host}`;
  if (host === "" || !URL.canParse(asked) || new URL(asked).host === new URL(ctx.issuer).host) return;
  const known = remarked.get(ctx) ?? new Set<string>();
  remarked.set(ctx, known);
  const client = `${asked} ${program}`;
  if (known.has(client) || known.size >= maxRemarks) return;
  known.add(client);
  ctx.log(
    `${program === "" ? "a client" : cut(program, 60)} read discovery at ${asked}${base}, but the issuer is ${ctx.issuer}: a library that was given the former refuses it. Give it ${ctx.issuer}`,
  );
}

/** The JWK Set (RFC 7517 5). */
export const jwks =
  ({ ctx }: Web): RequestHandler =>
  async (_req, res) => {
    sendJson(res, 200, await ctx.keys.jwks(), checkedApiHeaders);
  };
