import { scopeIn, viewFor } from "./reader.ts";
import { type AppView, type ScopeView, type View } from "./views.ts";
import type { Request, Response } from "express";
import { devicePath } from "../../core/base/endpoints.ts";
import type { Guidance } from "../../core/base/errors.ts";
import { decideDevice, showDevice, typedCode } from "../../core/protocol/device/device.ts";
import { signInFirst } from "./account.ts";
import { readBrowser } from "../input/cookies.ts";
import { isForeignPart, requireOwnOrigin } from "../input/host-check.ts";
import { hostOf } from "./login.ts";
import { sendPage, writerOf, type Page } from "./page-writer.ts";
import type { Renderer } from "./templates/render.ts";
import { formatClock, timeZoneHere } from "./templates/texts.ts";
import { formPageHeaders, plainPageHeaders } from "../answer/security-headers.ts";
import { bodyParameters, queryParameters, single } from "../input/params.ts";
import { note, noteRefusal, type Web } from "../web.ts";

/** The page for the user of a device (RFC 8628 3.3). The endpoint for the device is `oauth/device-authorization.ts`. */

/** The page for the user of a device. */
export interface DeviceView extends View {
  readonly state: "enter" | "invalid" | "expired" | "used" | "confirm" | "done" | "denied";
  readonly action: string;
  readonly csrf: string;
  /** What was typed before. */
  readonly typed: string;
  /** State confirm: the code as the device shows it, and until when it can be answered (ISO 8601). */
  readonly userCode: string;
  readonly usableUntil: string | null;
  readonly client: AppView | null;
  /** Of a client that nobody registered: the host of its metadata; else null. */
  readonly documentHost: string | null;
  readonly scopes: readonly ScopeView[];
  readonly username: string;
}

export function renderDevice(renderer: Renderer, view: DeviceView): Page {
  const { page, lang, say, titled } = writerOf(renderer, view);
  const { state, usableUntil } = view;
  const failed = state === "invalid" || state === "expired" || state === "used";
  const answered = state === "done" || state === "denied";
  return page(
    "device",
    { state, title: say(answered ? `device.title-${state}` : "device.title"), failed },
    {
      ...view,
      message: failed || answered ? say(`device.${state}`) : null,
      usableUntilWords: usableUntil === null ? null : formatClock(usableUntil, lang, timeZoneHere()),
      scopes: view.scopes.map(titled),
    },
    answered ? plainPageHeaders : formPageHeaders,
  );
}

export const getDevice = (web: Web) => async (req: Request, res: Response) => {
  // Only a code that the user typed, or that is in a link the user followed, counts as a guess.
  await sendDevice(web, req, res, isForeignPart(req) ? undefined : single(queryParameters(req), "user_code"));
};

export const postDevice = (web: Web) => async (req: Request, res: Response) => {
  requireOwnOrigin(web, req);
  const body = bodyParameters(req);
  const userCode = single(body, "user_code") ?? "";
  const decision = single(body, "decision");
  if (decision !== "allow" && decision !== "deny") {
    await sendDevice(web, req, res, userCode);
    return;
  }
  const outcome = await decideDevice(web.ctx, readBrowser(web, req), {
    csrf: single(body, "csrf") ?? "",
    userCode,
    decision,
  });
  if (outcome === "allowed" || outcome === "denied") {
    note(res, { outcome: { kind: `device-${outcome}` } });
    send(web, res, 200, viewFor(web, req, res), { state: outcome === "allowed" ? "done" : "denied" });
    return;
  }
  await sendDevice(web, req, res, userCode);
};

/** How many letters of a typed code are kept. */
const maxTypedLength = 12;

async function sendDevice(web: Web, req: Request, res: Response, typed: string | undefined): Promise<void> {
  const page = await showDevice(web.ctx, readBrowser(web, req), typed);
  if (page === null) {
    await signInFirst(web, req, res, pathFor(typed));
    return;
  }
  if (page.state === "factor") {
    await signInFirst(web, req, res, pathFor(typed), page.acr);
    return;
  }
  const { user: _, ...content } = page;
  const failed = content.state !== "enter" && content.state !== "confirm";
  if (content.state !== "enter" && content.state !== "confirm") {
    noteRefusal(res, { message: unusable[content.state], parameter: "user_code", ...enterNew });
  }
  const view = viewFor(web, req, res);
  const kept = typed === undefined ? "" : new URLSearchParams({ user_code: typedFor(typed) }).toString();
  const shown = { ...view, keptQuery: kept };
  send(web, res, failed ? 400 : 200, shown, {
    ...(content.state === "confirm"
      ? {
          ...content,
          client: { ...content.client, name: content.client.name(shown.lang) },
          documentHost: content.documentUrl === null ? null : hostOf(content.documentUrl),
          scopes: content.scopes.map(scopeIn(shown.lang)),
        }
      : { ...content, typed: typed ?? "" }),
  });
}

/** Why the code that a person typed does nothing. */
const unusable = {
  invalid: "user_code is unknown",
  expired: "user_code expired",
  used: "user_code was used before",
};

const enterNew: Guidance = {
  rule: "RFC 8628 3.3",
  fix: "enter the code that the device shows now, or begin there again",
};
/** What an address repeats of a typed code. */
const typedFor = (typed = ""): string => typedCode(typed).slice(0, maxTypedLength);

/** The path of the page to return to after the sign-in. It is stored until then, so the code in it is kept short. */
const pathFor = (typed: string | undefined): string =>
  typed === undefined ? devicePath : `${devicePath}?user_code=${typedFor(typed)}`;

function send(
  web: Web,
  res: Response,
  status: number,
  shown: View,
  content: Partial<DeviceView> & Pick<DeviceView, "state">,
): void {
  const view: DeviceView = {
    ...shown,
    action: web.base + devicePath,
    csrf: "",
    typed: "",
    userCode: "",
    usableUntil: null,
    client: null,
    documentHost: null,
    scopes: [],
    username: "",
    ...content,
  };
  sendPage(res, status, renderDevice(web.renderer, view));
}
