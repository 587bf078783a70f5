import express, { type Request, type RequestHandler, type Router } from "express";
import type { Context } from "../../core/context.ts";
import { OAuthError, OperationError } from "../../core/errors.ts";
import { isObject } from "../../core/json-object.ts";
import { sameSecret } from "../../core/secrets.ts";
import { checkInput, kindOf } from "../../core/operations/input.ts";
import type { Fields, InputOf, Operation, RunningServer } from "../../core/operations/operation.ts";
import { operations } from "../../core/operations/table.ts";
import { jsonBodyOf } from "../input/bodies.ts";
import { HttpError } from "../answer/http-error.ts";
import { route, type Methods } from "../route.ts";
import { privateApiHeaders } from "../answer/security-headers.ts";
import { note } from "../web.ts";

/** The control API (CONTRACT 9): the table of operations as routes below `/_idp/api`. Refusals are answered in `errors.ts`. */

export interface ApiOptions {
  readonly ctx: Context;
  readonly adminToken: string;
  /** What `status` says of it. */
  readonly server: RunningServer;
  /** Ends the server; called once the answer to `stop` is out. */
  readonly onStop: () => void;
}

/** A page of another origin may not use the API, even one that got hold of the token: 403. */
function ownOrigin(issuer: string): RequestHandler {
  const own = new URL(issuer).origin;
  return (req, _res, next) => {
    const { origin } = req.headers;
    if (origin !== undefined && origin !== own) {
      throw new HttpError(403, `the control API answers no page of the origin ${origin}`);
    }
    next();
  };
}

const whereTheTokenIs = "the token is in lock.json of the data folder; IDP_ADMIN_TOKEN at the start sets it";

function adminOnly(adminToken: string): RequestHandler {
  return (req, _res, next) => {
    const given = /^Bearer +(\S+)$/i.exec(req.headers.authorization ?? "")?.[1];
    if (given === undefined) {
      throw new OAuthError("missing_token", "the control API needs Authorization: Bearer <admin token>", {
        fix: whereTheTokenIs,
      });
    }
    if (!sameSecret(given, adminToken)) {
      throw new OAuthError("invalid_token", "this is not the admin token of this server", { fix: whereTheTokenIs });
    }
    next();
  };
}

/** Query values are text. */
function converted(kind: string, value: unknown): unknown {
  if (kind === "boolean" && (value === "true" || value === "false")) return value === "true";
  if (kind === "number" && typeof value === "string" && /^\d{1,9}$/.test(value)) return Number(value);
  return value;
}

/** The input of an operation out of path, query and body. @throws {OperationError} usage */
function inputOf(req: Request, fields: Fields): Promise<InputOf<Fields>> {
  const inBody = req.method === "POST" || req.method === "PATCH";
  const body: unknown = inBody ? (req.body ?? {}) : req.query;
  if (!isObject(body)) throw new OperationError("usage", "the body has to be a JSON object");
  const whole = Object.keys(fields).find((name) => fields[name] === "body");
  const sent = whole === undefined ? Object.entries(body) : [[whole, body] as const];
  const kinds = new Map(Object.entries(fields).map(([name, declared]) => [name, kindOf(declared)]));
  const given = [...sent, ...Object.entries(req.params)].map(
    ([name, value]) => [name, converted(kinds.get(name) ?? "", value)] as const,
  );
  return checkInput(fields, new Map(given));
}

/** The control API as a Router, to be mounted at `/_idp/api`. */
export function createApi({ ctx, adminToken, server, onStop }: ApiOptions): Router {
  const api = express.Router();
  api.use((_req, res, next) => {
    res.set(privateApiHeaders);
    next();
  });
  api.use(ownOrigin(ctx.issuer), adminOnly(adminToken));
  const openApi: RequestHandler = async (_req, res) => {
    // It brings zod along, which nothing else of a server needs once its fixtures are read.
    const { openApiDocument } = await import("./openapi.ts");
    res.json(openApiDocument({ issuer: ctx.issuer, version: server.version }));
  };
  route(api, "/openapi.json", { get: [openApi] });
  const handlersOf = (name: string, operation: Operation): RequestHandler[] => {
    const { method, status, bodyLimit } = operation;
    const handle: RequestHandler = async (req, res) => {
      note(res, { note: name });
      const result = await operation.run(ctx, await inputOf(req, operation.fields), { server });
      if (name === "stop") res.on("finish", onStop);
      if (status === 204) res.status(204).end();
      else res.status(status).json(result);
    };
    return method === "GET" || method === "DELETE" ? [handle] : [...jsonBodyOf(bodyLimit), handle];
  };
  const all = Object.entries(operations as unknown as Readonly<Record<string, Operation>>);
  for (const path of new Set(all.map(([, operation]) => operation.path))) {
    const here = all.filter(([, operation]) => operation.path === path);
    const methods: Methods = Object.fromEntries(
      here.map(([name, operation]) => [operation.method.toLowerCase(), handlersOf(name, operation)]),
    );
    route(api, path, methods);
  }
  return api;
}
