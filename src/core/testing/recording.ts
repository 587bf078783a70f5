import { parse } from "node:querystring";
import { cut, redacted } from "../../redact.ts";
import { isObject } from "../json-object.ts";
import { byName, parametersOf, type Flows } from "./flows.ts";
import { copied, looksRandom, type Keeper } from "./kept.ts";
import type { Exchange, RequestEvent, RequestRecord } from "./record.ts";

/** Makes the record of a request. Everything that was sent goes through `kept.ts`. */

type Values = Readonly<Record<string, unknown>>;

const most = 100;
const longest = 500;

/** The parameters of query and body together. */
function valuesIn({ url, body }: Pick<Exchange, "url" | "body">): Values {
  const at = url.indexOf("?");
  const query = at < 0 ? {} : parse(url.slice(at + 1), "&", "=", { maxKeys: most });
  if (!isObject(body)) return query;
  const both = new Map<string, unknown>(Object.entries(query));
  for (const [name, value] of Object.entries(body)) {
    both.set(name, both.has(name) ? [both.get(name), value].flat() : value);
  }
  return Object.fromEntries(both);
}

/** The token of an Authorization header. */
export const bearerIn = (authorization: string): string | null =>
  /^(?:bearer|dpop) +(\S+) *$/i.exec(authorization)?.[1] ?? null;

/** A username or client ID is shown only if the server knows it, because a person may type a password there. */
const isKnownTo =
  ({ user, client }: Pick<RequestEvent, "user" | "client">) =>
  (name: string, value: string): boolean =>
    name === "username" ? value === user : name === "client_id" ? value === client : true;

/** The parts of the path of a refused request that may be a code or a token. */
const randomParts = ({ path, status }: Exchange): readonly string[] =>
  status < 400 ? [] : path.split("/").filter(looksRandom);

/** Removes possible secrets from a text that repeats what was sent. */
function cleaner(keeper: Keeper, exchange: Exchange): (text: string) => string {
  const { status, notes } = exchange;
  const { client = null, user = null } = notes;
  // An accepted client or user stays, even if another value of the request has the same text.
  const names = status < 400 ? [client, user] : [];
  const hidden = [...keeper.hidden(valuesIn(exchange), isKnownTo({ client, user })), ...randomParts(exchange)].filter(
    (value) => !names.includes(value),
  );
  const texts = [...new Set(hidden.flatMap((value) => [value, encodeURIComponent(Buffer.from(value).toString())]))];
  return (text) => texts.reduce((left, secret) => left.replaceAll(secret, "…"), text);
}

/** Cuts names for the log, because the sender of a request chooses their length. */
const brief = (text: string | null | undefined): string | null => (text == null ? null : cut(redacted(text), longest));

/** The log line of a request that the ledger does not hold. */
export function lineOf({ time, clock, method, endpoint, path, status, isSent, ms, notes }: Exchange): RequestEvent {
  return {
    id: null,
    time: new Date(time).toISOString(),
    ...{ method, endpoint, status, ms },
    path: redacted(path),
    client: brief(notes.client),
    user: brief(notes.user),
    outcome: isSent ? brief(notes.outcome) : "the connection was closed before the response",
    error: notes.error ?? null,
    rule: notes.rule ?? null,
    fix: notes.fix ?? null,
    fault: notes.fault ?? null,
    clock,
    mismatch: notes.mismatch ?? null,
  };
}

/** The log line of a request. */
export function eventOf(keeper: Keeper, id: string, exchange: Exchange): RequestEvent {
  const line = { ...lineOf(exchange), id };
  if (line.error === null && line.status < 400) return line;
  const text = cleaner(keeper, exchange);
  // A name that contains a secret is left out.
  const name = (given: string | null): string | null => (given !== null && text(given) === given ? given : null);
  const { error, fix, mismatch } = line;
  return {
    ...line,
    path: text(line.path),
    client: name(line.client),
    user: name(line.user),
    error: error && text(error),
    fix: fix && text(fix),
    mismatch: mismatch && { ...mismatch, sent: text(mismatch.sent) },
  };
}

