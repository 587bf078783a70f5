import { clockInWords, type ClockState } from "../../core/base/clock.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { findTarget } from "../target/target.ts";
import { examples } from "../commander.ts";
import type { Declare } from "../act.ts";

const shown = (state: ClockState, notes: readonly string[] = []): Outcome => answer(state, clockInWords, { notes });

/** `idp clock show` */
async function showClock(cli: Invocation): Promise<Outcome> {
  return shown(await (await findTarget(cli)).call("clock.show", {}));
}

const ofClients = "Clients check exp and iat by their own clock.";

/** `idp clock advance` @param by seconds, or with a unit */
async function advanceClock(cli: Invocation, by: string): Promise<Outcome> {
  const target = await findTarget(cli);
  return shown(await target.call("clock.advance", { by }), [ofClients, target.where]);
}

/** `idp clock set` @param to ISO 8601 */
async function setClock(cli: Invocation, to: string): Promise<Outcome> {
  const target = await findTarget(cli);
  return shown(await target.call("clock.set", { to }), [ofClients, target.where]);
}

/** `idp clock freeze` */
async function freezeClock(cli: Invocation): Promise<Outcome> {
  const target = await findTarget(cli);
  return shown(await target.call("clock.freeze", {}), [target.where]);
}

/** `idp clock reset` */
async function resetClock(cli: Invocation): Promise<Outcome> {
  const target = await findTarget(cli);
  return shown(await target.call("clock.reset", {}), [target.where]);
}

const clientsHaveTheirOwn = `
The server uses this clock to decide when codes, tokens and sessions end. A
change lasts until the server stops, or until idp reset. Clients check exp and
iat by their own clock, and may refuse a token from the future. To end tokens
without moving the clock: idp expire
`;

/** Declares the commands of `idp clock`. */
export const declareClock: Declare = (group, { act }) => {
  group.addHelpText("after", clientsHaveTheirOwn);
  group
    .command("show", { isDefault: true })
    .description("show the time on the server's clock")
    .addHelpText("after", examples("idp clock", "idp clock show --json | jq .offset"))
    .action(act(showClock));
  group
    .command("advance")
    .description("move the clock forward, or back")
    .argument("<duration>", "seconds, or with units: 30s, 31m, 2h30m, 7d; -5m moves it back")
    .addHelpText("after", clientsHaveTheirOwn.trimEnd())
    .addHelpText("after", examples("idp clock advance 31m", "idp clock advance -5m", "idp clock advance 7d --json"))
    .action(act(advanceClock));
  group
    .command("set")
    .description("set the clock to a time; what was revoked stays revoked, also in the past")
    .argument("<time>", "ISO 8601")
    .addHelpText("after", clientsHaveTheirOwn.trimEnd())
    .addHelpText("after", examples("idp clock set 2027-01-01T00:00:00Z", "idp clock set 2027-01-01"))
    .action(act(setClock));
  group
    .command("freeze")
    .description("stop the clock; advance and set still move it")
    .addHelpText("after", examples("idp clock freeze", "idp clock freeze --json"))
    .action(act(freezeClock));
  group
    .command("reset")
    .description("return to the real time")
    .addHelpText("after", examples("idp clock reset", "idp clock reset --json"))
    .action(act(resetClock));
};
