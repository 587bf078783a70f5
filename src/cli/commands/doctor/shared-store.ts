import type { Invocation } from "../../invocation.ts";
import { count } from "../../output/words.ts";
import { findTarget } from "../../target/target.ts";
import { inspectStore } from "../../../store/postgres/schema.ts";
import { fixtureFinding, unreadable } from "./folder.ts";
import { maxClockDifference, ok, problem, warning, type Finding } from "./finding.ts";

/** What doctor looks at in a shared store: whether it answers, what is in it, its clock, and who is connected. */

/** How many seconds they may differ by for an instance to start. */
const maxSeconds = 5;

export async function storeFindings(cli: Invocation & { readonly store: string }): Promise<readonly Finding[]> {
  return [
    ...(await databaseFindings(cli).catch((error: unknown) => [unreadable("store")(error)])),
    await fixtureFinding(cli, false),
  ];
}

async function databaseFindings(cli: Invocation & { readonly store: string }): Promise<readonly Finding[]> {
  const { version, schema, ahead, instances } = await inspectStore(cli.store, cli.now);
  const server = `${cli.place}, PostgreSQL ${version}`;
  return [
    schema === null
      ? ok("store", `${server}, no tables yet: the first start makes them`)
      : await contentFinding(cli, `${server}, schema ${schema}`).catch(unreadable("store")),
    clockFinding(ahead),
    ok("instances", `${count(instances, "instance")} connected`),
  ];
}

/** Reads the records of the store. Opening it fails if its schema is too new, and `doctor` reports that. */
async function contentFinding(cli: Invocation, store: string): Promise<Finding> {
  const target = await findTarget(cli);
  const { users, clients } = await target.call("status", {});
  return ok("store", [store, count(users, "user"), count(clients, "client")].join(", "));
}

function clockFinding(ahead: number): Finding {
  const seconds = Math.round(Math.abs(ahead));
  if (seconds <= maxClockDifference) return ok("clock", "agrees with the database's");
  const detail = `${seconds} s ${ahead > 0 ? "behind" : "ahead of"} the database's`;
  const fix = `Set the clock of this machine: with a difference of more than ${maxSeconds} seconds no instance starts.`;
  return seconds > maxSeconds ? problem("clock", detail, fix) : warning("clock", detail, fix);
}
