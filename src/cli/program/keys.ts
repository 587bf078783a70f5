import { Option, type Command } from "commander";
import type { OperationInput } from "../../core/operations/table.ts";
import { examples, type Act } from "../act.ts";

/** The commands on what the server itself keeps: sessions and keys. */

/** Adds these commands to the program. */
export function declareKeysAndSessions(program: Command, act: Act): void {
  const sessions = program.command("sessions").description("list and end browser sessions");
  sessions
    .command("list", { isDefault: true })
    .description("list the users who are signed in")
    .option("--user <username>", "only those of this user")
    .addHelpText("after", examples("idp sessions list", "idp sessions list --user alice --json"))
    .action(act(async (cli, flags: { user?: string }) => (await import("../commands/sessions.ts")).listSessions(cli, flags)));
  sessions
    .command("end")
    .description("end sessions, and notify clients by back-channel logout")
    .argument("[session_id]")
    .option("--user <username>", "end all sessions of this user")
    .addHelpText("after", examples("idp sessions end --user alice", "idp sessions end s_7yQ2mXk0aLw3"))
    .action(
      act(async (cli, id: string | undefined, flags: { user?: string }) =>
        (await import("../commands/sessions.ts")).endSessions(cli, id, flags),
      ),
    );

  const keys = program.command("keys").description("list, rotate and remove the signing keys");
  keys
    .command("list", { isDefault: true })
    .description("list the keys that sign tokens or still verify them")
    .addHelpText("after", examples("idp keys list", "idp keys list --json | jq -r '.[].kid'"))
    .action(act(async (cli) => (await import("../commands/keys.ts")).listKeys(cli)));
  keys
    .command("rotate")
    .description("sign with new keys; old keys verify until their tokens expire")
    .addOption(
      new Option("--alg <alg>", "replace only this kind of key").choices(["RS256", "PS256", "ES256", "EdDSA", "HS256"]),
    )
    .addOption(
      new Option("--saml", "replace only the key of SAML; the metadata lists both certificates").conflicts("alg"),
    )
    .addHelpText("after", examples("idp keys rotate", "idp keys rotate --alg RS256", "idp keys rotate --saml"))
    .action(
      act(async (cli, flags: OperationInput<"keys.rotate">) => (await import("../commands/keys.ts")).rotateKeys(cli, flags)),
    );
  keys
    .command("remove")
    .description("remove a key that no longer signs; tokens that it signed become invalid")
    .argument("<kid>", "the key, as idp keys lists it")
    .addHelpText("after", examples("idp keys remove 7yQ2mXk0aLw", "idp keys remove 7yQ2mXk0aLw --yes --json"))
    .action(act(async (cli, kid: string) => (await import("../commands/keys.ts")).removeKey(cli, kid)));
}
