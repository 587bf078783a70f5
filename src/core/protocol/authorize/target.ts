import type { Client, ReadTx } from "../../../store/store.ts";
import { clientOf } from "../../records/clients/documents.ts";
import type { Context } from "../../context.ts";
import { OAuthError } from "../../base/errors.ts";
import { addRedirectUri, listClients, showClient } from "../../records/fix-commands.ts";
import { readRequest, refuseRepeated, type RawParameters, type SentRequest } from "./parameters.ts";
import { hasOpenPort } from "../../records/redirect-uri.ts";
import { allowanceFor, registeredAddresses } from "../../records/clients/redirect-patterns.ts";
import { RedirectedError, responseModesOf, type ResponseMode, type ResponseTarget } from "../../sign-in/response.ts";
import { jsonObjectIn } from "../../../text/json.ts";

/** Who sent an authorization request, and where its answer goes: settled before any other parameter is read. */

/** A redirect URI that is proven to be the client's. `pattern`: what let it in; null: it is registered itself. */
type Settled = Pick<ResponseTarget, "redirectUri" | "pattern">;

/** Where and how the answer travels. A refusal travels the same way, so this comes before the other checks. */
export function targetOf(
  ctx: Pick<Context, "issuer" | "layout">,
  { values }: SentRequest,
  { redirectUri, pattern }: Settled,
): ResponseTarget {
  const object = responseParametersOf(values.request);
  const modeOfObject = values.response_mode === undefined ? responseModeOf(ctx, object.mode) : undefined;
  return {
    issuer: ctx.issuer,
    redirectUri,
    pattern,
    state: values.state ?? object.state ?? null,
    mode: responseModeOf(ctx, values.response_mode) ?? modeOfObject ?? "query",
  };
}

function namedClient(tx: ReadTx, sent: SentRequest, document?: Client): Client {
  refuseRepeated(sent, listClients, ["client_id", "redirect_uri"]);
  const { client_id: clientId, redirect_uri: redirectUri } = sent.values;
  if (clientId === undefined) {
    throw new OAuthError("invalid_request", "client_id is missing", {
      rule: "RFC 6749 4.1.1",
      fix: listClients,
    });
  }
  return clientOf(tx, { clientId, document }, redirectUri);
}

/**
 * The client and its redirect URI: nothing is sent to an address that is not proven to be the client's (RFC 6749 4.1.2.1, RFC 9700 2.1).
 * @param document the client as its metadata document describes it; absent: as it is in the data
 */
export function settleClient(
  tx: ReadTx,
  ctx: Pick<Context, "settings" | "layout">,
  sent: SentRequest,
  document?: Client,
): { client: Client } & Settled {
  const client = namedClient(tx, sent, document);
  // At GitHub it may be left out: the answer goes to the one that is registered (RFC 6749 3.1.2.3).
  const usual = ctx.layout.github === true ? client.redirect_uris.find((uri) => !hasOpenPort(uri)) : undefined;
  const redirectUri = sent.values.redirect_uri ?? usual;
  if (redirectUri === undefined) {
    throw new OAuthError(
      "invalid_request",
      `redirect_uri is missing; client "${client.client_id}" has registered: ${registeredAddresses(client).join("  ") || "none"}`,
      { rule: "RFC 6749 3.1.2.3", fix: showClient(client) },
    );
  }
  return { client, ...requireRegistered(ctx, client, redirectUri) };
}

export function requireRegistered(ctx: Pick<Context, "settings">, client: Client, redirectUri: string): Settled {
  const allowance = allowanceFor(ctx, client, redirectUri);
  if (allowance === null) {
    const registered = registeredAddresses(client).join("  ") || "none";
    throw new OAuthError(
      "invalid_request",
      `redirect_uri "${redirectUri}" is not registered for client "${client.client_id}"; registered: ${registered}`,
      {
        rule: "RFC 6749 3.1.2.3, RFC 9700 2.1",
        fix: addRedirectUri(client, redirectUri, ctx.settings),
        mismatch: {
          parameter: "redirect_uri",
          sent: redirectUri,
          registered: registeredAddresses(client),
        },
      },
    );
  }
  return { redirectUri, ...allowance };
}

/** Where the response of a request goes; null if client and redirect URI are not proven. Changes nothing: a pushed request stays. */
export const provenTarget = (ctx: Context, raw: RawParameters): Promise<ResponseTarget | null> =>
  ctx.store.read((tx) => {
    const named = readRequest(raw);
    const pushed = tx.get("pushedRequests", named.values.request_uri ?? "");
    const isOwn = pushed?.clientId === named.values.client_id && pushed?.issuerPath === ctx.layout.issuer;
    const sent = isOwn ? readRequest(pushed.parameters) : named;
    const document = isOwn ? pushed.document : undefined;
    try {
      const { client, ...settled } = settleClient(tx, ctx, sent, document);
      // What its document says now is not read here.
      if (client.fromDocument === true && document === undefined) return null;
      return targetOf(ctx, sent, settled);
    } catch (error) {
      if (error instanceof OAuthError) return null;
      throw error;
    }
  });

/** The mode of that name, if it is supported. */
export const responseModeOf = (ctx: Pick<Context, "layout">, name: string | undefined): ResponseMode | undefined =>
  responseModesOf(ctx).find((mode) => mode === name);

/**
 * Refuses a request whose `request_uri` is unknown. Client and redirect URI come first here too.
 * @param document see {@link settleClient}
 * @throws {OAuthError} a refusal of those; `error` itself, if the request has no `redirect_uri` (RFC 9126 4)
 * @throws {RedirectedError} `error`, if it has one
 */
export function refuseRequestUri(
  tx: ReadTx,
  ctx: Pick<Context, "settings" | "issuer" | "layout">,
  sent: SentRequest,
  error: OAuthError,
  document?: Client,
): never {
  const client = namedClient(tx, sent, document);
  const redirectUri = sent.values.redirect_uri;
  if (redirectUri === undefined) throw error;
  throw new RedirectedError(error, targetOf(ctx, sent, requireRegistered(ctx, client, redirectUri)));
}

/** Bytes. A longer request object is not read at all. */
const maxLength = 8192;

/**
 * `response_mode` and `state` of a request object (OpenID Connect Core 6.1), needed to send its refusal back to the client. Its signature
 * is not verified, so nothing else of it may be used, and client and redirect URI must be proven before.
 * @param request the parameter; undefined: not sent
 */
function responseParametersOf(request: string | undefined): { readonly mode?: string; readonly state?: string } {
  if (request === undefined || request.length > maxLength) return {};
  const payload = jsonObjectIn(Buffer.from(request.split(".")[1] ?? "", "base64url"));
  const { response_mode: mode, state } = payload ?? {};
  return { ...(typeof mode === "string" && { mode }), ...(typeof state === "string" && state !== "" && { state }) };
}
