import { isObject, jsonObjectIn, type JsonObject } from "../../../text/json.ts";
import { cut, redacted } from "../../../text/redacted.ts";
import { isList, isProven } from "../../protocol/redaction/places.ts";
import { redactorOf, valuesIn } from "../../protocol/redaction/redactor.ts";
import { shownValue, type IsRegistered } from "../../protocol/redaction/values.ts";
import { byName, parametersOf, type Flows, type LinkableRequest, type Links } from "./flows.ts";
import { copied, type Redactor, type Token } from "./redact-record.ts";
import type { Refusal } from "../../base/errors.ts";
import { hintIn } from "../../base/hint.ts";
import { outcomeIn } from "./outcome.ts";
import type { Exchange, KeptEvent, KeptRequest } from "./ledger.ts";
import { isProvisioning } from "./filter.ts";

/** Makes the record of a request. Parameters, tokens and bodies go through `redact-record.ts`, other texts through `core/protocol/redaction`. */

const maxLength = 500;

/** The token of an Authorization header. */
function bearerIn(redactor: Redactor, authorization: string | undefined): Token | null {
  const token = /^(?:bearer|dpop|token) +(\S+) *$/i.exec(authorization ?? "")?.[1];
  return token === undefined ? null : redactor.read(token);
}

/** A request that was refused, or that nobody looked at, may hold anything; the parameters of others were checked. */
const isAccepted = ({ status, notes: { refusal, unchecked } }: Exchange): boolean =>
  status >= 200 && status < 400 && refusal === undefined && unchecked === undefined;

/** @param isScope whether a scope of this name is defined */
function registeredIn(exchange: Exchange, isScope: IsRegistered): IsRegistered {
  const { registered = new Set(), client = null, user = null } = exchange.notes;
  const isClient = (text: string): boolean => text === client && isAccepted(exchange);
  return (text) => text === user || isClient(text) || registered.has(text) || isScope(text);
}

/** The value of a parameter as it may be shown; null: not at all. */
const shownIn =
  (exchange: Exchange, values: JsonObject, isRegistered: IsRegistered) =>
  (name: string, value: string): string | null => {
    if (isAccepted(exchange) && isProven(exchange.endpoint, name, values["grant_type"])) return value;
    // A person may type a password in place of a username, so that one is only shown if it is known.
    return name === "username" && !isRegistered(value) ? null : shownValue(value, isRegistered, isList(name));
  };

/** Cuts names for the log, because the sender of a request chooses their length. */
function brief(text: string): string;
function brief(text: string | null | undefined): string | null;
function brief(text: string | null | undefined): string | null {
  return text == null ? null : cut(redacted(text), maxLength);
}

/** A sentence of ours, which may repeat what was sent. Long enough for all redirect URIs of a client. */
const maxSentence = 4000;
const sentence = (text: string | null | undefined): string | null => (text == null ? null : cut(text, maxSentence));

/** A refusal with its texts, but for code and rule, as a function changes them. */
const refusalIn = (
  { message, given, parameter, hint, ...refusal }: Refusal,
  text: (text: string) => string,
): Refusal => ({
  ...refusal,
  message: text(message),
  // The sender may have chosen its name.
  ...(parameter !== undefined && { parameter: text(parameter) }),
  given: given && { ...given, sent: text(given.sent) },
  hint: hint && hintIn(hint, text),
});

/**
 * The log line of a request.
 * @param id null: the ledger does not hold it
 */
export function eventOf<Id extends string | null>(
  exchange: Exchange,
  id: Id,
  isScope: IsRegistered,
): KeptEvent & { readonly id: Id } {
  const { time, clock, method, endpoint, path, status, isSent, ms, notes } = exchange;
  const line = {
    id,
    time: new Date(time).toISOString(),
    method,
    endpoint,
    status,
    ms,
    path: brief(path),
    client: brief(notes.client),
    user: brief(notes.user),
    outcome: isSent ? ((notes.outcome && outcomeIn(notes.outcome, brief)) ?? null) : ({ kind: "cut-off" } as const),
    refusal: notes.refusal === undefined ? null : refusalIn(notes.refusal, (text) => cut(text, maxSentence)),
    fault: sentence(notes.fault),
    ...(notes.faults !== undefined && { faults: notes.faults }),
    clock,
    ...(notes.by !== undefined && { by: notes.by }),
    ...(notes.address !== undefined && { address: notes.address }),
  };
  if (isAccepted(exchange) || isProvisioning(endpoint)) return line;
  const text = redactorOf(exchange, registeredIn(exchange, isScope));
  // A name that contains a secret is left out.
  const name = (given: string | null): string | null => (given !== null && text(given) === given ? given : null);
  const { outcome, refusal } = line;
  return {
    ...line,
    path: text(line.path),
    client: name(line.client),
    user: name(line.user),
    outcome: outcome && outcomeIn(outcome, text),
    refusal: refusal && refusalIn(refusal, text),
  };
}

/** The parts of the ledger that make records. */
interface Recorder {
  readonly redactor: Redactor;
  readonly linksOf: (request: LinkableRequest) => Links | null;
  readonly flows: Flows;
  readonly isScope: IsRegistered;
}

