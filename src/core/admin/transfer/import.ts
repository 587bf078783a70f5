import { metadataOf } from "../../records/clients/admin.ts";
import type { Context } from "../../context.ts";
import { OperationError } from "../../base/errors.ts";
import { digestKey } from "../../base/fixture-files/digest.ts";
import { explainAll, kindOf } from "../../base/fixture-files/explain.ts";
import { createFindings, shownOf, type FoundProblem } from "../../base/fixture-files/problems.ts";
import { readSource, type FixtureDocument, type FixtureSource } from "../../base/fixture-files/source.ts";
import { isObject, type JsonObject } from "../../../text/json.ts";
import { problemsBetween } from "./check.ts";
import { withoutTheEnded } from "./ended.ts";
import {
  removeAllBut,
  stateCollections,
  stateFormat,
  stateVersion,
  type StateDocument,
  type StateRecords,
} from "../../testing/state/state.ts";
import { commandOn, type Hint } from "../../base/hint.ts";
import { madeFrom, rememberMadeFrom } from "../../base/fixture-files/made-from.ts";
import { stepper } from "../fixtures/prepare.ts";

/**
 * Replaces the data with an export, whole or not at all. What was ended stays ended (ended.ts). The issuer that the data is served under
 * stays, if there is one.
 * @param progress called with the number of records that were checked, and of all
 * @throws {OperationError} invalid, with every problem; then nothing is changed
 * @throws {StorageError} if the data could not be written; then nothing is changed
 */
export async function importState(
  ctx: Context,
  source: FixtureSource,
  progress?: (done: number, total: number) => void,
) {
  const document = await checked(ctx, source, progress);
  return ctx.passwords.transaction((tx) => {
    const here = tx.get("meta", "issuer");
    const owner = tx.get("meta", "addedBy");
    const key = digestKey(tx);
    const there = document.meta.find(({ id }) => id === "issuer");
    const records = withoutTheEnded(tx, ctx, document);
    removeAllBut(tx, []);
    for (const name of stateCollections) {
      for (const record of records[name]) tx.put(name, record);
    }
    if (here !== undefined) tx.put("meta", here);
    // Whose an issuer is decides who may do what in it.
    if (owner === undefined) tx.remove("meta", "addedBy");
    else tx.put("meta", owner);
    // Into data with fixtures it is a change like others, which a reset undoes.
    if (madeFrom(tx) === null) rememberMadeFrom(tx, []);
    // The digests of their passwords could not be compared with another key.
    if (digestKey(tx) !== key) tx.remove("fixtures", "inUse");
    for (const { id, passwordPending } of document.users) if (passwordPending) ctx.passwords.drop(id);
    const { users, clients, grants, sessions, keys } = records;
    return {
      users: users.length,
      clients: clients.length,
      grants: grants.length,
      sessions: sessions.length,
      keys: keys.length,
      otherIssuer: here === undefined || there === undefined || there.value === here.value ? null : String(there.value),
    };
  });
}

const makeOne: Hint = { text: "Make one", command: ["idp", "export", "--output", "state.json"] };

/** @throws {OperationError} invalid */
async function checked(
  ctx: Context,
  source: FixtureSource,
  progress?: (done: number, total: number) => void,
): Promise<StateDocument> {
  if ("text" in source && source.text.trim() === "") {
    throw new OperationError("invalid", `${source.name} is empty; nothing was imported`, { hint: makeOne });
  }
  const document = await readSource(source);
  const findings = createFindings<FoundProblem>();
  findings.add(document.found);
  const whole = (document.value ?? {}) as JsonObject;
  if (document.value !== undefined) {
    const foreign = foreignHint(document.value, document.name === "stdin" ? "-" : (document.name ?? "FILE"));
    if (foreign !== null) {
      throw new OperationError("invalid", `${document.name ?? "this"} is not an export of idp; nothing was imported`, {
        hint: foreign,
      });
    }
    findings.add(await problemsOf(ctx, document, whole, progress));
  }
  const found = findings.all();
  if (found.length === 0) return whole as unknown as StateDocument;
  const { problems, count } = shownOf(
    [document],
    found.map((one) => ({ ...one, document: 0 })),
  );
  throw new OperationError("invalid", `${document.name ?? "the export"} has ${count}; nothing was imported`, {
    hint: { ...makeOne, text: "Export it again" },
    problems,
  });
}

/** What to do with another kind of document, by the name that `idp seed` takes; null for an export that this `idp` can read. */
function foreignHint(value: unknown, name: string): string | Hint | null {
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
    return { text: "It looks like a fixture file. To apply it", command: commandOn(["idp", "seed"], name) };
  }
  return makeOne;
}

async function problemsOf(
  ctx: Context,
  source: FixtureDocument,
  document: JsonObject,
  progress?: (done: number, total: number) => void,
): Promise<readonly FoundProblem[]> {
  const { recordSchemas } = await import("./schema.ts");
  const known: readonly string[] = ["format", "schemaVersion", ...stateCollections];
  const found = createFindings<FoundProblem>();
  const others = Object.keys(document).filter((name) => !known.includes(name));
  for (const name of others) found.addOne(() => ({ path: [name], message: "is not part of an export", at: "key" }));
  const sizes = stateCollections.map((name) => (Array.isArray(document[name]) ? document[name].length : 0));
  const step = stepper(
    sizes.reduce((sum, size) => sum + size, 0),
    progress,
  );
  for (const name of stateCollections) {
    const records = document[name];
    if (!Array.isArray(records)) {
      const message = records === undefined ? "is missing" : `must be a list, not ${kindOf(records)}`;
      found.add([{ path: [name], message }]);
      continue;
    }
    for (const [index, record] of (records as unknown[]).entries()) {
      const { error } = recordSchemas[name].safeParse(record);
      found.add(explainAll(error?.issues ?? [], [record, [name, index], () => []], found.left()));
      await step();
    }
  }
  // References can be checked only if each record is valid.
  if (found.all().length > 0) return found.all();
  const whole = document as unknown as StateRecords;
  return [...(await clientProblems(ctx, source, whole)), ...problemsBetween(whole)];
}

/** Checks the metadata of clients by the rules of fixtures. */
async function clientProblems(
  { settings: inForce }: Context,
  source: FixtureDocument,
  { clients, meta }: StateRecords,
): Promise<readonly FoundProblem[]> {
  const { checkDocuments } = await import("../fixtures/check.ts");
  const settings = meta.find(({ id }) => id === "settings")?.value;
  const value = { clients: clients.map(metadataOf), settings };
  const [found = []] = await checkDocuments([{ ...source, found: [], value }], stepper(), inForce);
  return found;
}
