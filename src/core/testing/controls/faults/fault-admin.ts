import type { Context } from "../../../context.ts";
import { OperationError, type Problem, problemText } from "../../../base/errors.ts";
import { readSource, type AnyFixtures } from "../../../base/fixture-files/source.ts";
import { isObject, type JsonObject } from "../../../../text/json.ts";
import { nearest, unknownName } from "../../../base/nearest.ts";
import { delayOf, errorCodeOf, hasOwnResponse, type Fault, type FaultInput, type Effects } from "./faults.ts";
import type { Client, User } from "../../../../store/store.ts";
import { nameIdOf, samlOf } from "../../../records/service-providers/provider.ts";
import { shapes } from "../../../records/service-providers/shapes.ts";
import { flawProblem, prefixFlaws } from "./flaw-list.ts";

/** Faults in words, for lists, pages and the log. */

/** What a fault does, in a few words. */
export function effectOf(fault: Effects): string {
  const { status, body, drop, drop_after: bytes, flaw, delay, claims } = fault;
  const parts = [
    delay === undefined ? null : `delay ${delayOf(fault)} s`,
    hasOwnResponse(fault)
      ? `${status === undefined ? "" : `${status} `}${body === undefined ? errorCodeOf(fault) : "other body"}`
      : null,
    drop === undefined ? null : "connection closed",
    bytes === undefined ? null : `connection closed after ${bytes} bytes`,
    flaw === undefined ? null : `flaw ${flaw}`,
    claims === undefined ? null : `other ${Object.keys(claims).join(", ")}`,
  ];
  return parts.filter((part) => part !== null).join(", ");
}

/** How many requests will take it, in words. */
export const timesInWords = ({ remaining }: Fault): string =>
  remaining === null ? "always" : remaining === 1 ? "once" : `${remaining} times`;

/** A fault in a sentence for the log. */
export const faultInWords = (fault: Fault): string =>
  `${fault.id} at ${fault.endpoint}: ${effectOf(fault)}, ${timesInWords(fault)}`;

/** Adding, listing and removing faults. */

/**
 * Adds a fault.
 * @throws {OperationError} usage for an unknown client or user, and a flaw that this client's responses cannot have: no request would take the
 *   fault
 */
export async function addFault(ctx: Context, input: FaultInput, by?: string): Promise<Fault> {
  const problems = await problemsOf(ctx, input);
  if (problems.length > 0) {
    throw new OperationError("usage", `the fault was not added: ${problems.map(problemText).join("; ")}`, { problems });
  }
  const fault = await ctx.faults.add(input, by);
  ctx.log(`fault ${faultInWords(fault)}`);
  return fault;
}

const problemsOf = (ctx: Context, { client, user, flaw, forge }: FaultInput): Promise<readonly Problem[]> =>
  ctx.store.read((tx) => {
    const missing = (path: string, name: string, names: readonly string[]): Problem => ({
      path,
      message: unknownName(path, name, nearest(name, names)),
    });
    const problems: Problem[] = [];
    const known = client === undefined ? undefined : tx.get("clients", client);
    const message = flawProblem(flaw, known);
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
    const forged = forge === undefined ? undefined : tx.find("users", "username", forge);
    if (forge !== undefined && forged === undefined) {
      const names = Array.from(tx.all("users"), (one) => one.username);
      problems.push({ ...missing("user", forge, names), path: "forge" });
    }
    const signing = user === undefined ? undefined : tx.find("users", "username", user);
    if (flaw !== undefined && forged !== undefined && signing !== undefined && prefixFlaws.includes(flaw)) {
      const message = prefixProblem(ctx, known, signing, forged);
      if (message !== null) problems.push({ path: "forge", message });
    }
    return problems;
  });

/** The name of a user is cut where the forged one ends. */
function prefixProblem(ctx: Context, client: Client | undefined, signing: User, forged: User): string | null {
  const fields = client === undefined ? undefined : samlOf(client);
  const kind = fields?.nameid ?? shapes[fields?.shape ?? "standard"].nameid;
  const naming = { kind, entityId: client?.client_id ?? "" };
  const [own, other] = [nameIdOf(ctx, naming, signing)?.value, nameIdOf(ctx, naming, forged)?.value];
  if (own !== undefined && other !== undefined && own !== other && own.startsWith(other)) return null;
  return `has the NameID "${other ?? ""}", with which that of ${signing.username}, "${own ?? ""}", does not begin`;
}

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

// Most files have none, and a large one takes long to read again.
const mayHave = (source: AnyFixtures): boolean =>
  "value" in source ? isObject(source.value) && Object.hasOwn(source.value, "faults") : source.text.includes("faults");

/** Where fixtures name faults. */
const faultsIn = (documents: readonly { readonly value: unknown }[]): readonly FaultInput[] =>
  documents.flatMap(({ value }) => ((value as JsonObject | undefined)?.["faults"] as FaultInput[] | undefined) ?? []);

/** The faults of fixtures, which were checked with the rest of them. */
export const faultsOf = async (sources: readonly AnyFixtures[]): Promise<readonly FaultInput[]> =>
  faultsIn(await Promise.all(sources.filter(mayHave).map(readSource)));
