import type { Client, ReadTx } from "../../../store/store.ts";
import { clientSecretLimits } from "../../base/attempts.ts";
import { verifyAppleSecret } from "./apple-secret.ts";
import { assertedClientId, assertionType, verifyAssertion } from "./assertion.ts";
import { authMethods, federatedMethod } from "./clients.ts";
import type { ClientCredentials } from "./client-credentials.ts";
import type { Context } from "../../context.ts";
import { clientOf, documentClient } from "./documents.ts";
import { isOfAnotherIssuer, verifyFederated } from "./federated.ts";
import { OAuthError } from "../../base/errors.ts";
import { listClients } from "../fix-commands.ts";
import { commandOn } from "../../base/hint.ts";
import { sameSecret } from "../../base/secrets.ts";

/** Client authentication at every endpoint that clients call themselves: token, revocation, introspection, PAR, device (RFC 6749 2.3). */

const explained: Readonly<Record<string, string>> = {
  client_secret_post: "client_id and client_secret in the body",
  client_secret_basic: "an Authorization: Basic header",
  client_secret_jwt: "a client_assertion signed with its secret",
  private_key_jwt: "a client_assertion signed with its private key",
  none: "client_id in the body and no secret",
  [federatedMethod]: "client_id, and as client_assertion the token of a workload that it lists",
};

/** RFC 6749 2.3: at most one method in a request. An equal `client_id` beside another method is not a second one. */
function refuseTwoMethods({ basic, id, secret, assertion }: ClientCredentials): void {
  const used = [
    basic !== null && "the Authorization header",
    secret !== undefined && "client_secret",
    assertion !== undefined && "client_assertion",
  ].filter((one) => one !== false);
  if (used.length > 1) {
    throw new OAuthError(
      "invalid_request",
      `two ways of client authentication at once: send ${used.join(" or ")}, not both`,
      { rule: "RFC 6749 2.3", fix: null },
    );
  }
  if (basic !== null && id !== undefined && id !== basic.id) {
    throw new OAuthError(
      "invalid_request",
      `client_id "${id}" of the body is not the "${basic.id}" of the Authorization header`,
      {
        rule: "RFC 6749 2.3.1",
        parameter: "client_id",
        fix: "leave client_id out of the body: the header names the client",
      },
    );
  }
}

/** Whether a client lists workloads that may act as it. */
type Lists = (clientId: string) => boolean;

/** Whose credentials these are; nothing is proven yet. The token of a workload does not name the client. */
function claimedId({ basic, id, assertion, assertionType: type }: ClientCredentials, lists: Lists): string {
  if (assertion !== undefined) {
    if (type !== assertionType) {
      throw new OAuthError("invalid_request", `client_assertion_type has to be "${assertionType}"`, {
        rule: "RFC 7523 2.2",
        parameter: "client_assertion_type",
        fix: null,
      });
    }
    if (id !== undefined && lists(id) && isOfAnotherIssuer(assertion, id)) return id;
    const asserted = assertedClientId(assertion);
    if (id !== undefined && id !== asserted) {
      throw new OAuthError("invalid_client", `client_id "${id}" is not the "sub" of client_assertion, "${asserted}"`, {
        rule: "RFC 7523 3",
        parameter: "client_id",
        fix: "leave client_id out, or set iss and sub of the assertion to it",
      });
    }
    return asserted;
  }
  const clientId = basic?.id ?? id;
  if (clientId === undefined) {
    throw new OAuthError(
      "invalid_client",
      "client_id is missing: send it in the body, or authenticate with a Basic header",
      { rule: "RFC 6749 2.3.1", fix: listClients },
    );
  }
  return clientId;
}

/** The client sent its secret as `client_id`, so nothing may show that. */
export class SwappedCredentialsError extends OAuthError {}

function refuseSwapped(tx: ReadTx, clientId: string, { basic, secret }: ClientCredentials): void {
  const given = basic?.secret ?? secret;
  if (given === undefined || tx.get("clients", clientId) !== undefined || tx.get("clients", given) === undefined)
    return;
  throw new SwappedCredentialsError(
    "invalid_client",
    "client_id and client_secret are swapped: client_secret holds the id of a client",
    { rule: "RFC 6749 2.3.1", fix: "send the id as client_id and the secret as client_secret" },
  );
}

