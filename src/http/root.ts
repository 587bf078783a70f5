import type { RequestHandler } from "express";
import { baseOf, discoveryPath } from "../core/endpoints.ts";
import { checkReadable } from "../core/status.ts";
import { sendJson } from "./answer/answer.ts";
import { apiHeaders, stylesheetHeaders } from "./answer/security-headers.ts";
import { sendHome } from "./pages/try-it.ts";
import { standingOf } from "./input/host-check.ts";
import { wantsPage, type Web } from "./web.ts";

/** What the server answers beside endpoints and pages. */

/** 503 while the data is away, so that a balancer sends requests to others. */
export const health =
  (web: Web): RequestHandler =>
  async (req, res) => {
    const { ctx, version } = web;
    await checkReadable(ctx);
    const more = standingOf(web, req.headers.host) === "foreign" ? {} : { issuer: ctx.issuer, version };
    sendJson(res, 200, { status: "ok", ...more }, apiHeaders);
  };

/** The issuer itself: a browser shows the start page; a program that waits for the server reads where everything else is. */
export const root =
  (web: Web): RequestHandler =>
  (req, res) => {
    const { issuer, address } = web.ctx;
    if (wantsPage(req)) sendHome(web, req, res);
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
    res.set(stylesheetHeaders).send(renderer.stylesheet().text);
  };
