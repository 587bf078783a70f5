import { createPrivateKey } from "node:crypto";
import { collections, type Key } from "../store/store.ts";
import { metadataOf } from "./clients-admin.ts";
import type { Context } from "./context.ts";
import { currentEra } from "./era.ts";
import { OperationError } from "./errors.ts";
import { explain, kindOf } from "./fixtures/explain.ts";
import { refuseFixtures, type Found } from "./fixtures/problems.ts";
import { readSource, type FixtureDocument, type FixtureSource } from "./fixtures/source.ts";
import { isObject, type JsonObject } from "./json-object.ts";
import {
  removeAllBut,
  stateCollections,
  stateFormat,
  stateVersion,
  type StateDocument,
  type StateRecords,
} from "./state.ts";
import type { Hint } from "./hint.ts";

/** Takes an export in, in place of what is there: whole or not at all. */

export interface ImportResult {
  readonly users: number;
  readonly clients: number;
  readonly grants: number;
  readonly sessions: number;
  readonly keys: number;
  /** The issuer that tokens of the export carry, where it is another than the one here; else null. */
  readonly otherIssuer: string | null;
}

/**
 * Replaces the data by an export. The issuer that the data is served under stays, if there is one.
 * @throws {OperationError} invalid, with every problem; then nothing is changed
 * @throws {StorageError} where the data could not be written; then nothing is changed
 */
export async function importState(ctx: Context, source: FixtureSource): Promise<ImportResult> {
  const document = await checked(source);
  const result = await ctx.passwords.transaction((tx): ImportResult => {
    const here = tx.get("meta", "issuer");
    const life = tx.get("meta", "longestLife");
    const era = currentEra(tx);
    const there = document.meta.find(({ id }) => id === "issuer");
    removeAllBut(tx, []);
    for (const name of stateCollections) {
      for (const record of document[name]) tx.put(name, record);
    }
    if (here !== undefined) tx.put("meta", here);
    // With the same keys, tokens that were issued here are good still.
    const lifeThere = Number(tx.get("meta", "longestLife")?.value ?? 0);
    if (life !== undefined && Number(life.value) > lifeThere) tx.put("meta", life);
    // It never falls, whatever the export says.
    if (era > currentEra(tx)) tx.put("meta", { id: "era", value: era });
    for (const { id, passwordPending } of document.users) if (passwordPending) ctx.passwords.drop(id);
    const { users, clients, grants, sessions, keys } = document;
    return {
      users: users.length,
      clients: clients.length,
      grants: grants.length,
      sessions: sessions.length,
      keys: keys.length,
      otherIssuer: here === undefined || there === undefined || there.value === here.value ? null : String(there.value),
    };
  });
  await ctx.keys.reload();
  await ctx.reloadSettings();
  return result;
}

const makeOne: Hint = { text: "Make one", command: ["idp", "export", "--output", "state.json"] };

/** @throws {OperationError} invalid */
async function checked(source: FixtureSource): Promise<StateDocument> {
  if ("text" in source && source.text.trim() === "") {
    throw new OperationError("invalid", `${source.name} is empty; nothing was imported`, { hint: makeOne });
  }
  const document = await readSource(source);
  const found = [...document.found];
  if (document.value !== undefined) {
    const foreign = foreignHint(document.value);
    if (foreign !== null) {
      throw new OperationError("invalid", `${document.name ?? "this"} is not an export of idp; nothing was imported`, {
        hint: foreign,
      });
    }
    found.push(...(await problemsOf(document, document.value as JsonObject)));
  }
  if (found.length === 0) return document.value as StateDocument;
  const { problems } = refuseFixtures(
    [document],
    found.map((one) => ({ ...one, document: 0 })),
  );
  const count = problems.length === 1 ? "1 problem" : `${problems.length} problems`;
  throw new OperationError("invalid", `${document.name ?? "the export"} has ${count}; nothing was imported`, {
    hint: { text: "Make it again where it came from", command: ["idp", "export", "--output", "state.json"] },
    problems,
  });
}

/** What to do with a document that is something else; null: it is an export that this `idp` can read. */
function foreignHint(value: unknown): string | Hint | null {
  if (!isObject(value)) return makeOne;
  const { format, schemaVersion, generation } = value;
  if (format === stateFormat) {
    if (schemaVersion === stateVersion) return null;
    return typeof schemaVersion === "number" && schemaVersion > stateVersion
      ? `A newer idp made it (version ${schemaVersion}; this one knows ${stateVersion}): use that one, or a newer one`
      : `Its schemaVersion is ${schemaVersion === undefined ? "missing" : JSON.stringify(schemaVersion)}; this idp knows ${stateVersion}`;
  }
  if (generation !== undefined)
    return { text: "It is the data file of a folder. To use it there", command: ["idp", "start", "--data", "FOLDER"] };
  if (value["users"] !== undefined || value["clients"] !== undefined) {
    return { text: "It looks like a fixture file. To apply it", command: ["idp", "seed", "FILE"] };
  }
  return makeOne;
}