/** The methods that what was sent can be, in the words of RFC 7591 2, or the token of a workload. */
function methodsOf({ basic, id, secret, assertion }: ClientCredentials, client: Client): readonly string[] {
  if (assertion !== undefined) {
    const isFederated = client.federated_credentials !== undefined && id !== undefined;
    return isFederated && isOfAnotherIssuer(assertion, id)
      ? [federatedMethod]
      : ["client_secret_jwt", "private_key_jwt"];
  }
  if (basic === null) return [secret !== undefined ? "client_secret_post" : "none"];
  // With an empty secret it may be a public client, because an empty secret may be left out (RFC 6749 2.3.1).
  return basic.secret === "" ? ["client_secret_basic", "none"] : ["client_secret_basic"];
}

/** What to add to a request that has `client_id` alone; "" if the usual words say it. */
export type Missing = (allowed: readonly string[]) => string;

/**
 * The client that a request proves to be.
 * @param missing for an endpoint whose usual clients send no secret
 * @throws {OAuthError} invalid_request for two methods at once; invalid_client if the proof fails; too_many_requests if too many proofs
 *   have failed before
 */
export async function authenticateClient(
  ctx: Context,
  credentials: ClientCredentials,
  missing: Missing = () => "",
): Promise<Client> {
  refuseTwoMethods(credentials);
  const clientId = await ctx.store.read((tx) => {
    const id = claimedId(credentials, (one) => tx.get("clients", one)?.federated_credentials !== undefined);
    refuseSwapped(tx, id, credentials);
    return id;
  });
  const { began, peer } = credentials;
  const document = began?.client_id === clientId ? began : await documentClient(ctx, clientId, peer);
  const { client, version } = await ctx.store.read((tx) => {
    const named = clientOf(tx, { clientId, document });
    return { client: named, version: tx.version("clients", clientId) };
  });
  const used = methodsOf(credentials, client);
  const allowed = authMethods(client);
  const method = used.find((name) => allowed.includes(name));
  if (method === undefined) {
    const wanted = allowed.map((name) => `${name} (${explained[name] ?? "see its metadata"})`).join(" or ");
    const more = used.includes("none") ? missing(allowed) : "";
    throw new OAuthError(
      "invalid_client",
      `client "${clientId}" has to authenticate with ${wanted}; the request used ${used.join(" or ")}${more}`,
      {
        rule: "RFC 6749 2.3",
        fix: { text: "To see the client", command: commandOn(["idp", "clients", "show"], clientId) },
      },
    );
  }
  if (method === "none") return client;
  const limits = clientSecretLimits(clientId, credentials.address);
  const wrong = `wrong secrets for client "${clientId}"`;
  if (method === federatedMethod) {
    const wasRight = ctx.attempts.begin(wrong, limits);
    await verifyFederated(ctx, { client, version }, credentials.assertion ?? "");
    wasRight();
  } else if (method === "client_secret_jwt" || method === "private_key_jwt") {
    const wasRight = ctx.attempts.begin(wrong, limits);
    await verifyAssertion(ctx, { client, version }, method, credentials);
    wasRight();
  } else if (client.apple_team !== undefined) {
    const wasRight = ctx.attempts.begin(wrong, limits);
    await verifyAppleSecret(ctx, client, credentials.secret ?? "");
    wasRight();
  } else if (!ctx.attempts.check(wrong, limits, () => isItsSecret(client, credentials))) {
    throw notItsSecret(client, credentials);
  }
  return client;
}

function isItsSecret({ client_secret: expected }: Client, { basic, secret }: ClientCredentials): boolean {
  const given = basic?.secret ?? secret;
  return given !== undefined && expected !== undefined && sameSecret(given, expected);
}

function notItsSecret({ client_id: id }: Client, { basic }: ClientCredentials): OAuthError {
  const unencoded =
    basic === null || !/[+%]/.test(basic.raw)
      ? ""
      : '; in the Basic header both are form-encoded: send "+" as %2B and "%" as %25, or use client_secret_post';
  return new OAuthError("invalid_client", `client_secret is wrong for client "${id}"${unencoded}`, {
    parameter: "client_secret",
    rule: unencoded === "" ? "RFC 6749 5.2" : "RFC 6749 2.3.1",
    fix: { text: "", command: commandOn(["idp", "clients", "show"], id, ["--show-secrets"]) },
  });
}
