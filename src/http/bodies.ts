import { isUtf8 } from "node:buffer";
import { parse } from "node:querystring";
import express, { type NextFunction, type Request, type RequestHandler } from "express";
import type { RawParameters } from "../core/authorization-request.ts";
import { isUtf8Encoded } from "./utf8.ts";

/** Reads bodies: which types, how large, and what they can be refused for (CONTRACT 2.6). What is in them: `params.ts`. */

/** CONTRACT 2.6. */
const bodyLimit = 102_400;

/** Made for the first body: what it is made of takes a while to load. */
const made = (make: () => RequestHandler): RequestHandler => {
  let handler: RequestHandler | null = null;
  return (req, res, next) => (handler ??= make())(req, res, next);
};
export const jsonType = "application/json";
const formType = "application/x-www-form-urlencoded";
// As functions: express would take the header apart once more.
const json = made(() =>
  express.json({
    limit: bodyLimit,
    type: (req) => isOf(req as Request, jsonType),
    verify: (_req, _res, bytes, encoding) => {
      if (encoding === "utf-8") textOf(bytes);
    },
  }),
);
const form = made(() =>
  express.urlencoded({
    limit: bodyLimit,
    extended: false,
    type: (req) => isOf(req as Request, formType),
    verify: (_req, _res, bytes, encoding) => {
      if (encoding === "utf-8") refuseOtherBytes(textOf(bytes));
    },
  }),
);

/** Bytes: of a longer body no piece is kept, since a piece keeps the whole of it in memory. */
export const keepable = 4096;

/**
 * What most requests have is read here, for Express's parsers take several times as long: a short body whose length is given, in these words, and
 * that nobody before us has read. All others, and what they can be refused for, are Express's.
 */
function isUsual(req: Request): boolean {
  const { headers } = req;
  const [type, length] = [headers["content-type"], Number(headers["content-length"])];
  const isCoded = headers["content-encoding"] !== undefined || headers["transfer-encoding"] !== undefined;
  const isRead = req.readableEnded || req.body !== undefined;
  return (type === formType || type === jsonType) && length > 0 && length <= keepable && !isCoded && !isRead;
}

/** A body that ends early has nobody left to be answered. */
function readUsual(req: Request, next: NextFunction): void {
  const chunks: Buffer[] = [];
  req.on("data", (chunk: Buffer) => void chunks.push(chunk));
  req.on("end", () => {
    const [first] = chunks;
    const bytes = first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks);
    try {
      const text = textOf(bytes);
      req.body = req.headers["content-type"] === jsonType ? parseJson(text) : parseForm(text);
    } catch (error) {
      next(error);
      return;
    }
    next();
  });
}

/**
 * Without the mark that some systems begin UTF-8 with, as Express's parsers do it.
 * @throws {BodyError} where it is no UTF-8 (RFC 8259 8.1)
 */
function textOf(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new BodyError(400, "the body is not UTF-8");
  return bytes.toString().replace(/^\ufeff/, "");
}

/** In the words of Express's parsers. */
const unreadable = (status: 400 | 413, type: string): Error => Object.assign(new Error(type), { status, type });

function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw unreadable(400, "entity.parse.failed");
  }
  if (typeof value !== "object" || value === null) throw unreadable(400, "entity.parse.failed");
  return value;
}

function parseForm(text: string): RawParameters {
  let separators = 0;
  for (let at = text.indexOf("&"); at >= 0; at = text.indexOf("&", at + 1)) separators += 1;
  if (separators >= 1000) throw unreadable(413, "parameters.too.many");
  refuseOtherBytes(text);
  return parse(text, "&", "=", { maxKeys: 0 });
}

/** @throws {BodyError} as `clientQuery` does, whatever the parameter */
function refuseOtherBytes(text: string): void {
  if (!isUtf8Encoded(text)) throw new BodyError(400, "the form is not UTF-8: percent-encode it as such (RFC 6749 B)");
}

/** An error of the body, with its status; `http/errors.ts` makes the answer. */
export class BodyError extends Error {
  override readonly name = "BodyError";
  readonly status: 400 | 415;
  constructor(status: 400 | 415, message: string) {
    super(message);
    this.status = status;
  }
}

/** Reads a form. */
export const formBody: RequestHandler = (req, res, next) => {
  if (req.headers["content-type"] === formType && isUsual(req)) {
    readUsual(req, next);
    return;
  }
  if (hasBody(req) && !isOf(req, formType)) {
    next(new BodyError(415, `Content-Type ${given(req)} is not supported; send application/x-www-form-urlencoded`));
    return;
  }
  form(req, res, next);
};

/** Reads JSON. */
export const jsonBody: RequestHandler = (req, res, next) => {
  if (hasBody(req) && !isOf(req, jsonType)) {
    next(new BodyError(415, `Content-Type ${given(req)} is not supported; send application/json`));
    return;
  }
  json(req, res, next);
};

/** Reads a form or a JSON object, which mean the same (CONTRACT 2.3). */
export const formOrJsonBody: RequestHandler = (req, res, next) => {
  if (isUsual(req)) {
    readUsual(req, next);
    return;
  }
  if (isOf(req, jsonType)) {
    json(req, res, next);
    return;
  }
  if (hasBody(req) && !isOf(req, formType)) {
    next(
      new BodyError(
        415,
        `Content-Type ${given(req)} is not supported; send application/json or application/x-www-form-urlencoded`,
      ),
    );
    return;
  }
  form(req, res, next);
};

/** Most requests say it in just these words: the rest is taken apart by Express. */
export function isOf(req: Request, type: typeof jsonType | typeof formType): boolean {
  const sent = req.headers["content-type"];
  return sent === jsonType || sent === formType ? sent === type : req.is(type) === type;
}

const hasBody = (req: Request): boolean =>
  req.headers["transfer-encoding"] !== undefined || Number(req.headers["content-length"] ?? 0) > 0;

const given = (req: Request): string => `"${req.headers["content-type"] ?? ""}"`;
