import { avatarPicture } from "../core/records/scopes/avatar.ts";
import { HttpError } from "./answer/error-answers.ts";
import type { RequestHandler } from "express";
import { baseOf } from "../core/base/endpoints.ts";
import { metadataAddress, realm } from "../core/protocol/discovery.ts";
import { checkReadable } from "../core/testing/status.ts";
import { asksForHtml, sendJson, sendText } from "./answer/answer.ts";
import { apiHeaders, assetHeaders, iconHeaders } from "./answer/security-headers.ts";
import { sendHome } from "./pages/home.ts";
import { hostTrust } from "./input/host-check.ts";
import type { Web } from "./web.ts";

/** The same as in `layout.eta`. */
const icon =
  "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'><rect width='24' height='24' rx='7' fill='#0b57d0'/>" +
  "<circle cx='12' cy='9.5' r='3' fill='#fff'/><path d='M10.8 11h2.4l1 6.5H9.8z' fill='#fff'/></svg>";

/** The routes that are neither an endpoint nor a page. */

/** 503 while the data cannot be reached, so that a load balancer uses other servers. */
export const health =
  (web: Web): RequestHandler =>
  async (req, res) => {
    const { ctx, version } = web;
    await checkReadable(ctx);
    const more = hostTrust(web, req.headers.host) === "foreign" ? {} : { issuer: ctx.issuer, version };
    sendJson(res, 200, { status: "ok", ...more }, apiHeaders);
  };

/** The address of the issuer. A browser gets the start page; a program that waits for the server gets the other addresses. */
export const root =
  (web: Web): RequestHandler =>
  async (req, res) => {
    const { issuer, address, layout } = web.ctx;
    if (asksForHtml(req)) {
      await sendHome(web, req, res);
      return;
    }
    const own = { issuer, discovery: metadataAddress(web.ctx), account: `${baseOf(address)}/account` };
    sendJson(res, 200, layout.realm === true ? { ...own, ...(await realm(web.ctx)) } : own, apiHeaders);
  };

/** Browsers and tools ask for it by themselves. */
export const favicon: RequestHandler = (_req, res) => {
  sendText(res, 200, iconHeaders, "image/svg+xml", icon);
};

/** The picture of a user who has none. */
export const avatar: RequestHandler<{ file: string }> = (req, res) => {
  const picture = avatarPicture(req.params.file);
  if (picture === null) throw new HttpError(404, "there is no such picture", { fix: null });
  sendText(res, 200, iconHeaders, "image/svg+xml", picture);
};

export const copyScriptFile =
  ({ renderer }: Web): RequestHandler =>
  (_req, res) => {
    sendText(res, 200, assetHeaders, "text/javascript; charset=utf-8", renderer.script("copy").text);
  };

export const passkeyScriptFile =
  ({ renderer }: Web): RequestHandler =>
  (_req, res) => {
    sendText(res, 200, assetHeaders, "text/javascript; charset=utf-8", renderer.script("passkey").text);
  };

export const stylesheet =
  ({ renderer }: Web): RequestHandler =>
  (_req, res) => {
    sendText(res, 200, assetHeaders, "text/css; charset=utf-8", renderer.stylesheet().text);
  };
