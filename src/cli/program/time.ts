import type { Command } from "commander";
import { examples, type Act } from "../act.ts";
import { collect } from "../flags/flag-values.ts";
import type { ExpireFlags } from "../commands/expire.ts";

/** The commands on time, for tests: the clock, expiring tokens, and snapshots. */

const clock = () => import("../commands/clock.ts");

const clientsHaveTheirOwn = `
The server uses this clock to decide when codes, tokens and sessions end. A
change lasts until the server stops, or until idp reset. Clients check exp and
iat by their own clock, and may refuse a token from the future. To end tokens
without moving the clock: idp expire
`;

function declareClock(program: Command, act: Act): void {
  const group = program
    .command("clock")
    .description("show and move the clock of the server")
    .addHelpText("after", clientsHaveTheirOwn);
  group
    .command("show", { isDefault: true })
    .description("show the time on the server's clock")
    .addHelpText("after", examples("idp clock", "idp clock show --json | jq .offset"))
    .action(act(async (cli) => (await clock()).showClock(cli)));
  group
    .command("advance")
    .description("move the clock forward, or back")
    .argument("<duration>", "seconds, or with units: 30s, 31m, 2h30m, 7d; -5m moves it back")
    .addHelpText(
      "after",
      clientsHaveTheirOwn + examples("idp clock advance 31m", "idp clock advance -5m", "idp clock advance 7d --json"),
    )
    .action(act(async (cli, by: string) => (await clock()).advanceClock(cli, by)));
  group
    .command("set")
    .description("set the clock to a time; what was revoked stays revoked, also in the past")
    .argument("<time>", "ISO 8601")
    .addHelpText(
      "after",
      clientsHaveTheirOwn + examples("idp clock set 2027-01-01T00:00:00Z", "idp clock set 2027-01-01"),
    )
    .action(act(async (cli, to: string) => (await clock()).setClock(cli, to)));
  group
    .command("freeze")
    .description("stop the clock; advance and set still move it")
    .addHelpText("after", examples("idp clock freeze", "idp clock freeze --json"))
    .action(act(async (cli) => (await clock()).freezeClock(cli)));
  group
    .command("reset")
    .description("return to the real time")
    .addHelpText("after", examples("idp clock reset", "idp clock reset --json"))
    .action(act(async (cli) => (await clock()).resetClock(cli)));
}

function declareExpire(program: Command, act: Act): void {
  program
    .command("expire")
    .description("expire what was issued so far; what is issued afterwards is not affected")
    .option("--user <username>", "of this user")
    .option("--client <client_id>", "of this client")
    .option("--all", "of all users and all clients")
    .optionsGroup("What (default: --access):")
    .option("--access", "access tokens")
    .option("--refresh", "refresh tokens")
    .option("--sessions", "browser sessions; with --client: the sessions of users who granted it access")
    .option("--codes", "authorization codes and device codes")
    .addHelpText(
      "after",
      `
From now on the server refuses these tokens: UserInfo answers 401, and a refresh
fails with invalid_grant. An API that verifies access tokens by the keys alone
accepts them until their exp.
${examples(
  "idp expire --user alice --client demo-app",
  "idp expire --user alice --access --refresh --sessions",
  "idp expire --all --codes",
)}`,
    )
    .action(act(async (cli, flags: ExpireFlags) => (await import("../commands/expire.ts")).expire(cli, flags)));
}

function declareSnapshots(program: Command, act: Act): void {
  const group = program.command("snapshots").description("save the state under a name, and go back to it");
  const snapshots = () => import("../commands/snapshots.ts");
  group
    .command("save")
    .description("save users, clients, grants, sessions, revocations, keys and settings; an earlier one is replaced")
    .argument("<name>", "up to 64 letters, digits, - and _")
    .addHelpText("after", examples("idp snapshots save signed-in", "idp snapshots save empty --json"))
    .action(act(async (cli, name: string) => (await snapshots()).saveSnapshot(cli, name)));
  group
    .command("restore")
    .description(
      "go back to a snapshot; what was revoked since is valid again, tokens and codes issued since are not; sign-ins under way begin again",
    )
    .argument("<snapshot>", "a name that idp snapshots list shows")
    .option("--keep <what>", "leave the clock or the faults as they are now: clock, faults; repeatable", collect)
    .addHelpText("after", examples("idp snapshots restore signed-in", "idp snapshots restore empty --keep clock"))
    .action(
      act(async (cli, name: string, flags: { readonly keep?: readonly ("clock" | "faults")[] }) =>
        (await snapshots()).restoreSnapshot(cli, name, flags),
      ),
    );
  group
    .command("list", { isDefault: true })
    .description("list the snapshots")
    .addHelpText("after", examples("idp snapshots list", "idp snapshots list --json | jq -r '.[].name'"))
    .action(act(async (cli) => (await snapshots()).listSnapshots(cli)));
  group
    .command("remove")
    .description("remove a snapshot")
    .argument("<snapshot>", "a name that idp snapshots list shows")
    .addHelpText("after", examples("idp snapshots remove signed-in", "idp snapshots remove empty --json"))
    .action(act(async (cli, name: string) => (await snapshots()).removeSnapshot(cli, name)));
}

/** Adds these commands to the program. */
export function declareTime(program: Command, act: Act): void {
  program.commandsGroup("For tests of your app:");
  declareClock(program, act);
  declareExpire(program, act);
  declareSnapshots(program, act);
}
