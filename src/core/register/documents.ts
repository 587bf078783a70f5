import type { Client } from "../../store/store.ts";
import type { ClientDocuments, Peer } from "../clients/document-types.ts";
import { DocumentError } from "../clients/documents.ts";
import type { Context } from "../context.ts";
import { OAuthError, type Guidance, type Paragraph } from "../errors.ts";
import { isObject, sameJson } from "../../text/json-object.ts";
import { privateMembers } from "../keys/keys.ts";
import { metadataOf } from "../clients/admin.ts";
import { reachOfDocuments, send, type Reach } from "../outbound.ts";
import { parseJson } from "../../text/json-depth.ts";
import type { PeerReads } from "./peer-reads.ts";
import { checkMetadata } from "./register.ts";

/** Reads the metadata documents of clients (OAuth Client ID Metadata Document), and remembers them as HTTP caches do. */

/** Bytes and milliseconds. */
const sizeLimit = 5120;
const timeLimit = 3000;
/** Milliseconds that a document may be remembered at most, and that a refusal is remembered. */
const maxFresh = 86_400_000;
const refusalFresh = 60_000;
/** How many documents are remembered. Anybody can add some. */
const maxRemembered = 1000;

/** The rule that a document breaks. */
class BrokenRule extends Error {
  readonly rule: Guidance["rule"];
  /** @param rule of the draft, in which section 4 describes the document */
  constructor(message: string, rule: Guidance["rule"] = "Client ID Metadata Document 4", options?: ErrorOptions) {
    super(message, options);
    this.rule = rule;
  }
}

const section41: Paragraph = "Client ID Metadata Document 4.1";
const section5: Paragraph = "Client ID Metadata Document 5";

/** What came of reading a document. */
interface DocumentOutcome {
  /** Milliseconds since 1970. */
  readonly readAt: number;
  readonly freshUntil: number;
  /** What could be read then. */
  readonly reach: Reach;
  readonly client: Client | DocumentError;
  /** As the ledger shows it; undefined: nothing that is JSON came. */
  readonly shown: unknown;
}

/** Drops the oldest entry of a full map. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxRemembered && oldest !== undefined) map.delete(oldest);
}

/** @param context of the issuer @param reads of the process */
export function createClientDocuments(context: () => Context, reads: PeerReads): ClientDocuments {
  const outcomes = new Map<string, DocumentOutcome>();
  const underway = new Map<string, Promise<DocumentOutcome>>();
  /** Requests for one document at the same moment read it once. */
  async function outcomeOf(ctx: Context, url: string, peer: Peer): Promise<DocumentOutcome> {
    const known = outcomes.get(url);
    const now = ctx.now();
    const isReach = known?.reach === reachOfDocuments(ctx.settings);
    if (known !== undefined && isReach && known.readAt <= now && now < known.freshUntil && (await isKept(ctx, known)))
      return known;
    const reading = underway.get(url);
    if (reading !== undefined) return reading;
    reads.count(peer.address);
    const begun = readDocument(ctx, url).then((outcome) => {
      remember(outcomes, url, outcome);
      return outcome;
    });
    underway.set(url, begun);
    return begun.finally(() => underway.delete(url));
  }

  return {
    async read(url, peer) {
      const { client, shown } = await outcomeOf(context(), url, peer);
      if (shown !== undefined) peer.sawDocument?.(shown);
      // A new error for each request: its stack and its cause are those of the request.
      if (client instanceof DocumentError) throw new DocumentError(client.message, client.rule);
      return client;
    },
    forget() {
      outcomes.clear();
    },
  };
}

/** Whether the client is still in the data: it may have been removed. */
const isKept = (ctx: Context, { client }: DocumentOutcome): Promise<boolean> =>
  ctx.store.read(
    (tx) => client instanceof DocumentError || tx.get("clients", client.client_id)?.epoch === client.epoch,
  );

async function readDocument(ctx: Context, url: string): Promise<DocumentOutcome> {
  const readAt = ctx.now();
  const reach = reachOfDocuments(ctx.settings);
  let shown: unknown;
  try {
    const { text, fresh } = await fetchDocument(ctx, url);
    const document = jsonIn(text);
    shown = withoutSecrets(document);
    const client = await keep(ctx, await clientIn(ctx, url, document));
    return { readAt, reach, freshUntil: readAt + fresh, client, shown };
  } catch (error) {
    if (!(error instanceof BrokenRule)) throw error;
    const message = `the metadata document of client "${url}" is not accepted: ${error.message}`;
    return { readAt, reach, freshUntil: readAt + refusalFresh, client: new DocumentError(message, error.rule), shown };
  }
}

/** @returns the document, and for how many milliseconds it may be remembered */
async function fetchDocument(ctx: Context, url: string): Promise<{ readonly text: string; readonly fresh: number }> {
  const { settings } = ctx;
  const rule =
    "and only public addresses may have one; for one on this machine: --client-metadata-loopback (Client ID Metadata Document 8.6)";
  const answer = await send(url, { reach: reachOfDocuments(settings), rule, timeLimit, sizeLimit }).catch(
    (error: unknown) => {
      throw new BrokenRule((error as Error).message, section5);
    },
  );
  const { status, headers, text } = answer;
  if (status >= 300 && status < 400) {
    throw new BrokenRule(
      `it answered ${status}, and redirects are not followed (Client ID Metadata Document 5)`,
      section5,
    );
  }
  if (status !== 200) throw new BrokenRule(`it answered ${status}, not 200 (Client ID Metadata Document 5)`, section5);
  const type = headers["content-type"];
  if (type !== undefined && !/^application\/(?:[\w.-]+\+)?json *(?:;|$)/i.test(type)) {
    throw new BrokenRule(`its Content-Type is "${type}", not application/json (Client ID Metadata Document 4)`);
  }
  return { text, fresh: freshness(headers) };
}

