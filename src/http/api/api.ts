/*
 * http/api: the control API. The operations themselves are in core/admin/operations; this folder mounts and describes them.
 */
import type { Request, RequestHandler, Response } from "express";
import { OAuthError, OperationError } from "../../core/base/errors.ts";
import { isObject } from "../../text/json.ts";
import { cut } from "../../text/redacted.ts";
import { sameSecret } from "../../core/base/secrets.ts";
import { inputOfRequest, progressHeader, type Route as OperationRoute } from "../../core/admin/operations/route.ts";
import type { Runner, RunningServer } from "../../core/admin/operations/operation.ts";
import { operations, type OperationName } from "../../core/admin/operations/routes.ts";
import { keepAct, perform } from "../../core/admin/operations/table.ts";
import { isCurrent, openerOf, type Opener } from "../../core/records/inspector/access.ts";
import type { ControlToken } from "../../core/records/operators/roles.ts";
import { answerTo, HttpError } from "../answer/error-answers.ts";
import { sendJson, setClockHeader } from "../answer/answer.ts";
import { jsonBodyFor } from "./body.ts";
import type { Handlers, Route } from "../route.ts";
import { privateApiHeaders } from "../answer/security-headers.ts";
import { isOwnOrigin } from "../input/host-check.ts";
import { note, type Web } from "../web.ts";
import { after, current, differences } from "../../core/testing/ledger/filter.ts";
import { requestJson, type RequestRecord } from "../../core/testing/ledger/request-json.ts";
import { streamLedger } from "../answer/event-stream.ts";

/** The control API: the table of operations as routes below `/_idp/api`. Refusals are answered in `errors.ts`. */

export interface ControlOptions {
  /** What `status` says about it. */
  readonly server: RunningServer;
  /** Ends the server; called once the response to `stop` is sent. */
  readonly onStop: () => void;
}

/** Below the issuer. */
export const apiPath = "/_idp/api";

/** Refuses a page of another origin with 403, even one that has the token. */
const ownOrigin =
  (web: Web): RequestHandler =>
  (req, _res, next) => {
    const { origin } = req.headers;
    if (origin !== undefined && !isOwnOrigin(web, req, origin)) {
      // Any other text may be a secret, or 16 kB long.
      const isOrigin = URL.canParse(origin) && new URL(origin).origin === origin;
      throw new HttpError(403, `the control API refuses pages of the origin ${isOrigin ? cut(origin, 300) : "…"}`, {
        fix: "call it from a program, not from a page",
      });
    }
    next();
  };

const whereTheTokenIs = "the token is in lock.json of the data folder; IDP_ADMIN_TOKEN at the start sets it";

/** Whose token it is; null: nobody's. Every token is compared, so that the time does not say which one is like it. */
function openerWith(given: string, tokens: readonly ControlToken[]): Opener | null {
  const [found] = tokens.filter(({ token }) => sameSecret(given, token));
  return found === undefined ? null : openerOf(found);
}

function operatorsOnly(web: Web): RequestHandler {
  return (req, res, next) => {
    const given = /^Bearer +(\S+)$/i.exec(req.headers.authorization ?? "")?.[1];
    if (given === undefined) {
      throw new OAuthError("missing_token", "the control API needs Authorization: Bearer <admin token>", {
        rule: "RFC 6750 3",
        fix: whereTheTokenIs,
      });
    }
    const opener = openerWith(given, web.controlTokens());
    if (opener === null) {
      throw new OAuthError(
        "invalid_token",
        "this is not the admin token of this server, nor one of its control tokens",
        {
          rule: "RFC 6750 3.1",
          fix: whereTheTokenIs,
        },
      );
    }
    res.locals["opener"] = opener;
    next();
  };
}

/** Behind the guard. */
const askedBy = (res: Response): Opener => res.locals["opener"] as Opener;

/** The input of an operation from path, query and body; the operation checks it. @throws {OperationError} usage */
async function inputOf(req: Request, name: OperationName): Promise<Readonly<Record<string, unknown>>> {
  const inBody = req.method !== "GET" && req.method !== "DELETE";
  const given: unknown = inBody ? (req.body ?? {}) : req.query;
  if (!isObject(given)) throw new OperationError("usage", "the body must be a JSON object");
  if (inBody || Object.keys(given).length === 0) return inputOfRequest(req.params, given);
  const { ofQuery } = await import("../../core/admin/operations/schemas/input.ts");
  const { input } = await operations[name].load();
  return inputOfRequest(req.params, ofQuery(input, given));
}

/** Checks who may use the control API, also at paths that it does not have. */
export const apiGuard = (web: Web): RequestHandler[] => [ownOrigin(web), operatorsOnly(web)];

/**
 * Does what somebody asked for, and keeps that they asked: the status of the answer too, where it is refused.
 * @param asked `status`: of the answer, if nothing refuses it
 */
