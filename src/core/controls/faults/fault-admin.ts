import type { Context } from "../../context.ts";
import { listed, OperationError, type Problem } from "../../errors.ts";
import { readSource, type AnyFixtures } from "../../fixture-files/source.ts";
import { isObject, type JsonObject } from "../../../text/json-object.ts";
import { nearest } from "../../nearest.ts";
import { type Fault, type FaultInput } from "./faults.ts";
import { faultInWords } from "./fault-words.ts";
import { flawList, flawProblem } from "./flaw-list.ts";

/** Adding, listing and removing faults. */

/**
 * Adds a fault.
 * @throws {OperationError} usage for an unknown client or user, and a flaw that this client's responses cannot have: no request would take the
 *   fault
 */
export async function addFault(ctx: Context, input: FaultInput): Promise<Fault> {
  const problems = await problemsOf(ctx, input);
  if (problems.length > 0) {
    throw new OperationError("usage", `the fault was not added: ${listed(problems)}`, { problems });
  }
  const fault = await ctx.faults.add(input);
  ctx.log(`fault ${faultInWords(fault)}`);
  return fault;
}

const problemsOf = ({ store }: Context, { client, user, flaw }: FaultInput): Promise<readonly Problem[]> =>
  store.read((tx) => {
    const missing = (path: string, name: string, names: readonly string[]): Problem => {
      const meant = nearest(name, names);
      return { path, message: `there is no ${path} "${name}"${meant === undefined ? "" : `. Did you mean ${meant}?`}` };
    };
    const problems: Problem[] = [];
    const known = client === undefined ? undefined : tx.get("clients", client);
    const message = flawProblem(flaw, known?.id_token_signed_response_alg);
    if (message !== null) problems.push({ path: "flaw", message });
    if (client !== undefined && known === undefined) {
      problems.push(
        missing(
          "client",
          client,
          Array.from(tx.all("clients"), (one) => one.client_id),
        ),
      );
    }
    if (user !== undefined && tx.find("users", "username", user) === undefined) {
      problems.push(
        missing(
          "user",
          user,
          Array.from(tx.all("users"), (one) => one.username),
        ),
      );
    }
    return problems;
  });

/** @throws {OperationError} not_found */
export async function removeFault(ctx: Context, { id }: { readonly id: string }): Promise<null> {
  if (await ctx.faults.remove(id)) return null;
  throw new OperationError("not_found", `no fault "${id}"`, {
    hint: { text: "A fault ends when it is used up. Those left", command: ["idp", "faults", "list"] },
  });
}

export async function clearFaults(ctx: Context): Promise<null> {
  await ctx.faults.clear();
  return null;
}

/** A flaw as it is listed. */
export interface FlawView {
  readonly name: string;
  readonly endpoint: string;
  readonly place: string;
  readonly wrong: string;
  readonly should: string;
  readonly rule: string;
}

export const listFlaws = (): readonly FlawView[] => flawList;

// Most files have none, and a large one takes long to read again.
const mayHave = (source: AnyFixtures): boolean =>
  "value" in source ? isObject(source.value) && Object.hasOwn(source.value, "faults") : source.text.includes("faults");

/** Where fixtures name faults. */
const faultsIn = (documents: readonly { readonly value: unknown }[]): readonly FaultInput[] =>
  documents.flatMap(({ value }) => ((value as JsonObject | undefined)?.["faults"] as FaultInput[] | undefined) ?? []);

/** The faults of fixtures, which were checked with the rest of them. */
export const faultsOf = async (sources: readonly AnyFixtures[]): Promise<readonly FaultInput[]> =>
  faultsIn(await Promise.all(sources.filter(mayHave).map(readSource)));
