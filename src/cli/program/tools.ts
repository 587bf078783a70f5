import { Argument, InvalidArgumentError, type Command } from "commander";
import { examples, type Act } from "../act.ts";
import type { Shell } from "../commands/completion/completion.ts";
import { flowForm, lastFlow } from "../../core/ledger/filter.ts";

/** The commands for this machine: open a page, find problems, complete in the shell. */

const pages: readonly string[] = ["inspector", "account", "device", "discovery", lastFlow];

function pageOrFlow(typed: string): string {
  if (pages.includes(typed) || flowForm.test(typed)) return typed;
  throw new InvalidArgumentError(`Pages: ${pages.join(", ")}. A sign-in: f7`);
}

/** Adds these commands to the program. */
export function declareTools(program: Command, act: Act): void {
  program.commandsGroup("On this machine:");
  program
    .command("open")
    .description("print the address of a page of the server; on a terminal, also open it")
    .addArgument(
      new Argument(
        "[page]",
        "which page; a sign-in of the inspector, as the log and error pages name it: f7; or the one refused last: last",
      )
        .choices(pages)
        .default("inspector")
        .argParser(pageOrFlow),
    )
    .addHelpText(
      "after",
      examples("idp open", "idp open f7", "idp open last", "curl -s $(idp open discovery) | jq -r .issuer"),
    )
    .action(act(async (cli, page: string) => (await import("../commands/open.ts")).open(cli, page)));
  program
    .command("doctor")
    .description("check for problems on this machine: data, lock, issuer, ports, apps, clock; exit 6 if there are any")
    .addHelpText("after", examples("idp doctor", "idp doctor --json | jq '.checks[] | select(.status != \"ok\")'"))
    .action(act(async (cli) => (await import("../commands/doctor/doctor.ts")).doctor(cli)));
  program
    .command("version")
    .description("print the version")
    .addHelpText("after", examples("idp version", "idp version --json | jq -r .version"))
    .action(act(async () => (await import("../commands/version.ts")).printVersion()));
  program
    .command("completion")
    .description("print the completion script for a shell")
    .addArgument(new Argument("<shell>", "which shell").choices(["bash", "zsh", "fish", "powershell"]))
    .addHelpText(
      "after",
      examples(
        "source <(idp completion bash)",
        "echo 'source <(idp completion zsh)' >> ~/.zshrc",
        "idp completion fish > ~/.config/fish/completions/idp.fish",
      ),
    )
    .action(act(async (cli, shell: Shell) => (await import("../commands/completion/completion.ts")).completion(cli, shell)));
}
