import { isUtf8 } from "node:buffer";
import express, { type Request, type RequestHandler } from "express";
import { HttpError } from "../answer/http-error.ts";
import { isUtf8Encoded } from "./utf8.ts";

/** Reads bodies: the media types and the size that are accepted (CONTRACT 2.6). `params.ts` reads the parameters in them. */

const formType = "application/x-www-form-urlencoded";
export const jsonType = "application/json";

/** CONTRACT 2.6. */
const bodyLimit = 102_400;

/** Decoders replace other bytes silently, and the value would become another one (RFC 8259 8.1). */
function requireUtf8(bytes: Buffer, encoding: string): void {
  if (encoding === "utf-8" && !isUtf8(bytes)) throw new HttpError(400, "the body is not UTF-8");
}

const json = (limit: number): RequestHandler =>
  express.json({
    limit,
    type: jsonType,
    verify: (_req, _res, bytes, encoding) => {
      requireUtf8(bytes, encoding);
    },
  });

const form = express.urlencoded({
  limit: bodyLimit,
  extended: false,
  type: formType,
  verify: (_req, _res, bytes, encoding) => {
    requireUtf8(bytes, encoding);
    if (encoding === "utf-8" && !isUtf8Encoded(bytes.toString())) {
      throw new HttpError(400, "the form is not UTF-8: percent-encode it as such (RFC 6749 B)");
    }
  },
});

const hasBody = ({ headers }: Request): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/** 415 for a body of any other type. */
const requireType =
  (...types: readonly string[]): RequestHandler =>
  (req, _res, next) => {
    if (hasBody(req) && typeof req.is([...types]) !== "string") {
      const given = req.headers["content-type"] ?? "";
      throw new HttpError(415, `Content-Type "${given}" is not supported; send ${types.join(" or ")}`);
    }
    next();
  };

/** Reads JSON of at most `limit` bytes. */
export const jsonBodyOf = (limit: number): readonly RequestHandler[] => [requireType(jsonType), json(limit)];

const smallJson = json(bodyLimit);

export const formBody: readonly RequestHandler[] = [requireType(formType), form];
export const jsonBody: readonly RequestHandler[] = [requireType(jsonType), smallJson];
/** A form or a JSON object, which mean the same (CONTRACT 2.3). */
export const formOrJsonBody: readonly RequestHandler[] = [requireType(jsonType, formType), smallJson, form];