/** The whole record, and what links it to others. @param event its log line */
export function recordOf(
  { redactor, linksOf, flows, isScope }: Recorder,
  event: KeptEvent & { readonly id: string },
  exchange: Exchange,
): { readonly record: KeptRequest; readonly links: Links | null } {
  const { id, time, endpoint, method, path, status, ms, client, user, outcome, refusal, fault, faults, clock } = event;
  const { authorization, dpop } = exchange;
  const values = valuesIn(exchange);
  const isRegistered = registeredIn(exchange, isScope);
  const bearer = bearerIn(redactor, authorization);
  const shown = shownIn(exchange, values, isRegistered);
  const isOurs = isProvisioning(endpoint);
  const parameters = {
    ...(isOurs
      ? (redactor.whole(values) as JsonObject)
      : withMessages(redactor, exchange, redactor.parameters(values, shown))),
    ...(authorization !== undefined && { authorization: headerOf(redactor, authorization, bearer) }),
    ...(dpop !== undefined && { dpop: redactor.redactedToken(redactor.read(dpop)) }),
  };
  const json = jsonOf(exchange);
  const answered = responseOf(redactor, exchange, json, shown);
  const response =
    refusal === null || isOurs ? answered : (copied(answered, redactorOf(exchange, isRegistered)) as typeof answered);
  const granted = isObject(response?.["body"]) ? response["body"]["scope"] : undefined;
  const links = linksOf(linkableRequest(exchange, { sent: values, bearer, read: redactor.read, json }));
  const record = {
    id,
    time,
    flow: flows.join(links, exchange.notes.flow ?? null),
    endpoint,
    method,
    path,
    status,
    ms,
    client,
    user,
    grant_type: textOf(parameters, "grant_type") ?? exchange.notes.grantType ?? null,
    scope: typeof granted === "string" ? granted : textOf(parameters, "scope"),
    parameters,
    response,
    metadata_document: exchange.notes.document === undefined ? null : redactor.whole(exchange.notes.document),
    outcome: status >= 400 ? null : outcome,
    refusal,
    fault,
    ...(faults !== undefined && { faults }),
    clock,
  };
  return { record, links };
}

const textOf = (values: JsonObject, name: string): string | null => {
  const value = values[name];
  return typeof value === "string" ? value : null;
};

const schemeOf = (authorization: string): string =>
  /^(?:basic|bearer|dpop)(?= |$)/i.exec(authorization)?.[0] ?? "another";

const headerOf = (redactor: Redactor, authorization: string, bearer: Token | null): JsonObject => ({
  scheme: schemeOf(authorization),
  ...(bearer === null ? { fingerprint: null } : redactor.redactedToken(bearer)),
});

/** Their responses hold claims, which may have any name. */
const holdsClaims = ["userinfo", "introspect"];
/** Public documents. */
const documents = ["discovery", "jwks"];

/** The response as a JSON object; null for anything else, because a fault can send any text. */
const jsonOf = ({ notes: { answer } }: Exchange): JsonObject | null =>
  answer !== undefined && "json" in answer ? jsonObjectIn(answer.json) : null;

function responseOf(
  redactor: Redactor,
  exchange: Exchange,
  json: JsonObject | null,
  shown: ReturnType<typeof shownIn>,
): JsonObject | null {
  const {
    endpoint,
    status,
    notes: { answer },
  } = exchange;
  if (answer === undefined || documents.includes(endpoint)) return null;
  if ("location" in answer) {
    const { location, parameters } = answer;
    return {
      location: cut(redacted(location.replace(/[?#].*$/s, "")), maxLength),
      parameters:
        parameters === undefined
          ? // An address of our own repeats what was sent.
            redactor.parameters(parametersOf(location), location.startsWith("/") ? shown : undefined)
          : withMessages(redactor, exchange, redactor.parameters(byName(parameters))),
    };
  }
  if (json === null) return null;
  const isWhole = isProvisioning(endpoint) || (holdsClaims.includes(endpoint) && status === 200);
  return { body: isWhole ? redactor.whole(json) : redactor.parameters(json) };
}

const maxMessage = 16_384;

/** Adds what the messages of SAML say to their fingerprints: the XML, with a fingerprint in place of each NameID and signature. */
const withMessages = (redactor: Redactor, { notes: { saml = {} } }: Exchange, recorded: JsonObject): JsonObject => ({
  ...recorded,
  ...Object.fromEntries(
    Object.entries(saml).flatMap(([name, parts]) => {
      const fingerprint = recorded[name];
      if (!isObject(fingerprint)) return [];
      const text = parts.map((part) =>
        typeof part === "string" ? redacted(part) : `#${redactor.read(part.secret).fingerprint}`,
      );
      return [[name, { ...fingerprint, message: cut(text.join(""), maxMessage) }]];
    }),
  ),
});

/** The flow of a request that is not answered yet. */
export const flowOfRequest = (
  { linksOf, flows, redactor: { read } }: Omit<Recorder, "isScope">,
  request: Pick<Exchange, "endpoint" | "url" | "body">,
): string | null =>
  flows.join(linksOf({ ...request, read, sent: valuesIn(request), bearer: null, location: null, answer: {} }), null);

function linkableRequest(
  { endpoint, url, notes: { answer } }: Exchange,
  { json, ...seen }: Pick<LinkableRequest, "sent" | "bearer" | "read"> & { readonly json: JsonObject | null },
): LinkableRequest {
  const redirect = answer !== undefined && "location" in answer ? answer : null;
  const form = redirect?.parameters;
  return {
    ...{ endpoint, url, ...seen },
    location: redirect?.location ?? null,
    answer: form === undefined ? (json ?? {}) : byName(form),
  };
}
