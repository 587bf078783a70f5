import { parse } from "node:querystring";
import type { Request, Response } from "express";
import type { User } from "../../store/store.ts";
import type { RawParameters } from "../../core/authorize/parameters.ts";
import { clientIdForm } from "../../core/clients/client-id.ts";
import { staysNear } from "../../core/clients/http-hosts.ts";
import { OperationError } from "../../core/errors.ts";
import { inspectorPath, markedCsrf } from "../../core/inspector/access.ts";
import { operations } from "../../core/operations/table.ts";
import { redirect } from "../answer/answer.ts";
import type { Answer } from "../answer/error-answers.ts";
import { bodyParameters, queryParameters, single } from "../input/params.ts";
import { asGet, queryOf } from "../oauth/authorize.ts";
import { interactionOf } from "../pages/reader.ts";
import type { FixFormView } from "../pages/views.ts";
import { routeOf } from "../route.ts";
import type { Web } from "../web.ts";
import { changeOf, markerOf } from "./access.ts";
import { runChange, runner } from "./changes.ts";

/**
 * The buttons of error pages. A button does what the printed command does, for a person who is signed in to the inspector. Then the refused
 * request continues.
 *
 * The pages do not receive the cookie of the inspector, only its marker. The form is posted below the path of that cookie, which alone lets
 * a change through.
 */

/** Below the issuer. */
export const fixPath = `${inspectorPath}fix`;

/** What the form says. */
interface Fix {
  readonly kind: FixFormView["kind"];
  /** The query of the authorization request. For `restore`: the path of the waiting page, below the issuer. */
  readonly request: string;
  /** For `restore`; otherwise "". */
  readonly username: string;
}

/** What a fix does. */
interface Plan {
  readonly clientId: string;
  readonly redirectUri: string | null;
  /** Where the request continues: always a path of this server. */
  readonly location: string;
  readonly run: () => Promise<unknown>;
}

const textIn = (parameters: RawParameters, name: string): string => {
  const value = parameters[name];
  return typeof value === "string" ? value : "";
};

/** Null: there is no button. If others can reach the server, they could send the request that a click would let pass. */
function planOf(web: Web, { kind, request, username }: Fix): Plan | null {
  const { ctx, base, isLocal } = web;
  if (!isLocal) return null;
  if (kind === "restore") {
    if (!/^\/interaction\/[\w-]+\/(?:login|consent)$/.test(request)) return null;
    const run = () => runChange("restore", ctx, username);
    return { clientId: "", redirectUri: null, location: base + request, run };
  }
  const parameters = parse(request, "&", "=", { maxKeys: 0 });
  const [client_id, redirectUri] = [textIn(parameters, "client_id"), textIn(parameters, "redirect_uri")];
  const location = asGet(web, web.ctx.layout.paths.authorize, parameters);
  if (location === null || !clientIdForm.test(client_id) || !staysNear(redirectUri, ctx.settings)) return null;
  const run = () =>
    kind === "create-client" ? createClient(web, client_id, redirectUri) : runChange(kind, ctx, client_id, redirectUri);
  return { clientId: client_id, redirectUri, location, run };
}

/** A public client has to use PKCE (RFC 9700 2.1.1). */
const createClient = ({ ctx }: Web, client_id: string, uri: string): Promise<unknown> => {
  const entry = { client_id, redirect_uris: [uri], token_endpoint_auth_method: "none" };
  return operations["clients.add"].run(ctx, { entry }, runner);
};

/** The form with the button; null: there is none for this request or this person. */
function formFor(web: Web, req: Request, fix: Fix): FixFormView | null {
  const marker = markerOf(web, req);
  const plan = marker === null ? null : planOf(web, fix);
  if (marker === null || plan === null) return null;
  const { kind, request, username } = fix;
  const { clientId: client, redirectUri } = plan;
  const csrf = markedCsrf(marker, [kind, request, username]);
  return { action: web.base + fixPath, csrf, kind, request, username, client, redirectUri };
}

/** For an authorization request whose client or redirect URI is not registered. */
export function fixForRequest(web: Web, req: Request, res: Response, { kind, mismatch }: Answer): FixFormView | null {
  if (routeOf(res).name !== "authorize") return null;
  const parameters = req.method === "POST" ? bodyParameters(req) : queryParameters(req);
  const fix = { request: queryOf(parameters), username: "" };
  if (kind === "client") return formFor(web, req, { kind: "create-client", ...fix });
  return mismatch?.parameter === "redirect_uri" ? formFor(web, req, { kind: "add-redirect-uri", ...fix }) : null;
}

/** For a user who may not sign in. @param page that waits for them */
export function fixForUser(
  web: Web,
  req: Request,
  { username }: Pick<User, "username">,
  page: "login" | "consent",
): FixFormView | null {
  return formFor(web, req, { kind: "restore", request: `/interaction/${interactionOf(req)}/${page}`, username });
}

/** The value of a field; "" where it was not sent. */
const fieldOf = (body: RawParameters, name: string): string => single(body, name) ?? "";

const kinds: readonly Fix["kind"][] = ["add-redirect-uri", "create-client", "restore"];

/** Applies the fix, and continues with the request. */
export const postFix = (web: Web) => async (req: Request, res: Response) => {
  const body = changeOf(web, req, ({ marker }, sent) =>
    markedCsrf(marker, [fieldOf(sent, "fix"), fieldOf(sent, "request"), fieldOf(sent, "username")]),
  );
  const kind = kinds.find((one) => one === fieldOf(body, "fix"));
  const [request, username] = [fieldOf(body, "request"), fieldOf(body, "username")];
  const plan = kind === undefined ? null : planOf(web, { kind, request, username });
  if (plan === null) throw new OperationError("refused", "this cannot be changed by a button");
  await plan.run();
  redirect(res, plan.location);
};
