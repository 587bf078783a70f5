/*
 * core/protocol/redaction: what may be shown of a request, in every text that repeats it: responses, pages, the request log, the ledger.
 *
 * It is decided by place and form, and never by comparing a value with the records of secrets, so no output tells whether a guess was right:
 *
 * - A parameter that is meant to hold a secret is never shown (places.ts; those of a token request are declared by its grant type).
 * - In any other parameter, path or message, a value is shown if it is registered or shorter than 16 characters (values.ts). Inside a
 *   URI, passwords and parameters that are not open are hidden from 4 characters on.
 * - Everything in the form of our own tokens is replaced wherever it stands (src/text/redacted.ts).
 *
 * redactor.ts applies all three to the texts about one request, and looks up which of its values are registered.
 * What the ledger records of parameters and tokens is in core/testing/ledger/redact-record.ts, by the same rules.
 */
import { parse } from "node:querystring";
import { isObject, type JsonObject } from "../../../text/json.ts";
import { longEnough, redacted, without } from "../../../text/redacted.ts";
import { decoded } from "../../../text/url.ts";
import { isList, isOpen, isParameterName } from "./places.ts";
import { hiddenIn, hiddenInPath, minPartLength, textsIn, openWords, type IsRegistered } from "./values.ts";
import type { Client, ReadTx } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { readJws } from "../../records/keys/jws.ts";
import { isKnown } from "../../records/scopes/scopes.ts";

/** What a request sent. */
export interface Sent {
  /** Path and query. */
  readonly url: string;
  readonly body: unknown;
  readonly authorization: string | undefined;
}

const maxParameters = 100;

/** The parameters of query and body together. */
export function valuesIn({ url, body }: Pick<Sent, "url" | "body">): JsonObject {
  const at = url.indexOf("?");
  const query = at < 0 ? {} : parse(url.slice(at + 1), "&", "=", { maxKeys: maxParameters });
  if (!isObject(body)) return query;
  const both = new Map<string, unknown>(Object.entries(query));
  for (const [name, value] of Object.entries(body)) {
    both.set(name, both.has(name) ? [both.get(name), value].flat() : value);
  }
  return Object.fromEntries(both);
}

/** Client ID and secret of a Basic header, as they were sent. */
function basicIn(authorization: string | undefined): { readonly id: string; readonly secret: string } | null {
  const encoded = /^basic +(\S+) *$/i.exec(authorization ?? "")?.[1];
  if (encoded === undefined) return null;
  const [, id = "", secret = ""] = /^([^:]*):?(.*)$/s.exec(Buffer.from(encoded, "base64").toString()) ?? [];
  return { id, secret };
}

/** The texts of a request that may not be repeated. Our texts never quote a secret parameter: the sender may have put it elsewhere, too. */
function hiddenOf({ url, body, authorization }: Sent, isRegistered: IsRegistered): readonly string[] {
  const basic = basicIn(authorization);
  const credentials = /^\S+ +(.*)$/s.exec(authorization ?? "")?.[1] ?? authorization ?? "";
  const ofParameters = Object.entries(valuesIn({ url, body }))
    .slice(0, maxParameters)
    .flatMap(([name, given]) => [
      ...(isParameterName(name) ? [] : [name]),
      ...textsIn(given).flatMap((text) =>
        isOpen(name) ? hiddenIn(text, isRegistered, isList(name)) : longEnough(text),
      ),
    ]);
  return [
    ...hiddenInPath(url.replace(/\?.*$/s, ""), isRegistered),
    ...ofParameters,
    ...[credentials, basic?.secret ?? ""].flatMap(longEnough),
    ...(basic === null ? [] : hiddenIn(basic.id, isRegistered)),
  ].filter(({ length }) => length >= minPartLength);
}

/** The most texts that are hidden one by one. With more, the whole text is hidden, because the sender chooses how many there are. */
const maxHidden = 1000;

/** Makes what cleans the texts about a request: of its answer, its log line and its record. */
export function redactorOf(sent: Sent, isRegistered: IsRegistered): (text: string) => string {
  const hidden = hiddenOf(sent, isRegistered).filter((text) => !isRegistered(text));
  if (hidden.length > maxHidden) return () => "…";
  const clean = without(hidden, openWords);
  return (text) => redacted(clean(text));
}

/** At most so many texts of a request are looked up. */
const maxLookedUp = 200;

/** A URI and its parts, each of which may be shown alone. */
const partsOf = (uri: string): readonly string[] => [uri, ...uri.split(/[/?&#=;:]/), ...uri.split(/[/?&#=;:.]/)];

/** How many of the clients that a request names show their addresses: it is of one client, and anybody may register addresses of thousands of parts. */
const maxClients = 3;

const urisOf = ({
  redirect_uris: uris,
  redirect_patterns: patterns = [],
  post_logout_redirect_uris: after = [],
}: Client) => [...uris, ...patterns, ...after];

/** At most so many characters of their addresses are split into parts. Beyond that, an address is hidden as one that nobody registered. */
const maxCharacters = 65_536;

function first(uris: readonly string[]): readonly string[] {
  let left = maxCharacters;
  return uris.filter(({ length }) => (left -= length) >= 0);
}

/** The clients that are named, and the parts of their addresses. */
function ofClients(tx: ReadTx, names: readonly string[]): readonly string[] {
  const clients = names.flatMap((name) => tx.get("clients", name) ?? []);
  const uris = first(clients.slice(0, maxClients).flatMap(urisOf));
  return [...clients.map(({ client_id: id }) => id), ...uris.flatMap(partsOf)];
}

/** Tokens that name a client, in place of `client_id`. As that one, they are not verified: whoever sends a URI knows it. */
const naming = [
  ["id_token_hint", "aud"],
  ["client_assertion", "sub"],
] as const;

const namedByTokens = (values: JsonObject): readonly string[] =>
  naming.flatMap(([name, claim]) => {
    const token = values[name];
    const id = typeof token === "string" ? readJws(token)?.payload[claim] : undefined;
    return typeof id === "string" ? [id] : [];
  });

const isName = (tx: ReadTx, ctx: Context, text: string): boolean =>
  isKnown(tx, ctx, text) ||
  tx.find("users", "username", text) !== undefined ||
  tx.has("users", "email", text.toLowerCase());

/**
 * Which texts of a refused request are registered: client IDs with their redirect URIs, usernames, e-mail addresses, scopes, and the parts of
 * this issuer's own addresses. They are looked up by key; secrets are not looked at.
 * @param open addresses that count as registered
 */
export async function registeredIn(
  ctx: Context,
  sent: Sent,
  open: readonly string[] = [],
): Promise<ReadonlySet<string>> {
  const all = valuesIn(sent);
  const values = Object.entries(all).flatMap(([name, value]) => (isOpen(name) ? textsIn(value) : []));
  const basic = basicIn(sent.authorization);
  const texts = [
    ...sent.url.replace(/\?.*$/s, "").split("/").map(decoded),
    ...(basic === null ? [] : [basic.id]),
    ...namedByTokens(all),
    ...values.flatMap((value) => [value, ...value.split(" ", maxLookedUp)]),
  ];
  const asked = [...new Set(texts)].filter((text) => text !== "").slice(0, maxLookedUp);
  const own = [...open, ctx.issuer, ctx.address, ...Object.values(ctx.layout.paths)].flatMap(partsOf);
  return ctx.store.read(
    (tx) => new Set([...own, ...ofClients(tx, asked), ...asked.filter((text) => isName(tx, ctx, text))]),
  );
}
