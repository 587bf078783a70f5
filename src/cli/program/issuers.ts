import type { Command } from "commander";
import { examples, type Act } from "../act.ts";
import type { AddFlags } from "../commands/issuers.ts";
import { collect } from "../flags/flag-values.ts";

/** The commands on issuers beside the first one. */

const issuers = () => import("../commands/issuers.ts");

export function declareIssuers(program: Command, act: Act): void {
  const group = program
    .command("issuers")
    .description("manage issuers beside the first one, each with its own data")
    .addHelpText(
      "after",
      "\nAn issuer is at /i/NAME below the first one. Any command works on it with\n--issuer NAME, or with --url and its address.\n",
    );
  group
    .command("list", { isDefault: true })
    .description("list issuers")
    .addHelpText("after", examples("idp issuers list", "idp issuers list --json | jq -r '.[].issuer'"))
    .action(act(async (cli) => (await issuers()).listIssuers(cli)));
  group
    .command("show")
    .description("show an issuer")
    .argument("<issuer>", "its name")
    .addHelpText("after", examples("idp issuers show tenant-a", "idp issuers show tenant-a --json"))
    .action(act(async (cli, name: string) => (await issuers()).showIssuer(cli, name)));
  group
    .command("add")
    .description("make an issuer")
    .argument("<name>", "1 to 64 letters, digits, _ and -")
    .option("--fixtures <path>", "a fixture file or folder; repeatable (default: those of the first issuer)", collect)
    .addHelpText("after", examples("idp issuers add tenant-a", "idp issuers add tenant-b --fixtures tenant-b.yaml"))
    .action(act(async (cli, name: string, flags: AddFlags) => (await issuers()).addIssuer(cli, name, flags)));
  group
    .command("remove")
    .description("remove an issuer and all of its data")
    .argument("<issuer>", "its name")
    .addHelpText("after", examples("idp issuers remove tenant-a", "idp issuers remove tenant-a --yes"))
    .action(act(async (cli, name: string) => (await issuers()).removeIssuer(cli, name)));
}
