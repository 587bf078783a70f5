import { isUtf8 } from "node:buffer";
import express, { type Request, type RequestHandler } from "express";
import { checkDepth, NestingError } from "../../text/json.ts";
import { ownText } from "../../text/redacted.ts";
import { HttpError } from "../answer/error-answers.ts";
import { isUtf8Encoded } from "./params.ts";

/** Reads bodies: the media types and the size that are accepted. `params.ts` reads the parameters in them. */

const formType = "application/x-www-form-urlencoded";
const jsonType = "application/json";

/** Bytes. */
const bodyLimit = 102_400;

/** Decoders silently replace other bytes, which changes the value (RFC 8259 8.1). */
function requireUtf8(bytes: Buffer, encoding: string): void {
  if (encoding === "utf-8" && !isUtf8(bytes))
    throw new HttpError(400, "the body is not UTF-8", { rule: "RFC 8259 8.1", fix: "encode the body as UTF-8" });
}

function requireShallow(bytes: Buffer): void {
  try {
    checkDepth(bytes);
  } catch (error) {
    if (error instanceof NestingError)
      throw new HttpError(400, `the body is not read: ${error.message}`, {
        rule: "RFC 8259 9",
        fix: "send JSON with fewer levels",
      });
    throw error;
  }
}

/** `parsedBy` has checked the type. */
const anyType = (): boolean => true;

const json = (limit: number): RequestHandler =>
  express.json({
    limit,
    type: anyType,
    verify: (_req, _res, bytes, encoding) => {
      requireUtf8(bytes, encoding);
      requireShallow(bytes);
    },
  });

const urlencoded = express.urlencoded({
  limit: bodyLimit,
  extended: false,
  type: anyType,
  verify: (_req, _res, bytes, encoding) => {
    requireUtf8(bytes, encoding);
    if (encoding === "utf-8" && !isUtf8Encoded(bytes.toString())) {
      throw new HttpError(400, "the form is not UTF-8: percent-encode it as such", {
        rule: "RFC 6749 B",
        fix: null,
      });
    }
  },
});

type Form = Readonly<Record<string, string | readonly string[]>>;

const withOwnTexts = (form: Form): Form =>
  Object.fromEntries(
    Object.entries(form).map(([name, value]) => [
      name,
      typeof value === "string" ? ownText(value) : value.map(ownText),
    ]),
  );

const form: RequestHandler = (req, res, next) => {
  urlencoded(req, res, (error?: unknown) => {
    if (req.body !== undefined) req.body = withOwnTexts(req.body as Form);
    next(error);
  });
};

const hasBody = ({ headers }: Request): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/** Types that a refusal names. Any other text may be a secret in the wrong place. */
const usualTypes = [
  formType,
  jsonType,
  "text/plain",
  "text/html",
  "text/xml",
  "application/xml",
  "multipart/form-data",
];

/** The media type of a body that is not read, in words. */
function typeOf({ headers }: Request): string {
  const [type = ""] = (headers["content-type"] ?? "").toLowerCase().split(";");
  return usualTypes.includes(type.trim()) ? `Content-Type "${type.trim()}"` : "this Content-Type";
}

/** Reads the body with the parser of its type; 415 for a body of any other type. */
function parsedBy(parsers: Readonly<Record<string, RequestHandler>>): RequestHandler {
  const types = Object.keys(parsers);
  return (req, res, next) => {
    const type = req.is(types);
    const parser = typeof type === "string" ? parsers[type] : undefined;
    if (parser !== undefined) {
      parser(req, res, next);
      return;
    }
    if (hasBody(req)) {
      const given = req.headers["content-type"] === undefined ? "a body without Content-Type" : typeOf(req);
      throw new HttpError(415, `${given} is not supported; send ${types.join(" or ")}`, {
        fix: null,
      });
    }
    next();
  };
}

/** Reads JSON of at most `limit` bytes. */
export const jsonBodyOf = (limit: number): RequestHandler => parsedBy({ [jsonType]: json(limit) });

const smallJson = json(bodyLimit);

export const formBody: RequestHandler = parsedBy({ [formType]: form });
export const jsonBody: RequestHandler = parsedBy({ [jsonType]: smallJson });
/** A form or a JSON object, which mean the same. */
export const formOrJsonBody: RequestHandler = parsedBy({ [jsonType]: smallJson, [formType]: form });
