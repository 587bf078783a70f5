import { parse } from "node:querystring";
import { cut, redacted } from "../../repeated.ts";
import type { Mismatch } from "../errors.ts";
import { isObject } from "../json-object.ts";
import { byName, parametersOf, type Flows } from "./flows.ts";
import { looksRandom, type Keeper } from "./kept.ts";

/** The record of a request, and how it is made: everything that was sent goes through `kept.ts`. */

/** A request and its outcome (CONTRACT 10). Nothing in it is good for anything. */
export interface RequestRecord {
  /** Unique in the process: `r17`. */
  readonly id: string;
  /** ISO 8601. */
  readonly time: string;
  /** What all requests of one sign-in have in common; null: it belongs to none. */
  readonly flow: string | null;
  /** The name of the route: "token", "login"; "none" for a path at which there is nothing. */
  readonly endpoint: string;
  readonly method: string;
  /** Without the query: that may hold codes and tokens. */
  readonly path: string;
  /** 0: the connection was closed before the response. */
  readonly status: number;
  /** Milliseconds until the response was handed over. */
  readonly ms: number;
  readonly client: string | null;
  /** Username. */
  readonly user: string | null;
  readonly grant_type: string | null;
  /** What was granted, else what was asked for. */
  readonly scope: string | null;
  /** Of query and body, and the headers `authorization` and `dpop`; see `kept.ts`. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Where a redirect led, or the JSON of the response; null for a page. */
  readonly response: Readonly<Record<string, unknown>> | null;
  /** What happened, in a few words: "login page", "authorization_code: access, refresh". */
  readonly outcome: string;
  /** The reason of a refusal: a code and a sentence, "invalid_grant: code was already used". */
  readonly error: string | null;
  /** The paragraph that requires the refusal. */
  readonly rule: string | null;
  /** The command or setting that fixes it. */
  readonly fix: string | null;
  /** The fault that spoiled the response. */
  readonly fault: string | null;
  /** How far the clock was moved, in seconds; null: not at all. */
  readonly clock: number | null;
}

type Detail = "flow" | "grant_type" | "scope" | "parameters" | "response";

/** One line of the request log. */
export interface RequestEvent extends Omit<RequestRecord, "id" | "outcome" | Detail> {
  /** Null: the ledger does not hold it, as the calls of the control API. */
  readonly id: string | null;
  /** Null: the status says it all. */
  readonly outcome: string | null;
  /** If a value is not a registered one: what was sent, and what is registered. */
  readonly mismatch: Mismatch | null;
}

/** A request as it was sent, and its answer: `kept.ts` decides what is kept of it. */
export interface Sent {
  /** Path and query. */
  readonly url: string;
  readonly body: unknown;
  readonly authorization: string | undefined;
  readonly dpop: string | undefined;
  /** Where the response redirects (or posts a form) to, or its JSON; null: a page. */
  readonly answer: Answer | null;
}

/** A line of the log that the ledger has not recorded yet. */
export type Line = Omit<RequestEvent, "id">;

type Pairs = readonly (readonly [name: string, value: string])[];

export type Answer = { readonly location: string; readonly parameters?: Pairs } | { readonly body: unknown };

type Values = Readonly<Record<string, unknown>>;

const most = 100;

/** The parameters of query and body together. */
function valuesIn({ url, body }: Sent): Values {
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
  ({ user, client }: Line) =>
  (name: string, value: string): boolean =>
    name === "username" ? value === user : name === "client_id" ? value === client : true;

/** A refused request may have a code or a token in its path. */
const pathOf = ({ path, status }: Line): string =>
  status < 400
    ? path
    : path
        .split("/")
        .map((part) => (looksRandom(part) ? "…" : part))
        .join("/");

/** The line of the log. The reason of a refusal repeats what was sent: whatever may be a secret is taken out of it. */
export function cleaned(keeper: Keeper, line: Line, sent: Sent): Line {
  const path = pathOf(line);
  if (line.error === null) return { ...line, path };
  const hidden = keeper.hidden(valuesIn(sent), isKnownTo(line));
  const text = (given: string): string => hidden.reduce((left, secret) => left.replaceAll(secret, "…"), given);
  const name = (given: string | null): string | null => (given !== null && hidden.includes(given) ? null : given);
  const { error, fix, mismatch } = line;
  return {
    ...line,
    path,
    client: name(line.client),
    user: name(line.user),
    error: text(error),
    fix: fix && text(fix),
    mismatch: mismatch && { ...mismatch, sent: text(mismatch.sent) },
  };
}

/** The whole record. @param event as {@link cleaned} */
export function recordOf(
  keeper: Keeper,
  flows: Flows,
  event: Line & { readonly id: string },
  sent: Sent,
): RequestRecord {
  const { mismatch: _, outcome, time, endpoint, method, path, status, ms, client, user, id, ...end } = event;
  const { authorization, dpop } = sent;
  const values = valuesIn(sent);
  const parameters = {
    ...keeper.parameters(values, isKnownTo(event)),
    ...(authorization !== undefined && { authorization: headerOf(keeper, authorization) }),
    ...(dpop !== undefined && { dpop: keeper.sealed(dpop) }),
  };
  const response = responseOf(keeper, event, sent);
  const granted = isObject(response?.["body"]) ? response["body"]["scope"] : undefined;
  return {
    ...{ id, time, flow: flowOf(flows, event, sent, values), endpoint, method, path, status, ms, client, user },
    grant_type: textOf(parameters, "grant_type"),
    scope: typeof granted === "string" ? granted : textOf(parameters, "scope"),
    ...{ parameters, response },
    outcome: status >= 400 ? "refused" : (outcome ?? (event.error === null ? "answered" : "refused")),
    ...end,
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

function responseOf(keeper: Keeper, { endpoint, status }: Line, { answer }: Sent): Values | null {
  if (answer === null || documents.includes(endpoint)) return null;
  if ("location" in answer) {
    const { location, parameters } = answer;
    return {
      location: cut(redacted(location.replace(/[?#].*$/s, "")), 500),
      parameters: keeper.parameters(parameters === undefined ? parametersOf(location) : byName(parameters)),
    };
  }
  if (!isObject(answer.body)) return null;
  const isWhole = holdsClaims.includes(endpoint) && status === 200;
  return { body: isWhole ? keeper.whole(answer.body) : keeper.parameters(answer.body) };
}

function flowOf(flows: Flows, { endpoint }: Line, { url, authorization, answer }: Sent, values: Values): string | null {
  const json = answer !== null && "body" in answer && isObject(answer.body) ? answer.body : {};
  const form = answer !== null && "location" in answer ? answer.parameters : undefined;
  return flows.of({
    ...{ endpoint, url, sent: values },
    bearer: authorization === undefined ? null : bearerIn(authorization),
    location: answer !== null && "location" in answer ? answer.location : null,
    answer: form === undefined ? json : byName(form),
  });
}
