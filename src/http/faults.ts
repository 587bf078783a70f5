import { setTimeout as delay } from "node:timers/promises";
import type { Request, RequestHandler, Response } from "express";
import { answerClient, type ResponseTarget } from "../core/sign-in/response.ts";
import type { RawParameters } from "../core/protocol/authorize/parameters.ts";
import { provenTarget } from "../core/protocol/authorize/target.ts";
import { isObject, type JsonObject } from "../text/json.ts";
import { faultRequestOf } from "../core/testing/controls/faults/fault-request.ts";
import {
  delayOf,
  errorOf,
  hasOwnResponse,
  type Fault,
  type FaultRequest,
} from "../core/testing/controls/faults/faults.ts";
import { effectOf } from "../core/testing/controls/faults/fault-admin.ts";
import { faultEndpoints, type FaultEndpoint } from "../core/testing/controls/faults/endpoints.ts";
import { otherClaimsIn, spoilAuthorization, spoilJson } from "../core/testing/controls/faults/spoil.ts";
import { noteRegistered } from "./answer/cleaned.ts";
import { privateApiHeaders, sandboxed } from "./answer/security-headers.ts";
import { readBrowser } from "./input/cookies.ts";
import { basicId } from "./input/credentials.ts";
import { bodyParameters, queryParameters } from "./input/params.ts";
import { authorizationResponseOf, sendToClient } from "./oauth/authorize.ts";
import { samlResultOf, sendSaml, senderOf, type SamlResult } from "./saml/post.ts";
import { methods, routeOf, type Handlers, type Route } from "./route.ts";
import { note, type Web } from "./web.ts";
import type { OutgoingHttpHeaders } from "node:http";

interface MadeResponse {
  readonly status: number;
  /** In addition to those that are set on the response. */
  readonly headers: OutgoingHttpHeaders;
  readonly body: Buffer;
}

/**
 * Holds a response back, so that something else can be sent in its place.
 * @param release receives the response when the handler ends it; from then on, `res` sends as usual
 */
function holdResponse(res: Response, release: (made: MadeResponse) => void): void {
  const [writeHead, end] = [res.writeHead.bind(res), res.end.bind(res)];
  const before = new Set(res.getHeaderNames());
  let headers: OutgoingHttpHeaders = {};
  res.writeHead = ((status: number, given: OutgoingHttpHeaders = {}) => {
    res.statusCode = status;
    headers = given;
    return res;
  }) as Response["writeHead"];
  res.end = ((chunk: string | Uint8Array = "") => {
    Object.assign(res, { writeHead, end });
    const set = Object.entries(res.getHeaders()).filter(([name]) => !before.has(name));
    for (const [name] of set) res.removeHeader(name);
    release({
      status: res.statusCode,
      headers: { ...Object.fromEntries(set), ...headers },
      body: Buffer.from(chunk as string),
    });
    return res;
  }) as Response["end"];
}

/** Sends a response. @param bytes closes the connection after this many bytes of the body; absent: sends all */
function sendMade(res: Response, { status, headers, body }: MadeResponse, bytes?: number): void {
  for (const [name, value] of Object.entries(headers)) if (value !== undefined) res.setHeader(name, value);
  // RFC 9110 8.6.
  if (status === 204 || status === 304) res.removeHeader("Content-Length");
  else if (res.req.method !== "HEAD") res.setHeader("Content-Length", body.length);
  // What a fault made is true for one request alone: no cache may give it to another.
  if (bytes !== undefined) res.setHeader("Cache-Control", "no-store");
  res.writeHead(status);
  if (bytes === undefined) {
    res.end(body);
    return;
  }
  res.flushHeaders();
  res.write(body.subarray(0, bytes));
  res.req.socket.destroySoon();
}

/**
 * This file is the only place that gives a request its faults: at most one before the handler of an endpoint runs, and one for the finished
 * response. A fault never skips a check: a handler either runs as a whole, or does not run.
 */

/** A request that may take faults. */
interface Exchange {
  readonly web: Web;
  readonly req: Request;
  readonly res: Response;
  readonly request: FaultRequest;
  /** The faults that it took. */
  readonly taken: Fault[];
}

