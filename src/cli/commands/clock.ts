import { clockInWords, type ClockState } from "../../core/clock.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { findTarget } from "../target/target.ts";

const shown = (state: ClockState, notes: readonly string[] = []): Outcome => answer(state, clockInWords, { notes });

/** `idp clock show` */
export async function showClock(cli: Invocation): Promise<Outcome> {
  return shown(await (await findTarget(cli)).call("clock.show", {}));
}

const ofClients = "Clients check exp and iat by their own clock.";

/** `idp clock advance` @param by seconds, or with a unit */
export async function advanceClock(cli: Invocation, by: string): Promise<Outcome> {
  const target = await findTarget(cli);
  return shown(await target.call("clock.advance", { by }), [ofClients, target.where]);
}

/** `idp clock set` @param to ISO 8601 */
export async function setClock(cli: Invocation, to: string): Promise<Outcome> {
  const target = await findTarget(cli);
  return shown(await target.call("clock.set", { to }), [ofClients, target.where]);
}

/** `idp clock freeze` */
export async function freezeClock(cli: Invocation): Promise<Outcome> {
  const target = await findTarget(cli);
  return shown(await target.call("clock.freeze", {}), [target.where]);
}

/** `idp clock reset` */
export async function resetClock(cli: Invocation): Promise<Outcome> {
  const target = await findTarget(cli);
  return shown(await target.call("clock.reset", {}), [target.where]);
}
