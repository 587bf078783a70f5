import type { RequestHandler, Response } from "express";
import { isObject } from "../../text/json.ts";
import { HttpError } from "../answer/error-answers.ts";
import { jsonBodyOf } from "../input/bodies.ts";

/**
 * The bodies of the control API. An admin may send a seed or an export of 64 MB. Reading one takes seconds, in which everybody else waits, so
 * whoever is no admin may send texts of 1 MB.
 */

/** Bytes of the texts of a request: fixtures, logos, metadata, exports. */
const maxTexts = 1_000_000;

/** Texts in JSON have escapes: line breaks, quotes. */
const escaped = 2;

/** Each file is read by itself, so many small ones take longer than one. */
const maxFiles = 100;

/** The bytes of the texts in a value. */
function bytesOf(value: unknown): number {
  if (typeof value === "string") return Buffer.byteLength(value);
  if (typeof value !== "object" || value === null) return 0;
  return Object.values(value).reduce<number>((sum, one) => sum + bytesOf(one), 0);
}

/** The name of a file is not of its texts. */
const withoutName = (file: unknown): unknown => (isObject(file) ? { ...file, name: null } : file);

const tooLarge = (given: string): HttpError =>
  new HttpError(413, `${given}; a role below admin sends at most 1,000,000 bytes of texts in ${maxFiles} files`, {
    rule: "RFC 9110 15.5.14",
    fix: "send less, or ask an admin of this server",
  });

/** The refusal of a body that was read; null: it is accepted. */
function refusalOf(body: unknown): HttpError | null {
  if (!isObject(body)) return null;
  const { sources = [], source, ...others } = body;
  const files = Array.isArray(sources) ? [...(sources as readonly unknown[]), source] : [sources, source];
  if (files.length > maxFiles + 1) return tooLarge(`the request has ${files.length - 1} files`);
  const bytes = Math.max(bytesOf(files.map(withoutName)), Buffer.byteLength(JSON.stringify(others)));
  return bytes > maxTexts ? tooLarge(`the texts of the request have ${bytes.toLocaleString("en-US")} bytes`) : null;
}

/**
 * Reads the body of an operation.
 * @param limit in bytes, for an admin
 * @param isAdmin behind the guard, which knows who asks
 */
export function jsonBodyFor(limit: number, isAdmin: (res: Response) => boolean): RequestHandler {
  const whole = jsonBodyOf(limit);
  if (limit <= maxTexts) return whole;
  const small = jsonBodyOf(escaped * maxTexts);
  return (req, res, next) => {
    if (isAdmin(res)) {
      whole(req, res, next);
      return;
    }
    small(req, res, (error?: unknown) => {
      const isLarge = isObject(error) && error["type"] === "entity.too.large";
      next(isLarge ? tooLarge("the body is too large") : (error ?? refusalOf(req.body) ?? undefined));
    });
  };
}