/** The route with faults, if its endpoint can have them. */
export function withFaults(web: Web, route: Route): Route {
  const { name } = route;
  if (route.faultsInside === true) return route;
  // The pages of a sign-in make authorization responses too.
  const isPage = name === "login" || name === "factor" || name === "consent";
  const endpoint = isPage ? "authorize" : faultEndpoints.find((one) => one === name);
  if (endpoint === undefined) return route;
  const handlers = methods.flatMap((method) => {
    const handler = route[method] as RequestHandler | undefined;
    if (handler === undefined) return [];
    const faulty: RequestHandler = (req, res, next) =>
      web.ctx.faults.size === 0 ? handler(req, res, next) : handle(web, endpoint, handler, req, res, next);
    return [[method, faulty] as const];
  });
  return { ...route, ...(Object.fromEntries(handlers) as Handlers) };
}

async function handle(
  web: Web,
  endpoint: FaultEndpoint,
  handler: RequestHandler,
  ...[req, res, next]: Parameters<RequestHandler>
): Promise<void> {
  const request = await readRequest(web, endpoint, req);
  const exchange: Exchange = { web, req, res, request, taken: [] };
  // On a page the authorization request has begun already.
  if (routeOf(res).name === endpoint && !(await before(exchange))) return;
  holdResponse(res, (made) => {
    after(exchange, made).catch(next);
  });
  await handler(req, res, next);
}

const readRequest = async (web: Web, endpoint: FaultEndpoint, req: Request): Promise<FaultRequest> =>
  faultRequestOf(web.ctx, {
    endpoint,
    method: req.method,
    parameters: { ...queryParameters(req), ...(isObject(req.body) && bodyParameters(req)) },
    client:
      (endpoint.startsWith("saml_") ? await senderOf(web, req) : basicId(req)) ??
      (typeof req.params["clientId"] === "string" ? req.params["clientId"] : null),
    accessToken: /^(?:bearer|dpop|token) +(\S+) *$/i.exec(req.headers.authorization ?? "")?.[1] ?? null,
    session: readBrowser(web, req).session,
  });

/** Faults before anything is changed. @returns whether the handler still has to run */
async function before(exchange: Exchange): Promise<boolean> {
  const { web, req, request } = exchange;
  // An error goes only to a redirect URI of the client. The handler refuses any other.
  const raw = (): RawParameters => (req.method === "POST" ? bodyParameters(req) : queryParameters(req));
  const target = request.endpoint === "authorize" ? await provenTarget(web.ctx, raw()) : null;
  const fault = await web.ctx.faults.take("before", request, (one) => target !== null || !isRedirect(exchange, one));
  if (fault === null) return true;
  note(exchange.res, { client: request.client, user: request.user });
  if (!(await begin(exchange, fault))) return false;
  if (!hasOwnResponse(fault)) return true;
  note(exchange.res, { unchecked: true });
  sendOwn(exchange, fault, target);
  return false;
}

/** Faults after the work is done: the response is finished, but not sent yet. */
async function after(exchange: Exchange, made: MadeResponse): Promise<void> {
  const { web, req, res, request } = exchange;
  const saml = samlResultOf(res);
  if (saml !== null) {
    await afterSaml(exchange, made, saml);
    return;
  }
  const isAuthorize = request.endpoint === "authorize";
  // The authorization response goes to the client, whichever page makes it.
  const authorization = isAuthorize ? authorizationResponseOf(res) : null;
  if (isAuthorize && authorization === null) {
    sendMade(res, made);
    return;
  }
  const body = isAuthorize || made.status !== 200 ? null : parsed(made);
  const flawed = ({ flaw, claims }: Fault): (() => Promise<void>) | null => {
    if (flaw === undefined && claims === undefined) return null;
    if (authorization !== null) {
      if (flaw === undefined) return null;
      const answer = spoilAuthorization(authorization.answer, flaw);
      return answer && (async () => sendToClient(web, req, res, answer));
    }
    const { endpoint } = request;
    const spoil = flaw === undefined ? otherClaimsIn(endpoint, body, claims ?? {}) : spoilJson(endpoint, body, flaw);
    return spoil && (async () => sendSpoiled(res, { ...made, body: bytesLike(made, await spoil(web.ctx)) }));
  };
  const asked = authorization ? { ...request, client: authorization.clientId, user: authorization.username } : request;
  const fault = await web.ctx.faults.take("after", asked, (one) => !isInBody(one) || flawed(one) !== null);
  if (fault === null) {
    sendMade(res, made);
    return;
  }
  if (!(await begin(exchange, fault))) return;
  const send = flawed(fault);
  if (send !== null) await send();
  else if (hasOwnResponse(fault)) sendOwn(exchange, fault, authorization?.answer.target ?? null);
  else sendMade(res, made, fault.drop_after);
}

