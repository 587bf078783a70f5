import type { Request, Response } from "express";
import { metadataAddress } from "../../core/protocol/discovery.ts";
import { formPageHeaders, plainPageHeaders } from "../answer/security-headers.ts";
import { queryParameters, single } from "../input/params.ts";
import { issuerUrl, type Web } from "../web.ts";
import { loginCommand, pageCommand } from "./commands.ts";
import { sendPage, writerOf, type Page } from "./page-writer.ts";
import { viewFor } from "./reader.ts";
import type { Renderer } from "./templates/render.ts";
import { beginForm, offersTryIt } from "./try-it.ts";

/** The start page, at the issuer itself. */

export type HomeView = Awaited<ReturnType<typeof homeView>>;

async function homeView(web: Web, req: Request, res: Response) {
  const { ctx, base } = web;
  const tryIt = offersTryIt(web);
  // The response comes to the issuer's name, and cookies are bound to a name.
  const isIssuer = req.headers.host === issuerUrl(web).host;
  return {
    ...viewFor(web, req, res),
    issuer: ctx.issuer,
    discovery: metadataAddress(ctx),
    accountHref: `${base}/account`,
    /** Whether the setting `try_it` is on. */
    tryIt,
    /** Who is to sign in, by a link of the inspector; null for anybody. */
    loginHint: single(queryParameters(req), "login_hint") ?? null,
    /** `beginAction`: null for a page without this form. */
    ...(tryIt && isIssuer ? beginForm(web, req, res) : { beginAction: null, csrf: "" }),
    /** The start page under the issuer's name, if the page was opened under another name; else null. */
    elsewhere: tryIt && !isIssuer ? ctx.address : null,
    /** The command that signs in from a terminal; null without a client for it. */
    command: await loginCommand(web),
    /** The command that opens the inspector. */
    inspect: pageCommand(web, ["idp", "open"]).command,
  };
}

export function renderHome(renderer: Renderer, view: HomeView): Page {
  const { page, plain } = writerOf(renderer, view);
  const title = plain({ key: "home.title", values: { name: view.brand.name } });
  const heading = { state: view.tryIt ? "try-it" : "default", title };
  return page("home", heading, view, view.beginAction === null ? plainPageHeaders : formPageHeaders);
}

export const sendHome = async (web: Web, req: Request, res: Response): Promise<void> => {
  sendPage(res, 200, renderHome(web.renderer, await homeView(web, req, res)));
};