/** The whole record. */
export function recordOf(keeper: Keeper, flows: Flows, id: string, exchange: Exchange): RequestRecord {
  const event = eventOf(keeper, id, exchange);
  const { mismatch: _, outcome, time, endpoint, method, path, status, ms, client, user, ...end } = event;
  const { authorization, dpop } = exchange;
  const values = valuesIn(exchange);
  const parameters = {
    ...keeper.parameters(values, isKnownTo(event)),
    ...(authorization !== undefined && { authorization: headerOf(keeper, authorization) }),
    ...(dpop !== undefined && { dpop: keeper.sealed(dpop) }),
  };
  const json = jsonOf(exchange);
  const answered = responseOf(keeper, exchange, json);
  const response = event.error === null ? answered : (copied(answered, cleaner(keeper, exchange)) as typeof answered);
  const granted = isObject(response?.["body"]) ? response["body"]["scope"] : undefined;
  return {
    ...{ time, flow: flowOf(flows, exchange, values, json), endpoint, method, path, status, ms, client, user },
    grant_type: textOf(parameters, "grant_type"),
    scope: typeof granted === "string" ? granted : textOf(parameters, "scope"),
    ...{ parameters, response },
    outcome: status >= 400 ? "refused" : (outcome ?? (event.error === null ? "answered" : "refused")),
    ...end,
    id,
  };
}

const textOf = (values: Values, name: string): string | null => {
  const value = values[name];
  return typeof value === "string" ? value : null;
};

export const schemeOf = (authorization: string): string =>
  /^(?:basic|bearer|dpop)(?= |$)/i.exec(authorization)?.[0] ?? "another";

function headerOf(keeper: Keeper, authorization: string): Values {
  const token = bearerIn(authorization);
  return { scheme: schemeOf(authorization), ...(token === null ? { fingerprint: null } : keeper.sealed(token)) };
}

/** Their responses hold claims, which may have any name. */
const holdsClaims = ["userinfo", "introspect"];
/** Public documents. */
const documents = ["discovery", "jwks"];

/** The response as a JSON object; null for anything else, because a fault can send any text. */
function jsonOf({ notes: { answer } }: Exchange): Values | null {
  if (answer === undefined || !("json" in answer)) return null;
  try {
    const json: unknown = JSON.parse(answer.json);
    return isObject(json) ? json : null;
  } catch {
    return null;
  }
}

function responseOf(
  keeper: Keeper,
  { endpoint, status, notes: { answer } }: Exchange,
  json: Values | null,
): Values | null {
  if (answer === undefined || documents.includes(endpoint)) return null;
  if ("location" in answer) {
    const { location, parameters } = answer;
    return {
      location: cut(redacted(location.replace(/[?#].*$/s, "")), longest),
      parameters: keeper.parameters(parameters === undefined ? parametersOf(location) : byName(parameters)),
    };
  }
  if (json === null) return null;
  const isWhole = holdsClaims.includes(endpoint) && status === 200;
  return { body: isWhole ? keeper.whole(json) : keeper.parameters(json) };
}

/** The flow of a request that is not answered yet. */
export const flowOfRequest = (flows: Flows, request: Pick<Exchange, "endpoint" | "url" | "body">): string | null =>
  flows.of({ ...request, sent: valuesIn(request), bearer: null, location: null, answer: {} });

function flowOf(
  flows: Flows,
  { endpoint, url, authorization, notes: { answer, flow } }: Exchange,
  values: Values,
  json: Values | null,
): string | null {
  if (flow !== undefined) return flow;
  const redirect = answer !== undefined && "location" in answer ? answer : null;
  const form = redirect?.parameters;
  return flows.of({
    ...{ endpoint, url, sent: values },
    bearer: authorization === undefined ? null : bearerIn(authorization),
    location: redirect?.location ?? null,
    answer: form === undefined ? (json ?? {}) : byName(form),
  });
}
