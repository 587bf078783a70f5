import { isObject } from "../json-object.ts";
import { isKept } from "./kept.ts";
import type { Exchange } from "./record.ts";
import { bearerIn, schemeOf } from "./recording.ts";

/** What the ledger holds of a request until somebody reads its record. */

type Values = Readonly<Record<string, unknown>>;

/** The record of a longer request is made at once, because its sender chooses the length. */
const longest = 8192;

/** A body without the values that are never kept. Null: a parameter is an object, which may hold anything, so it must not wait. */
function bodyOf(body: Values): Values | null {
  // Without a prototype, because a parameter may be called `__proto__`.
  const held = Object.create(null) as Record<string, unknown>;
  for (const [name, value] of Object.entries(body)) {
    const kept = isKept(name) ? value : "";
    if (typeof kept === "object" && [kept].flat().some((one) => typeof one === "object" && one !== null)) return null;
    held[name] = kept;
  }
  return held;
}

/** A response of this endpoint holds the client's secret. */
const holdsSecret = "register";

/**
 * The request without the values that are never kept. It gives the same record later. Null: the record must be made at once, because the
 * request was refused, is too long, or may hold a secret outside the parameters of its body.
 */
export function heldOf(exchange: Exchange): Exchange | null {
  const { endpoint, status, url, authorization, dpop = "", notes } = exchange;
  if (status >= 400 || notes.error !== undefined || endpoint === holdsSecret) return null;
  const { answer = { json: "" } } = notes;
  const answered = "json" in answer ? answer.json : answer.location;
  if (!isKept(url) || ("location" in answer && !isKept(answered))) return null;
  const header =
    authorization === undefined || bearerIn(authorization) !== null ? authorization : schemeOf(authorization);
  const body = isObject(exchange.body) ? bodyOf(exchange.body) : undefined;
  if (body === null) return null;
  const sent = body === undefined ? "" : JSON.stringify(body);
  const length = [url, header ?? "", dpop, answered, sent].reduce((sum, text) => sum + text.length, 0);
  if (length > longest) return null;
  return { ...exchange, authorization: header, body };
}
