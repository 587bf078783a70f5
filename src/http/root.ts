import type { RequestHandler } from "express";
import { baseOf, discoveryPath } from "../core/endpoints.ts";
import { checkReadable } from "../core/status.ts";
import { asksForHtml, sendJson, sendText } from "./answer/answer.ts";
import { apiHeaders, assetHeaders } from "./answer/security-headers.ts";
import { sendHome } from "./pages/try-it.ts";
import { standingOf } from "./input/host-check.ts";
import type { Web } from "./web.ts";

/** The routes that are neither an endpoint nor a page. */

/** 503 while the data cannot be reached, so that a load balancer uses other servers. */
export const health =
  (web: Web): RequestHandler =>
  async (req, res) => {
    const { ctx, version } = web;
    await checkReadable(ctx);
    const more = standingOf(web, req.headers.host) === "foreign" ? {} : { issuer: ctx.issuer, version };
    sendJson(res, 200, { status: "ok", ...more }, apiHeaders);
  };

/** The address of the issuer. A browser gets the start page; a program that waits for the server gets the other addresses. */
export const root =
  (web: Web): RequestHandler =>
  (req, res) => {
    const { issuer, address } = web.ctx;
    if (asksForHtml(req)) sendHome(web, req, res);
    else
      sendJson(
        res,
        200,
        { issuer, discovery: baseOf(issuer) + discoveryPath, account: `${baseOf(address)}/account` },
        apiHeaders,
      );
  };

export const stylesheet =
  ({ renderer }: Web): RequestHandler =>
  (_req, res) => {
    sendText(res, 200, assetHeaders, "text/css; charset=utf-8", renderer.stylesheet().text);
  };
