import { parse } from "node:querystring";
import { cut, redacted } from "../../repeated.ts";
import { isObject } from "../json-object.ts";
import { byName, parametersOf, type Flows } from "./flows.ts";
import { looksRandom, type Keeper } from "./kept.ts";
import type { Exchange, RequestEvent, RequestRecord } from "./record.ts";

/** Makes the record of a request: everything that was sent goes through `kept.ts`. */

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
const bearerIn = (authorization: string): string | null =>
  /^(?:bearer|dpop) +(\S+) *$/i.exec(authorization)?.[1] ?? null;

/** Names of users and clients are shown where the server knows them: a person may type a password there. */
const isKnownTo =
  ({ user, client }: Pick<RequestEvent, "user" | "client">) =>
  (name: string, value: string): boolean =>
    name === "username" ? value === user : name === "client_id" ? value === client : true;

/** A refused request may have a code or a token in its path. */
const pathOf = ({ path, status }: Exchange): string =>
  status < 400
    ? redacted(path)
    : redacted(path)
        .split("/")
        .map((part) => (looksRandom(part) ? "…" : part))
        .join("/");

/** Cuts names for the log: the sender of a request chooses their length. */
const brief = (text: string | null | undefined): string | null => (text == null ? null : cut(redacted(text), longest));

/** The line of the log of a request that the ledger does not hold. */
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

/** The line of the log of a request. The reason of a refusal repeats what was sent: whatever may be a secret is taken out of it. */
export function eventOf(keeper: Keeper, id: string, exchange: Exchange): RequestEvent {
  const line = { ...lineOf(exchange), id, path: pathOf(exchange) };
  if (line.error === null) return line;
  const hidden = keeper.hidden(valuesIn(exchange), isKnownTo(line));
  const text = (given: string): string => hidden.reduce((left, secret) => left.replaceAll(secret, "…"), given);
  const name = (given: string | null): string | null => (given !== null && hidden.includes(given) ? null : given);
  const { error, fix, mismatch } = line;
  return {
    ...line,
    client: name(line.client),
    user: name(line.user),
    error: text(error),
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
  const response = responseOf(keeper, exchange);
  const granted = isObject(response?.["body"]) ? response["body"]["scope"] : undefined;
  return {
    ...{ time, flow: flowOf(flows, exchange, values), endpoint, method, path, status, ms, client, user },
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

function headerOf(keeper: Keeper, authorization: string): Values {
  const token = bearerIn(authorization);
  const scheme = /^(?:basic|bearer|dpop)(?= |$)/i.exec(authorization)?.[0] ?? "another";
  return { scheme, ...(token === null ? { fingerprint: null } : keeper.sealed(token)) };
}

/** Answers that hold claims of a user or of a token, whatever their names. */
const holdsClaims = ["userinfo", "introspect"];
/** Documents that everybody may fetch. */
const documents = ["discovery", "jwks"];

function responseOf(keeper: Keeper, { endpoint, status, notes: { answer } }: Exchange): Values | null {
  if (answer === undefined || documents.includes(endpoint)) return null;
  if ("location" in answer) {
    const { location, parameters } = answer;
    return {
      location: cut(redacted(location.replace(/[?#].*$/s, "")), longest),
      parameters: keeper.parameters(parameters === undefined ? parametersOf(location) : byName(parameters)),
    };
  }
  if (!isObject(answer.body)) return null;
  const isWhole = holdsClaims.includes(endpoint) && status === 200;
  return { body: isWhole ? keeper.whole(answer.body) : keeper.parameters(answer.body) };
}

function flowOf(
  flows: Flows,
  { endpoint, url, authorization, notes: { answer = { body: null } } }: Exchange,
  values: Values,
): string | null {
  const json = "body" in answer && isObject(answer.body) ? answer.body : {};
  const form = "location" in answer ? answer.parameters : undefined;
  return flows.of({
    ...{ endpoint, url, sent: values },
    bearer: authorization === undefined ? null : bearerIn(authorization),
    location: "location" in answer ? answer.location : null,
    answer: form === undefined ? json : byName(form),
  });
}
