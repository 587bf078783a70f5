import { Argument, InvalidArgumentError, Option, type Command } from "commander";
import { faultEndpoints, faultMethods } from "../../core/controls/faults/fault-endpoints.ts";
import type { FaultInput } from "../../core/controls/faults/faults.ts";
import { flawNames } from "../../core/controls/faults/flaw-list.ts";
import { examples, type Act } from "../act.ts";
import type { FaultFlags } from "../commands/faults.ts";
import { notListed, wholeNumber } from "../flags/flag-values.ts";

/** The commands for responses that are wrong on purpose. */

type Header = readonly [string, string];

/** `Retry-After: 2` */
function header(value: string, before: readonly Header[] = []): readonly Header[] {
  const [, name = "", content = ""] = /^([^:\s]+):\s*(.*)$/.exec(value) ?? [];
  if (name === "") throw new InvalidArgumentError("It must be a name and a value, such as 'Retry-After: 2'.");
  return [...before, [name, content]];
}

function declareAdd(faults: Command, act: Act): void {
  faults
    .command("add")
    .description("make the next response of an endpoint wrong; a request takes the first fault that matches")
    .addArgument(new Argument("<endpoint>", "the endpoint").choices([...faultEndpoints, "any"]))
    .option("--client <client_id>", "only requests of this client")
    .option("--user <username>", "only requests about this user")
    .option("--grant-type <type>", "only token requests with this grant_type")
    .addOption(new Option("--method <method>", "only requests with this method").choices(faultMethods))
    .option("--times <number>", "how many requests take the fault (default: 1)", wholeNumber)
    .option("--skip <number>", "how many matching requests pass first", wholeNumber)
    .option("--always", "every request takes the fault, until it is removed")
    .option("--after", "do the work first, so that only the response is lost")
    .option("--status <status>", "answer with this status and an error (RFC 6749 5.2)", wholeNumber)
    .option(
      "--error <code>",
      "the error code (default: temporarily_unavailable, for 500 server_error); authorize sends it by redirect",
    )
    .option("--description <text>", "the error_description")
    .option("--header <header>", "a response header, such as 'Retry-After: 2'; repeatable", header)
    .option("--delay <time>", "wait before the response: 3, 3s, 0.5s or 2m")
    .option("--body <text>", "answer with this body")
    .option("--content-type <type>", "the Content-Type of that body (default: application/json)")
    .option("--drop", "close the connection without a response")
    .option("--drop-after <bytes>", "close the connection after this many bytes of the body", wholeNumber)
    .addOption(
      new Option("--flaw <flaw>", "make one thing in the response wrong; idp faults flaws lists the names").argParser(
        flaw,
      ),
    )
    .option("--forge <username>", "whose identity a flaw at saml_sso forges")
    .addHelpText(
      "after",
      examples(
        "idp faults add token --status 503 --header 'Retry-After: 2'",
        "idp faults add token --grant-type refresh_token --after --drop",
        "idp faults add token --client demo-app --flaw nonce-wrong",
        "idp faults add jwks --always --delay 3s",
      ),
    )
    .action(
      act(async (cli, endpoint: FaultInput["endpoint"], flags: FaultFlags) =>
        (await import("../commands/faults.ts")).addFault(cli, endpoint, flags),
      ),
    );
}

function flaw(value: string): string {
  if (flawNames.some((name) => name === value)) return value;
  throw notListed(value, flawNames, "It must be a name that idp faults flaws lists.");
}

/** Adds the fault commands to the program. */
export function declareFaults(program: Command, act: Act): void {
  const faults = program.command("faults").description("make responses wrong on purpose");
  declareAdd(faults, act);
  faults
    .command("list", { isDefault: true })
    .description("list the active faults")
    .addHelpText("after", examples("idp faults list", "idp faults list --json | jq '.[].remaining'"))
    .action(act(async (cli) => (await import("../commands/faults.ts")).listFaults(cli)));
  faults
    .command("remove")
    .description("remove one fault")
    .argument("<fault_id>", "the id that idp faults list shows")
    .addHelpText("after", examples("idp faults remove f1", "idp faults remove f1 --quiet"))
    .action(act(async (cli, id: string) => (await import("../commands/faults.ts")).removeFault(cli, id)));
  faults
    .command("clear")
    .description("remove all faults")
    .addHelpText("after", examples("idp faults clear", "idp faults clear --json"))
    .action(act(async (cli) => (await import("../commands/faults.ts")).clearFaults(cli)));
  faults
    .command("flaws")
    .description("list what can be wrong in a response, and what a client should do about it")
    .addHelpText("after", examples("idp faults flaws", "idp faults flaws --json | jq -r '.[].name'"))
    .action(act(async (cli) => (await import("../commands/faults.ts")).listFlaws(cli)));
}
