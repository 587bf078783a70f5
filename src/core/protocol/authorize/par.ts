import type { Client, PushedRequest } from "../../../store/store.ts";
import { checkAuthorizationRequest } from "./request.ts";
import { refuseRequestUri } from "./target.ts";
import { readRequest, type RawParameters, type SentRequest } from "./parameters.ts";
import { verifyIdTokenHint } from "../tokens/accept.ts";
import type { Context } from "../../context.ts";
import type { Peer } from "../../records/clients/document-types.ts";
import { documentClient } from "../../records/clients/documents.ts";
import { verifyProof, type Proof } from "../tokens/dpop.ts";
import { OAuthError } from "../../base/errors.ts";
import { namingIssuer, refuseOfOther } from "../../records/issuers/issuer.ts";
import { isWaiting, sourceOf, type Browser } from "../../sign-in/interactions.ts";
import { isPublic } from "../../records/clients/clients.ts";
import { RedirectedError } from "../../sign-in/response.ts";

/** Pushed authorization requests (RFC 9126): used once, by the client that pushed them. */

const prefix = "urn:ietf:params:oauth:request_uri:";

/** Seconds: the browser follows at once (RFC 9126 2.2 suggests 5 to 600). */
const pushedRequestTtl = 60;

interface PushedAnswer {
  readonly request_uri: string;
  /** Seconds. */
  readonly expires_in: number;
}

/**
 * Checks a request as the authorization endpoint does, and stores it.
 * @param how `proof` null: no DPoP header was sent
 * @throws {OAuthError} what the authorization endpoint refuses, here as a response to the client (RFC 9126 2.3)
 */
export async function pushRequest(
  ctx: Context,
  client: Client,
  sent: RawParameters,
  { proof, peer }: { readonly proof: Proof | null; readonly peer: Pick<Peer, "address"> },
): Promise<PushedAnswer> {
  if (isSent(sent, "request_uri")) {
    throw new OAuthError("invalid_request", "request_uri cannot be pushed", {
      rule: "RFC 9126 2.1",
      parameter: "request_uri",
      fix: "push the parameters themselves",
    });
  }
  const { client_secret: _, client_assertion: __, client_assertion_type: ___, ...rest } = sent;
  const parameters = { ...rest, ...(await boundTo(ctx, rest, proof)), client_id: client.client_id };
  const request = readRequest(parameters);
  const { idTokenHint } = await ctx.store.read((tx) => {
    try {
      return checkAuthorizationRequest(tx, ctx, request, { pushed: true, document: documentOf(client) });
    } catch (error) {
      throw error instanceof RedirectedError ? error.error : error;
    }
  });
  if (idTokenHint !== null) await verifyIdTokenHint(ctx, idTokenHint);
  return ctx.store.transaction((tx) => {
    const id = prefix + ctx.random(32);
    tx.insert("pushedRequests", {
      id,
      issuerPath: ctx.layout.issuer,
      clientId: client.client_id,
      ...(client.fromDocument && { document: client }),
      parameters,
      expiresAt: ctx.now() + pushedRequestTtl * 1000,
      // A client that proved who it is sends the requests of all its users from one address.
      ...(isPublic(client) && { from: sourceOf(peer) }),
    });
    return { request_uri: id, expires_in: pushedRequestTtl };
  });
}

const documentOf = (client: Client): Client | undefined => (client.fromDocument === true ? client : undefined);

/** A parameter without a value counts as not sent (RFC 6749 3.1). */
const isSent = (sent: RawParameters, name: string): boolean => (sent[name] ?? "") !== "";

/** A DPoP header binds the code as `dpop_jkt` does, and if both are sent, they must agree (RFC 9449 10.1). */
async function boundTo(ctx: Context, sent: RawParameters, proof: Proof | null): Promise<RawParameters> {
  if (proof === null) return {};
  const jkt = await verifyProof(ctx, proof, null);
  if (isSent(sent, "dpop_jkt") && sent["dpop_jkt"] !== jkt) {
    throw new OAuthError("invalid_dpop_proof", "dpop_jkt names another key than the one of the DPoP proof", {
      rule: "RFC 9449 10.1",
      parameter: "dpop_jkt",
      fix: "leave dpop_jkt out: the proof says the key",
    });
  }
  return { dpop_jkt: jkt };
}

/** What a request asks for. */
type Taken =
  | { readonly sent: SentRequest; readonly pushed: PushedRequest | null }
  /** A reload: the sign-in that goes on. */
  | { readonly uid: string };

/**
 * The parameters of a request: the pushed ones, if it names them. They are used once; a reload in the browser that began the sign-in, and
 * before it ended, continues it (RFC 9126 4).
 * @throws {OAuthError | RedirectedError} invalid_request_uri if it was used before, expired, or pushed by another client
 */
export async function takePushed(ctx: Context, sent: SentRequest, browser: Browser): Promise<Taken> {
  const { request_uri: requestUri, client_id: clientId } = sent.values;
  if (requestUri?.startsWith(prefix) !== true) return { sent, pushed: null };
  const taken = await ctx.store.transaction((tx) => {
    const request = tx.get("pushedRequests", requestUri);
    if (request === undefined || request.clientId !== clientId) return undefined;
    const refusal = refuseOfOther(ctx, request, "invalid_request_uri", "request_uri");
    if (refusal !== null || request.uid === undefined) return refusal ?? tx.remove("pushedRequests", requestUri);
    return isWaiting(tx, ctx, request.uid, browser) ? request : undefined;
  });
  if (taken instanceof OAuthError) return refuseTaking(ctx, sent, taken, browser);
  if (taken === undefined) {
    const error = new OAuthError(
      "invalid_request_uri",
      `request_uri was used before, expired (it lives ${pushedRequestTtl} s), or was pushed by another client: push the request again`,
      { rule: "RFC 9126 4", parameter: "request_uri", fix: null },
    );
    const named = await namingIssuer(
      ctx,
      error,
      "request_uri",
      (tx) => tx.get("pushedRequests", requestUri) !== undefined,
    );
    return refuseTaking(ctx, sent, named, browser);
  }
  if (taken.uid !== undefined) return { uid: taken.uid };
  return { sent: readRequest(taken.parameters), pushed: taken };
}

/** Refuses by the client as its metadata document is now: a redirect URI that it no longer lists gets nothing. */
async function refuseTaking(ctx: Context, sent: SentRequest, error: OAuthError, peer: Peer): Promise<never> {
  const document = await documentClient(ctx, sent.values.client_id, peer);
  return ctx.store.read((tx) => refuseRequestUri(tx, ctx, sent, error, document));
}

/** Undoes {@link takePushed}: a request whose interaction could not be written was not used. */
export const putBackPushed = (ctx: Context, taken: PushedRequest): Promise<void> =>
  ctx.store.transaction((tx) => {
    tx.insert("pushedRequests", taken);
  });
