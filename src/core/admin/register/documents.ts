import type { Client, ReadTx, Tx } from "../../../store/store.ts";
import type { ClientDocuments, Peer } from "../../records/clients/document-types.ts";
import { wasAllowed } from "../../records/clients/clients.ts";
import { DocumentError } from "../../records/clients/documents.ts";
import type { Context } from "../../context.ts";
import { OAuthError, type Guidance, type Paragraph } from "../../base/errors.ts";
import { isObject, sameJson, parseJson } from "../../../text/json.ts";
import { metadataOf } from "../../records/clients/admin.ts";
import { reachOfDocuments, send } from "../../base/outbound.ts";
import { isLoopbackUrl, type Reach } from "../../../net/address.ts";
import { createPeerReads } from "../../base/attempts.ts";
import { checkMetadata, secretIn, withoutSecrets } from "./metadata.ts";

/** Reads the metadata documents of clients (OAuth Client ID Metadata Document), and remembers them as HTTP caches do. */

/** Bytes and milliseconds. */
const sizeLimit = 5120;
const timeLimit = 3000;
/** Milliseconds that a document may be remembered at most, that one is remembered which does not say, and that a refusal is, also on loopback. */
const maxFresh = 86_400_000;
const unsaidFresh = 5000;
const refusalFresh = 60_000;
const nearRefusalFresh = 2000;
/** Milliseconds after its last use that the record of a client goes which no user allowed. A sign-in takes no longer. */
const unusedFor = 3_600_000;
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

/** The outcome of reading a document. */
interface DocumentOutcome {
  /** Milliseconds since 1970. */
  readonly readAt: number;
  readonly freshUntil: number;
  /** The addresses that could be read then. */
  readonly reach: Reach;
  readonly client: Client | DocumentError;
  /** The document as the ledger shows it; undefined: nothing that is JSON came. */
  readonly shown: unknown;
}

/** Drops the oldest entry of a full map. */
function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > maxRemembered && oldest !== undefined) map.delete(oldest);
}

/** @param context of the issuer */
export function createClientDocuments(context: () => Context): ClientDocuments {
  const reads = createPeerReads(() => context().now());
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
    if (!isNear(ctx, url)) reads.count(peer.address);
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
      reads.forget();
    },
  };
}

/** Whether a document is on this machine, and may be. */
const isNear = ({ settings }: Context, url: string): boolean => settings.client_metadata_loopback && isLoopbackUrl(url);

/** Whether the client is still in the data: it may have been removed. */
async function isKept(ctx: Context, { client }: DocumentOutcome): Promise<boolean> {
  if (client instanceof DocumentError) return true;
  const { client_id: id, epoch } = client;
  const isThere = (tx: ReadTx): boolean => tx.get("clients", id)?.epoch === epoch;
  if (await ctx.store.read((tx) => isThere(tx) && wasAllowed(tx, id))) return true;
  const at = new Date(ctx.now()).toISOString();
  return ctx.store.transaction((tx) => {
    const record = tx.get("clients", id);
    if (record === undefined || !isThere(tx)) return false;
    tx.put("clients", { ...record, updatedAt: at });
    return true;
  });
}

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
    const fresh = isNear(ctx, url) ? nearRefusalFresh : refusalFresh;
    return { readAt, reach, freshUntil: readAt + fresh, client: new DocumentError(message, error.rule), shown };
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
    throw new BrokenRule(`it answered ${status}, and redirects are not followed`, section5);
  }
  if (status !== 200) throw new BrokenRule(`it answered ${status}, not 200`, section5);
  const type = headers["content-type"];
  if (type !== undefined && !/^application\/(?:[\w.-]+\+)?json *(?:;|$)/i.test(type)) {
    throw new BrokenRule(`its Content-Type is "${type}", not application/json`);
  }
  return { text, fresh: freshness(headers) };
}

/** How many milliseconds a response may be used again (RFC 9111 4.2, 5.2.2). */
function freshness(headers: Readonly<Record<string, string | readonly string[] | undefined>>): number {
  const { "cache-control": control = "", age = "0", expires, date } = headers;
  const directives = String(control).toLowerCase();
  if (/\bno-(?:store|cache)\b/.test(directives)) return 0;
  const seconds = /(?:^|[\s,])max-age="?(\d{1,10})/.exec(directives)?.[1];
  if (seconds === undefined && expires === undefined) return unsaidFresh;
  const lifetime =
    seconds === undefined ? Date.parse(String(expires)) - Date.parse(String(date)) : Number(seconds) * 1000;
  const left = lifetime - (Number(age) || 0) * 1000;
  return left > 0 ? Math.min(left, maxFresh) : 0;
}

function jsonIn(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    throw new BrokenRule("it is not JSON", undefined, { cause: error });
  }
}

/** The client that a document describes. @throws {BrokenRule} */
async function clientIn(ctx: Context, url: string, document: unknown): Promise<Client> {
  if (!isObject(document)) throw new BrokenRule("it is not a JSON object");
  const { client_id: id, client_name: name, redirect_uris: uris } = document;
  // An empty one counts as left out, as every member does (`checkMetadata`).
  const { token_endpoint_auth_method: sent, jwks_uri: keys = "" } = document;
  const method = sent === "" ? undefined : sent;
  if (id !== url) {
    const what = id === undefined ? "it has no client_id" : `its client_id is ${JSON.stringify(id)}, not its URL`;
    throw new BrokenRule(what);
  }
  if (typeof name !== "string" || name.trim() === "") throw new BrokenRule("it has no client_name");
  if (!Array.isArray(uris) || uris.length === 0) throw new BrokenRule("it has no redirect_uris");
  const secret = secretIn(document);
  if (secret !== null) throw new BrokenRule(`it contains ${secret}, and anybody can read it`, section41);
  if (keys !== "") throw new BrokenRule("it has a jwks_uri; put the public keys into jwks", section41);
  if (method !== undefined && method !== "none" && method !== "private_key_jwt") {
    throw new BrokenRule(
      `its token_endpoint_auth_method is ${JSON.stringify(method)}; use none, or private_key_jwt with jwks`,
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

/**
 * Puts the client into the data, so that its grants and tokens work as those of any client. Until a user allows it, `updatedAt` says when it was
 * last used.
 */
async function keep(ctx: Context, read: Client): Promise<Client> {
  const now = ctx.now();
  const at = new Date(now).toISOString();
  const epoch = ctx.random(9);
  return ctx.store.transaction((tx) => {
    const before = tx.get("clients", read.client_id);
    // The operator registered the same id in the meantime.
    if (before !== undefined && before.fromDocument === undefined) return before;
    removeUnused(tx, now);
    const isSame = before !== undefined && sameJson(metadataOf(before), metadataOf(read));
    if (isSame && wasAllowed(tx, read.client_id)) return before;
    const own = { epoch: before?.epoch ?? epoch, createdAt: before?.createdAt ?? at, updatedAt: at };
    const client: Client = { ...read, ...own, fromDocument: true };
    tx.put("clients", client);
    return client;
  });
}

/** Removes what anybody could leave behind. Before a user allows a client, it has no code and no session. */
function removeUnused(tx: Tx, now: number): void {
  for (const { client_id: id, updatedAt } of tx.findAll("clients", "fromDocument", "true")) {
    // One in the future was used before the clock was set back.
    if (Math.abs(now - Date.parse(updatedAt)) >= unusedFor && !wasAllowed(tx, id)) tx.remove("clients", id);
  }
}
