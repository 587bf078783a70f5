import type { Command } from "commander";
import type { OperationInput } from "../../core/operations/table.ts";
import { examples, type Act } from "../act.ts";

/** The commands on what the server itself keeps: sessions and keys. */

/** Adds these commands to the program. */
export function declareKeysAndSessions(program: Command, act: Act): void {
  const sessions = program.command("sessions").description("list and end browser sessions");
  sessions
    .command("list")
    .description("list the users who are signed in")
    .option("--user <username>", "only those of this user")
    .addHelpText("after", examples("idp sessions list", "idp sessions list --user alice --json"))
    .action(act(async (cli, flags: { user?: string }) => (await import("../sessions.ts")).listSessions(cli, flags)));
  sessions
    .command("end")
    .description("end sessions, and notify clients by back-channel logout")
    .argument("[session_id]")
    .option("--user <username>", "end all sessions of this user")
    .addHelpText("after", examples("idp sessions end --user alice", "idp sessions end s_7yQ2mXk0aLw3"))
    .action(
      act(async (cli, id: string | undefined, flags: { user?: string }) =>
        (await import("../sessions.ts")).endSessions(cli, id, flags),
      ),
    );

  const keys = program.command("keys").description("list and rotate the signing keys");
  keys
    .command("list")
    .description("list the keys that sign tokens or still verify them")
    .addHelpText("after", examples("idp keys list", "idp keys list --json | jq -r '.[].kid'"))
    .action(act(async (cli) => (await import("../keys.ts")).listKeys(cli)));
  keys
    .command("rotate")
    .description("sign with new keys; old keys verify until their tokens expire")
    .option("--alg <alg>", "replace only this kind of key: RS256, PS256, ES256, EdDSA or HS256")
    .addHelpText("after", examples("idp keys rotate", "idp keys rotate --alg RS256"))
    .action(
      act(async (cli, flags: OperationInput<"keys.rotate">) => (await import("../keys.ts")).rotateKeys(cli, flags)),
    );
}