/** Whether a fault changes what a response says, which only some can. */
const isInBody = ({ flaw, claims }: Fault): boolean => flaw !== undefined || claims !== undefined;

/** The same of an assertion for a service provider, whichever page makes it. Each flaw of it is one of saml_sso. */
async function afterSaml(exchange: Exchange, made: MadeResponse, saml: SamlResult): Promise<void> {
  const { web, req, res, request } = exchange;
  const { canHave, spoilingOf, spoilResponse } = await import("../core/testing/saml-flaws/spoil.ts");
  const spoiling = await spoilingOf(web.ctx, saml.plan);
  const named = { ...request, client: saml.clientId, user: saml.username };
  const fits = ({ flaw }: Fault): boolean => flaw === undefined || canHave(spoiling, flaw);
  const own = request.endpoint === "saml_start" ? await web.ctx.faults.take("after", named, fits) : null;
  const fault = own ?? (await web.ctx.faults.take("after", { ...named, endpoint: "saml_sso" }, fits));
  if (fault === null) {
    sendMade(res, made);
    return;
  }
  if (!(await begin(exchange, fault))) return;
  if (fault.flaw !== undefined) await sendSaml(web, req, res, await spoilResponse(spoiling, fault.flaw, fault.forge));
  else if (hasOwnResponse(fault)) sendOwn(exchange, fault, null);
  else sendMade(res, made, fault.drop_after);
}

/** Records that the request took the fault. Waits, and closes the connection, if the fault says so. @returns whether to go on */
async function begin({ web, req, res, taken }: Exchange, fault: Fault): Promise<boolean> {
  taken.push(fault);
  const said = taken.map((one) => `${one.id}: ${effectOf(one)}`).join("; ");
  note(res, { fault: said, faults: taken.map(({ id }) => id) });
  await noteRegistered(web, req, res);
  const gone = new AbortController();
  res.once("close", () => {
    gone.abort();
  });
  const waited = await delay(delayOf(fault) * 1000, true, { signal: gone.signal }).catch(() => false);
  if (fault.drop === true) req.socket.destroy();
  return waited && fault.drop !== true;
}

const isRedirect = ({ request }: Exchange, { error }: Fault): boolean =>
  request.endpoint === "authorize" && error !== undefined;

/** Sends what the fault says instead of a response. */
function sendOwn(exchange: Exchange, fault: Fault, target: ResponseTarget | null): void {
  const { web, req, res } = exchange;
  if (target !== null && isRedirect(exchange, fault)) {
    sendToClient(web, req, res, answerClient(target, errorOf(fault)));
    return;
  }
  const { body, content_type: type = "application/json; charset=utf-8", header, drop_after: bytes } = fault;
  const status = fault.status ?? 200;
  // It is served at the origin of the pages, so no header of the fault comes after these.
  const headers = { ...privateApiHeaders, "Content-Type": type, ...header, ...sandboxed };
  sendSpoiled(res, { status, headers, body: body === undefined ? bytesOf(errorOf(fault)) : Buffer.from(body) }, bytes);
}

/** The ledger keeps what was sent, not what the handler made. */
function sendSpoiled(res: Response, made: MadeResponse, bytes?: number): void {
  note(res, { answer: { json: made.body.toString() } });
  sendMade(res, { ...made, headers: { ...made.headers, "Cache-Control": "no-store" } }, bytes);
}

const bytesOf = (body: JsonObject): Buffer => Buffer.from(JSON.stringify(body));

const formType = "application/x-www-form-urlencoded";

const isForm = ({ headers }: MadeResponse): boolean => String(headers["Content-Type"]).startsWith(formType);

/** In the form of the response: GitHub's token endpoint answers with a form. */
const bytesLike = (made: MadeResponse, body: JsonObject): Buffer =>
  isForm(made)
    ? Buffer.from(new URLSearchParams(Object.entries(body).map(([name, value]) => [name, String(value)])).toString())
    : bytesOf(body);

function parsed(made: MadeResponse): unknown {
  const { body } = made;
  if (isForm(made)) return Object.fromEntries(new URLSearchParams(body.toString()));
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}