async function problemsOf(places: FixtureDocument, document: JsonObject): Promise<Found[]> {
  const { recordSchemas } = await import("./state-schema.ts");
  const known: readonly string[] = ["format", "schemaVersion", ...stateCollections];
  const found: Found[] = Object.keys(document)
    .filter((name) => !known.includes(name))
    .map((name) => ({ path: [name], message: "is no part of an export", at: "key" }));
  for (const name of stateCollections) {
    const records = document[name];
    if (!Array.isArray(records)) {
      found.push({
        path: [name],
        message: records === undefined ? "is missing" : `must be a list, not ${kindOf(records)}`,
      });
      continue;
    }
    for (const [index, record] of (records as unknown[]).entries()) {
      const { error } = recordSchemas[name].safeParse(record);
      for (const issue of error?.issues ?? []) found.push(...explain(issue, record, [name, index], () => []));
    }
  }
  // What belongs together can be looked at only where each record is right by itself.
  if (found.length > 0) return found;
  const whole = document as unknown as StateRecords;
  return [...(await clientProblems(places, whole)), ...taken(whole), ...dangling(whole), ...keyProblems(whole.keys)];
}

/** The metadata of clients have the rules of fixtures. */
async function clientProblems(places: FixtureDocument, { clients }: StateRecords): Promise<readonly Found[]> {
  const { checkDocuments } = await import("./fixtures/check.ts");
  const value = { clients: clients.map(metadataOf) };
  const [found = []] = await checkDocuments([{ ...places, found: [], value }], () => undefined);
  return found;
}

/** Keys and unique values that two records have. */
function taken(records: StateRecords): Found[] {
  const found: Found[] = [];
  for (const name of stateCollections) {
    const { key, unique = {} } = collections[name] as {
      key: string;
      unique?: Record<string, (record: never) => string>;
    };
    const ways = [[key, (record: object) => String(Reflect.get(record, key))], ...Object.entries(unique)] as const;
    for (const [field, valueOf] of ways) {
      const seen = new Set<string>();
      for (const [index, record] of records[name].entries()) {
        const value = valueOf(record as never);
        if (seen.has(value))
          found.push({ path: [name, index], message: `${field} "${value}" is taken by an earlier one` });
        seen.add(value);
      }
    }
  }
  return found;
}

/** Grants and sessions of nobody. */
function dangling({ users, clients, grants, sessions }: StateRecords): Found[] {
  const userIds = new Set(users.map(({ id }) => id));
  const clientIds = new Set(clients.map(({ client_id }) => client_id));
  const missing = (path: Found["path"], what: string, id: string): Found => ({
    path,
    message: `there is no ${what} "${id}"`,
  });
  return [
    ...grants.flatMap(({ userId, clientId }, index) => [
      ...(userIds.has(userId) ? [] : [missing(["grants", index, "userId"], "user", userId)]),
      ...(clientIds.has(clientId) ? [] : [missing(["grants", index, "clientId"], "client", clientId)]),
    ]),
    ...sessions.flatMap(({ userId }, index) =>
      userIds.has(userId) ? [] : [missing(["sessions", index, "userId"], "user", userId)],
    ),
  ];
}

/** A key that cannot be used would stop the server at its next signature. */
function keyProblems(keys: readonly Key[]): Found[] {
  const found: Found[] = keys.flatMap(({ alg, jwk }, index) =>
    isUsable(alg, jwk) ? [] : [{ path: ["keys", index, "jwk"], message: `is no private key for ${alg}` }],
  );
  for (const needed of ["HS256", "RS256"]) {
    if (keys.some(({ alg, retiredAt }) => alg === needed && retiredAt === null)) continue;
    found.push({ path: ["keys"], message: `has no key that signs with ${needed}` });
  }
  return found;
}

/** RFC 7518 3.2: a secret has at least the size of the hash. */
function isUsable(alg: string, jwk: JsonObject): boolean {
  if (alg === "HS256") return typeof jwk["k"] === "string" && Buffer.from(jwk["k"], "base64url").length >= 32;
  try {
    const { asymmetricKeyType } = createPrivateKey({ key: { ...jwk }, format: "jwk" });
    const kinds: Readonly<Record<string, string>> = { RS256: "rsa", PS256: "rsa", ES256: "ec", EdDSA: "ed25519" };
    return asymmetricKeyType === kinds[alg];
  } catch {
    return false;
  }
}