export async function performed<T>(
  { ctx, commandLine }: Web,
  { name, input, by, status }: { name: OperationName; input: object; by: Opener; status: number },
  work: () => Promise<T>,
): Promise<T> {
  try {
    const result = await work();
    await keepAct(ctx, name, input, { by, status });
    return result;
  } catch (error) {
    const { status: refused } = answerTo(error, commandLine);
    // The refusal says more than a store that cannot be written.
    await keepAct(ctx, name, input, { by, status: refused }).catch(() => undefined);
    throw error;
  }
}

/** Milliseconds between two interim responses. */
const progressInterval = 200;

/** Says how far an operation is, in interim responses (RFC 8297), to whoever asks for them. */
function progressTo(req: Request, res: Response): Runner["progress"] {
  if (req.headers[progressHeader] === undefined) return undefined;
  let next = 0;
  return (done, total) => {
    if (performance.now() < next) return;
    next = performance.now() + progressInterval;
    // Node.js sends none without a link.
    res.writeEarlyHints({
      link: `<${apiPath}/openapi.json>; rel="service-desc"`,
      [progressHeader]: `${done}/${total}`,
    });
  };
}

/** The routes of the control API. */
export function apiRoutes(web: Web, { server, onStop }: ControlOptions): readonly Route[] {
  const { ctx } = web;
  const api = { kind: "api", name: "api", challenge: "Bearer", guard: apiGuard(web) } as const;
  const openApi: RequestHandler = async (_req, res) => {
    // Loads zod, which a server needs for nothing else once its fixtures are read.
    const { openApiDocument } = await import("./openapi.ts");
    sendJson(res, 200, await openApiDocument({ address: ctx.address, version: server.version }));
  };
  const handlerOf = (name: OperationName, operation: OperationRoute): RequestHandler => {
    return async (req, res) => {
      const by = askedBy(res);
      note(res, { outcome: { kind: "operation", values: { name } }, by: by.name });
      const input = await inputOf(req, name);
      const result = await performed(web, { name, input, by, status: operation.status }, () =>
        perform(ctx, name, input as never, {
          ...{ server, by, commandLine: web.commandLine },
          progress: progressTo(req, res),
        }),
      );
      // The operation may have moved the clock.
      setClockHeader(web.ctx, res);
      if (name === "stop") res.on("finish", onStop);
      if (operation.status === 204) res.status(204).set(privateApiHeaders).end();
      else sendJson(res, operation.status, result);
    };
  };
  const all = Object.entries(operations as Readonly<Record<string, OperationRoute>>) as [
    OperationName,
    OperationRoute,
  ][];
  const paths = [...new Set(all.map(([, operation]) => operation.path))];
  const operationRoutes = paths.map((path) => {
    const here = all.filter(([, operation]) => operation.path === path);
    const limit = Math.max(...here.map(([, operation]) => operation.bodyLimit));
    const body = jsonBodyFor(limit, (res) => askedBy(res).role === "admin");
    const handlers = here.map(([name, operation]) => [operation.method.toLowerCase(), handlerOf(name, operation)]);
    return { ...api, path: apiPath + path, body, ...(Object.fromEntries(handlers) as Handlers) };
  });
  return [
    { ...api, path: `${apiPath}/openapi.json`, get: openApi },
    {
      ...api,
      path: `${apiPath}/requests/stream`,
      get: streamRequests(web, (res) => isCurrent(web.controlTokens(), askedBy(res))),
    },
    ...operationRoutes,
  ];
}

/** The requests as they come, as server-sent events (HTML 9.2): each event is a record, with its id. */

/** The most bytes that may wait for a slow reader. */
const maxWaiting = 1024 * 1024;

const eventOf = (record: RequestRecord): string => `id: ${record.id}\ndata: ${JSON.stringify(record)}\n\n`;

/** It begins with those after `since` or `Last-Event-ID`, which a browser sends when it connects again. */
const streamRequests =
  ({ ctx: { ledger }, commandLine }: Web, mayRead: (res: Response) => boolean): RequestHandler =>
  async (req, res) => {
    const again = req.headers["last-event-id"];
    const given = { ...req.query, ...(typeof again === "string" && again !== "" && { since: again }) };
    const { checkInput, ofQuery } = await import("../../core/admin/operations/schemas/input.ts");
    const { input } = await operations["requests.list"].load();
    const { parts, ...filter } = await checkInput(input, ofQuery(input, given));
    const { since } = filter;
    await ledger.refresh();
    streamLedger(res, ledger, {
      mayRead: () => mayRead(res),
      maxWaiting,
      earlier: since === undefined ? [] : ledger.list().filter(after(ledger, since)),
      eventOf: (record) =>
        differences(current(ledger, filter), record).length > 0
          ? null
          : eventOf(requestJson(record, commandLine, parts)),
    });
  };
