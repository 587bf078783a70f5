import type { Client } from "../../../store/store.ts";
import type { Context, Settings } from "../../context.ts";
import { withoutHosts, isOfSystem } from "../../records/redirect-uri.ts";
import { addressProblem, reachOfRegistered } from "../../base/outbound.ts";
import { OAuthError, OperationError, type Problem } from "../../base/errors.ts";
import { isObject } from "../../../text/json.ts";
import { isDefined, splitScope } from "../../records/scopes/scopes.ts";
import { cut, redacted } from "../../../text/redacted.ts";
import { privateMembers } from "../../records/keys/keys.ts";

/** What a client says of itself, in a registration or in its metadata document: the rules of fixtures, and those for strangers. */

export type Metadata = Readonly<Record<string, unknown>>;

/** A refusal in the words of RFC 7591 3.2.2. */
function refuse(problems: readonly Problem[]): OAuthError {
  const said = problems
    .map(({ path, message }) => `${path.replace(/^clients\[0\]\.?/, "")} ${message}`.trim())
    .join("; ");
  const aboutRedirect = problems.every(({ path }) => path.startsWith("clients[0].redirect_uris"));
  return new OAuthError(aboutRedirect ? "invalid_redirect_uri" : "invalid_client_metadata", said, {
    rule: "RFC 7591 3.2.2",
    fix: "change these members, and register again",
  });
}

/** Characters for one client: anybody who may register could fill the disk. */
const maxMetadataLength = 16_384;

/** Addresses that an operating system opens itself, and no app. */
const systemProblems = (client: Metadata): Problem[] =>
  ["redirect_uris", "post_logout_redirect_uris"].flatMap((name) =>
    (Array.isArray(client[name]) ? client[name] : []).flatMap((uri: unknown, index) => {
      if (typeof uri !== "string" || !isOfSystem(uri)) return [];
      const scheme = uri.slice(0, uri.indexOf(":"));
      const message = `"${uri}" has the scheme "${scheme}", which operating systems open themselves; use https, http on loopback, or a scheme of the app, such as com.example.app:/callback (RFC 8252 7.1)`;
      return [{ path: `clients[0].${name}[${index}]`, message }];
    }),
  );

/** Addresses of a self-registered client to which this server must send nothing, and no browser (OpenID Connect Registration 2). */
function addressProblems(client: Metadata, settings: Settings): Problem[] {
  const problems = ["jwks_uri", "backchannel_logout_uri"].flatMap((path) => {
    const uri = client[path];
    const why = typeof uri === "string" ? addressProblem(uri, reachOfRegistered(settings)) : null;
    return why === null ? [] : [{ path, message: `"${String(uri)}" cannot be used: ${why}` }];
  });
  const { initiate_login_uri: uri } = client;
  if (typeof uri !== "string" || /^https:/i.test(uri)) return problems;
  const message = `"${uri}" is not https (OpenID Connect Registration 2)`;
  return [...problems, { path: "initiate_login_uri", message }];
}

/** A member without a value counts as left out: clients send `scope: ""` and `logo_uri: ""`. */
export const isLeftOut = (value: unknown): boolean => value === undefined || value === null || value === "";

/** Takes away a scope of which nothing is defined, because such a client could not ask for any. */
async function withUsableScope(ctx: Context, client: Client): Promise<Client> {
  const { store, log } = ctx;
  const { scope, ...rest } = client;
  const names = splitScope(scope ?? "");
  if (scope === undefined || (await store.read((tx) => names.some((name) => isDefined(tx, ctx, name))))) return client;
  const shown = cut(redacted(names.join(" ")), 500);
  log(`client "${client.client_id}": none of its scopes "${shown}" is defined here, so its scope is left out`);
  return rest;
}

/**
 * The client of the accepted metadata: unknown names are ignored (RFC 7591 2), and no client can exempt itself from consent.
 * @param given replaces what was sent
 * @throws {OAuthError} invalid_client_metadata, invalid_redirect_uri
 */
export async function checkMetadata(ctx: Context, sent: unknown, given: Metadata): Promise<Client> {
  const { settings } = ctx;
  if (!isObject(sent)) {
    throw new OAuthError("invalid_client_metadata", "the body must be a JSON object of client metadata", {
      rule: "RFC 7591 3.1",
      fix: 'send {"redirect_uris":["http://localhost:3000/callback"]} as application/json',
    });
  }
  const { registrableMetadata } = await import("../../protocol/client-metadata/schema.ts");
  const { checkFixtures } = await import("../seed/seed.ts");
  const { normalizeClient } = await import("../fixtures/normalize.ts");
  const { scope } = sent;
  const tidied = { ...sent, ...(typeof scope === "string" && { scope: scope.trim().replaceAll(/ +/g, " ") }) };
  const taken = Object.entries(tidied).filter(([name, value]) => registrableMetadata(name) && !isLeftOut(value));
  // A client that registers itself expects what the standards say (OpenID Connect Core 5.3.2 and 5.4).
  const client: Metadata = {
    userinfo_format: "standard",
    id_token_claims: "minimal",
    ...Object.fromEntries(taken),
    ...given,
  };
  try {
    await checkFixtures([{ value: { clients: [client] } }], withoutHosts(settings));
  } catch (error) {
    throw error instanceof OperationError && error.problems.length > 0 ? refuse(error.problems) : error;
  }
  const problems = [...systemProblems(client), ...addressProblems(client, settings)];
  if (problems.length > 0) throw refuse(problems);
  // Only now: a value that is nested too deep cannot be written as JSON.
  const { length } = JSON.stringify(client);
  if (length > maxMetadataLength) {
    const message = `the metadata is ${length} characters long; at most ${maxMetadataLength} are accepted`;
    throw new OAuthError("invalid_client_metadata", message, {
      rule: "RFC 7591 3.2.2",
      fix: `leave members out until ${maxMetadataLength} characters are enough`,
    });
  }
  const fresh = { at: "", epoch: "" };
  return withUsableScope(ctx, normalizeClient(client as unknown as Parameters<typeof normalizeClient>[0], null, fresh));
}

/** What a metadata document must not contain, because anybody can read it (Client ID Metadata Document 4.1). */

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
export function secretIn(value: unknown): string | null {
  if (typeof value === "string") return isPrivatePem(value) ? "a private key in PEM format" : null;
  if (Array.isArray(value)) return value.map(secretIn).find((found) => found !== null) ?? null;
  if (!isObject(value)) return null;
  const [name] = secretNames(value);
  if (name !== undefined) return isKey(value) ? `a private or secret key ("${name}")` : name;
  return isKey(value) && value["kty"] === "oct" ? 'a secret key (kty "oct")' : secretIn(Object.values(value));
}

/** A document as others may see it. */
export function withoutSecrets(value: unknown): unknown {
  if (typeof value === "string") return isPrivatePem(value) ? "…" : value;
  if (Array.isArray(value)) return value.map(withoutSecrets);
  if (!isObject(value)) return value;
  const hidden = secretNames(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [name, hidden.includes(name) ? "…" : withoutSecrets(one)]),
  );
}
