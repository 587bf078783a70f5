import { type Fault, type FaultInput } from "../../core/controls/faults/faults.ts";
import { effectOf, timesInWords } from "../../core/controls/faults/fault-words.ts";
import { flawList } from "../../core/controls/faults/flaw-list.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import type { Style } from "../output/style.ts";
import { table } from "../output/table.ts";
import { count } from "../output/words.ts";
import { findTarget } from "../target/target.ts";

/** The flags of `idp faults add`, as commander reads them. */
export interface FaultFlags extends Omit<
  FaultInput,
  "endpoint" | "grant_type" | "header" | "content_type" | "drop_after"
> {
  readonly grantType?: string;
  readonly header?: readonly (readonly [string, string])[];
  readonly contentType?: string;
  readonly dropAfter?: number;
}

/** Which requests take the fault, in words. */
function whichRequests({ client, user, grant_type: grantType, method, skip }: Fault): string {
  const filters = [client, user, grantType, method].flatMap((value) => value ?? []);
  return [...filters, ...(skip > 0 ? [`after ${skip}`] : [])].join(" ");
}

const faultTable = (cli: Invocation, faults: readonly Fault[], style: Style): string =>
  table(
    [
      { title: "FAULT", value: (fault) => fault.id },
      { title: "ENDPOINT", value: (fault) => fault.endpoint },
      { title: "REQUESTS", value: whichRequests },
      { title: "LEFT", value: timesInWords },
      { title: "DOES", value: (fault) => `${effectOf(fault)}${fault.after ? ", after the work" : ""}` },
    ],
    faults,
    style,
    cli.width,
  );

/** `idp faults add` */
export async function addFault(cli: Invocation, endpoint: FaultInput["endpoint"], flags: FaultFlags): Promise<Outcome> {
  const { grantType, header, contentType, dropAfter, ...rest } = flags;
  const target = await findTarget(cli);
  const fault = await target.call("faults.add", {
    ...{ endpoint, ...rest, grant_type: grantType, content_type: contentType, drop_after: dropAfter },
    ...(header !== undefined && { header: Object.fromEntries(header) }),
  });
  return answer(fault, (shown, style) => faultTable(cli, [shown], style), {
    notes: [{ text: "To remove it", command: ["idp", "faults", "remove", fault.id] }, target.where],
  });
}

/** `idp faults list` */
export async function listFaults(cli: Invocation): Promise<Outcome> {
  const faults = await (await findTarget(cli)).call("faults.list", {});
  return answer(faults, (shown, style) =>
    shown.length === 0 ? "No faults: every response is as it should be." : faultTable(cli, shown, style),
  );
}

/** `idp faults remove` */
export async function removeFault(cli: Invocation, id: string): Promise<Outcome> {
  const target = await findTarget(cli);
  await target.call("faults.remove", { id });
  return answer({ removed: id }, (shown) => `Removed ${shown.removed}`, { notes: [target.where] });
}

/** `idp faults clear` */
export async function clearFaults(cli: Invocation): Promise<Outcome> {
  const target = await findTarget(cli);
  const before = await target.call("faults.list", {});
  await target.call("faults.clear", {});
  return answer({ removed: before.map(({ id }) => id) }, ({ removed }) => `Removed ${count(removed.length, "fault")}`, {
    notes: [target.where],
  });
}

/** `idp faults flaws`: without a server, because they are always the same. */
export async function listFlaws(cli: Invocation): Promise<Outcome> {
  return answer(flawList, (shown, style) =>
    table(
      [
        { title: "ENDPOINT", value: (flaw) => flaw.endpoint },
        { title: "FLAW", value: (flaw) => flaw.name },
        { title: "THE CLIENT SHOULD", value: (flaw) => flaw.should },
        { title: "RULE", value: (flaw) => flaw.rule },
      ],
      shown,
      style,
      cli.width,
    ),
  );
}
