import { isObject } from "../json-object.ts";
import { isKept } from "./kept.ts";
import type { Exchange } from "./record.ts";
import { bearerIn, schemeOf } from "./recording.ts";

/** What the ledger holds of a request until somebody looks at its record. */

type Values = Readonly<Record<string, unknown>>;

/** A longer request is looked at at once: its sender chooses its length. */
const longest = 8192;

/** Without the values that are never kept. */
const bodyOf = (body: Values): Values =>
  Object.fromEntries(Object.entries(body).map(([name, value]) => [name, isKept(name) ? value : ""]));

/** No parameter is an object, which may hold anything. */
const hasObjects = (body: Values): boolean =>
  Object.values(body)
    .flat()
    .some((value) => typeof value === "object" && value !== null);

/** A client's own entry holds its secret. */
const holdsSecret = "register";

/**
 * The same request, which gives the same record, without what is never kept. Null: its record must be made at once, because it says what was
 * refused, or because the request is too long or may hold a secret elsewhere than in a parameter of its body.
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
  if (body !== undefined && hasObjects(body)) return null;
  const sent = body === undefined ? "" : JSON.stringify(body);
  const length = [url, header ?? "", dpop, answered, sent].reduce((sum, text) => sum + text.length, 0);
  if (length > longest) return null;
  return { ...exchange, authorization: header, body };
}
