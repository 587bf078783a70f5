import type { ReadTx } from "../../../store/store.ts";
import { cut } from "../../../text/redacted.ts";
import type { Context } from "../../context.ts";
import type { Operator, Role } from "./roles.ts";

/** A change that somebody asked for, by the control API or in the inspector. */
export interface RecordedAct {
  /** ISO 8601, in reality: operators look at it by their own clock, whatever a tester did to the server's. */
  readonly time: string;
  /** The name of the token. */
  readonly by: string;
  readonly role: Role;
  /** The command that does the same, without secrets. */
  readonly command: string;
  /** The status of the answer: 403 for what the role may not do. */
  readonly status: number;
}

/** How many an issuer keeps. */
const maxActs = 200;
/** How many of them were refused, altogether and for one name: nobody pushes out what others did with what they may not do. */
const maxRefused = 20;
const maxRefusedOfOne = 5;
/** Characters of one. */
const maxLength = 500;

interface KeptAct {
  readonly id: string;
  readonly act: RecordedAct;
}

const actsIn = (tx: ReadTx): readonly KeptAct[] => [...tx.all("acts")] as readonly KeptAct[];

const isRefused = ({ act }: KeptAct): boolean => act.status >= 400;

/** The acts that there is no room for. @param acts the oldest first */
function superfluous(acts: readonly KeptAct[], latest: KeptAct): readonly KeptAct[] {
  const refused = acts.filter(isRefused);
  const ofOne = refused.filter(({ act }) => act.by === latest.act.by);
  const beyond = (some: readonly KeptAct[], max: number) => some.slice(0, Math.max(0, some.length - max));
  const gone = [...beyond(ofOne, maxRefusedOfOne), ...beyond(refused, maxRefused)];
  return [...gone, ...beyond(acts, maxActs)];
}

/** An act of at most 500 characters, as JSON writes it. */
function bounded(act: RecordedAct): RecordedAct {
  const room = maxLength - JSON.stringify({ ...act, command: "" }).length;
  let { command } = act;
  const lengthInJson = (): number => JSON.stringify(command).length - 2;
  for (let length = room - 1; lengthInJson() > room; length -= 10) command = cut(act.command, length);
  return { ...act, command };
}

/**
 * Keeps an act, one record for each, so that all instances of a shared store have it.
 * @param asked its command, from what is registered
 */
export async function recordAct(
  { store, clock, random }: Context,
  { name: by, role }: Operator,
  { commandOf, status }: Pick<RecordedAct, "status"> & { readonly commandOf: (tx: ReadTx) => string },
): Promise<void> {
  const [time, id] = [new Date(clock.unmoved()).toISOString(), random(9)];
  await store.transaction((tx) => {
    const latest: KeptAct = { id, act: bounded({ time, by, role, command: commandOf(tx), status }) };
    tx.put("acts", latest);
    for (const one of superfluous(actsIn(tx), latest)) tx.remove("acts", one.id);
  });
}

/** The oldest first. */
export const listActs = ({ store }: Pick<Context, "store">): Promise<readonly RecordedAct[]> =>
  store.read((tx) => actsIn(tx).map(({ act }) => act));
