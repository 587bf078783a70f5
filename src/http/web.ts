import type { Response } from "express";
import type { Opener } from "../core/records/inspector/access.ts";
import type { ControlToken, Role } from "../core/records/operators/roles.ts";
import type { TrustsProxy } from "../net/trusted-proxies.ts";
import type { Context } from "../core/context.ts";
import { baseOf } from "../core/base/endpoints.ts";
import { refusalOf } from "../core/base/errors.ts";
import type { RequestNotes } from "../core/testing/ledger/ledger.ts";
import type { CommandLine } from "../core/base/hint.ts";
import type { Renderer } from "./pages/templates/render.ts";

/** What the routes of an issuer share, or those of one of its layouts. */
export interface Web {
  readonly ctx: Context;
  /** The name of the issuer; null for the first one. */
  readonly name: string | null;
  readonly renderer: Renderer;
  /** The path of the issuer without a trailing slash: "" or "/idp". */
  readonly base: string;
  /** The port that browsers use. It is in the names of the cookies, because browsers do not keep cookies apart by port. */
  readonly port: number;
  readonly version: string;
  /** Clients may register themselves (RFC 7591), whatever the settings are. */
  readonly dynamicRegistration: boolean;
  /** `dynamic`: discovery under another of our host names gives the back-channel endpoints under that name. */
  readonly backchannel: "off" | "dynamic";
  /** Host names beside the loopback ones and the issuer's (`--allow-host`). */
  readonly allowedHosts: readonly string[];
  /** Whether X-Forwarded-For counts from an address. */
  readonly trustsProxy: TrustsProxy;
  /** The tokens that count now, the admin token first. */
  readonly controlTokens: () => readonly ControlToken[];
  /** The role that the inspector is for; absent outside of it. */
  readonly inspectorOf?: Role;
  /** Who opened the inspector that asks; absent outside of it. */
  readonly operator?: Opener;
  /** Writes the commands that the log, pages and errors propose. */
  readonly commandLine: CommandLine;
}

/** Whether clients may register themselves now: a setting of fixtures may turn that on. */
export const offersRegistration = ({ dynamicRegistration, ctx }: Web): boolean =>
  dynamicRegistration || ctx.settings.mcp;

/** The issuer as a parsed URL. It may change while the server runs. */
export const issuerUrl = ({ ctx }: Pick<Web, "ctx">): URL => new URL(ctx.issuer);

/** Whether a path belongs to the control API, the inspector, or another part of the server that apps do not call. */
export const isBehindScenes = ({ base, ctx }: Web, path: string): boolean =>
  [base, base + baseOf(ctx.layout.issuer)].some(
    (below) => path === `${below}/_idp` || path.startsWith(`${below}/_idp/`),
  );

/** Starts the notes of a request, in `res.locals.notes`; the caller reads them once it is answered. */
export function takeNotes(res: Response): RequestNotes {
  const notes: RequestNotes = {};
  res.locals["notes"] = notes;
  return notes;
}

/** What is noted of a request so far. */
export const notesOf = (res: Response): RequestNotes => (res.locals["notes"] as RequestNotes | undefined) ?? {};

/** Whether the notes of a request were started. */
export const isObserved = (res: Response): boolean => res.locals["notes"] !== undefined;

/** Adds to what the ledger will say about this request. */
export function note(res: Response, notes: RequestNotes): void {
  const taken = res.locals["notes"] as RequestNotes | undefined;
  if (taken !== undefined) Object.assign(taken, notes);
}

/** Says in the ledger and in the log why a request was refused. */
export const noteRefusal = (res: Response, refused: Parameters<typeof refusalOf>[0]): void => {
  note(res, { refusal: refusalOf(refused) });
};