/** For how many milliseconds a response may be used again (RFC 9111 4.2, 5.2.2). */
function freshness(headers: Readonly<Record<string, string | readonly string[] | undefined>>): number {
  const { "cache-control": control = "", age = "0", expires, date } = headers;
  const directives = String(control).toLowerCase();
  if (/\bno-(?:store|cache)\b/.test(directives)) return 0;
  const seconds = /(?:^|[\s,])max-age="?(\d{1,10})/.exec(directives)?.[1];
  const lifetime =
    seconds === undefined ? Date.parse(String(expires)) - Date.parse(String(date)) : Number(seconds) * 1000;
  const left = lifetime - (Number(age) || 0) * 1000;
  return left > 0 ? Math.min(left, maxFresh) : 0;
}

function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new BrokenRule("it is not JSON (Client ID Metadata Document 4)", undefined, { cause: error });
  }
}

/** The client that a document describes. @throws {BrokenRule} */
async function clientIn(ctx: Context, url: string, document: unknown): Promise<Client> {
  if (!isObject(document)) throw new BrokenRule("it is not a JSON object (Client ID Metadata Document 4)");
  const { client_id: id, client_name: name, redirect_uris: uris, token_endpoint_auth_method: method } = document;
  if (id !== url)
    throw new BrokenRule(`its client_id is ${JSON.stringify(id)}, not its URL (Client ID Metadata Document 4)`);
  if (typeof name !== "string" || name.trim() === "") throw new BrokenRule("it has no client_name");
  if (!Array.isArray(uris) || uris.length === 0) throw new BrokenRule("it has no redirect_uris");
  const secret = secretIn(document);
  if (secret !== null)
    throw new BrokenRule(`it contains ${secret}, and anybody can read it (Client ID Metadata Document 4.1)`, section41);
  if (Object.hasOwn(document, "jwks_uri"))
    throw new BrokenRule("it has a jwks_uri; put the public keys into jwks", section41);
  if (method !== undefined && method !== "none" && method !== "private_key_jwt") {
    throw new BrokenRule(
      `its token_endpoint_auth_method is ${JSON.stringify(method)}; use none, or private_key_jwt with jwks (Client ID Metadata Document 4.1)`,
      section41,
    );
  }
  // Nothing is sent to what a stranger wrote.
  const { backchannel_logout_uri: _, backchannel_logout_session_required: __, ...metadata } = document;
  try {
    return await checkMetadata(ctx, metadata, { client_id: url, token_endpoint_auth_method: method ?? "none" });
  } catch (error) {
    if (error instanceof OAuthError) throw new BrokenRule(error.message, error.rule);
    throw error;
  }
}

/** Members that only keys have: one without its `kty` is a key too. */
const keyMembers = ["kty", "crv", "n", "d", "k"] as const;
const isKey = (value: Readonly<Record<string, unknown>>): boolean =>
  keyMembers.some((name) => typeof value[name] === "string");

const isPrivatePem = (text: string): boolean => /-----BEGIN [\w ]*PRIVATE KEY-----/.test(text);

/** Names of what only the client may know; in a key, the members that make it one. */
function secretNames(value: Readonly<Record<string, unknown>>): readonly string[] {
  const names = Object.keys(value).filter((name) =>
    /secret|password|private_key|registration_access_token/i.test(name),
  );
  return isKey(value) ? [...names, ...privateMembers.filter((name) => Object.hasOwn(value, name))] : names;
}

/** The first secret in a document, in words; null: it has none. */
function secretIn(value: unknown): string | null {
  if (typeof value === "string") return isPrivatePem(value) ? "a private key in PEM format" : null;
  if (Array.isArray(value)) return value.map(secretIn).find((found) => found !== null) ?? null;
  if (!isObject(value)) return null;
  const [name] = secretNames(value);
  if (name !== undefined) return isKey(value) ? `a private or secret key ("${name}")` : name;
  return isKey(value) && value["kty"] === "oct" ? 'a secret key (kty "oct")' : secretIn(Object.values(value));
}

/** A document as others may see it. */
function withoutSecrets(value: unknown): unknown {
  if (typeof value === "string") return isPrivatePem(value) ? "…" : value;
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  const hidden = secretNames(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, hidden.includes(name) ? "…" : withoutSecrets(one)]),
  );
}

/** Puts the client into the data, so that its grants and tokens work as those of any client. */
async function keep(ctx: Context, read: Client): Promise<Client> {
  const at = new Date(ctx.now()).toISOString();
  const epoch = ctx.random(9);
  return ctx.store.transaction((tx) => {
    const before = tx.get("clients", read.client_id);
    // The operator registered the same id in the meantime.
    if (before !== undefined && before.fromDocument === undefined) return before;
    if (before !== undefined && sameJson(metadataOf(before), metadataOf(read))) return before;
    const own = { epoch: before?.epoch ?? epoch, createdAt: before?.createdAt ?? at, updatedAt: at };
    const client: Client = { ...read, ...own, fromDocument: true };
    tx.put("clients", client);
    return client;
  });
}
