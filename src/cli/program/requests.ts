import { Argument, InvalidArgumentError, Option, type Command } from "commander";
import { expectEndpoints, requestEndpoints } from "../../core/testing/request-endpoints.ts";
import { examples, type Act } from "../act.ts";
import type { ExpectFlags } from "../requests/expect.ts";
import type { FilterFlags } from "../requests/requests.ts";
import { wholeNumber } from "./flag-values.ts";

/** The commands on what an app asked of the server. */

const requests = () => import("../requests/requests.ts");

const filters = (command: Command): Command =>
  command
    .option("--client <client_id>", "only those of this client")
    .option("--user <username>", "only those of this user")
    .option("--grant-type <type>", "only token requests with this grant_type")
    .option("--method <method>", "only those with this method")
    .option("--status <status>", "only those with this status: 400, or 4xx")
    .option("--flow <flow>", "only those of one sign-in, by its flow")
    .option("--since <request_id>", "only those after this request, or after a time (ISO 8601)");

/** `code=abc` */
function parameter(value: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, name, content] = /^([^=]+)=(.*)$/s.exec(value) ?? [];
  if (name === undefined || content === undefined) {
    throw new InvalidArgumentError("It is a name and a value, such as scope=openid.");
  }
  return { ...before, [name]: content };
}

function declareExpect(program: Command, act: Act): void {
  filters(program.command("expect"))
    .description("say whether your app asked what it should, and show the nearest misses; exit 6 if it did not")
    .addArgument(new Argument("<endpoint>", "which endpoint").choices(expectEndpoints))
    .option("--param <name=value>", "only those with this parameter; repeatable", parameter)
    .option("--times <number>", "exactly so often", wholeNumber)
    .option("--at-least <number>", "so often or more (default: 1)", wholeNumber)
    .option("--never", "not at all")
    .option("--within <time>", "wait until it is met, at most so long; with --never, the whole time")
    .addHelpText(
      "after",
      examples(
        "idp expect token --grant-type refresh_token --times 1",
        "idp expect userinfo --user alice --status 401 --within 5s",
        "idp expect authorize --client demo-app --param prompt=none --never",
      ),
    )
    .action(
      act(async (cli, endpoint: string, flags: ExpectFlags) =>
        (await import("../requests/expect.ts")).expectRequests(cli, endpoint, flags),
      ),
    );
}

/** Adds them to the program. */
export function declareRequests(program: Command, act: Act): void {
  const group = program.command("requests").description("list, follow and show what your app asked of the server");
  const select = (command: Command): Command =>
    filters(command).addOption(
      new Option("--endpoint <name>", "only those to this endpoint").choices(requestEndpoints),
    );
  select(group.command("list", { isDefault: true }))
    .description("list the last requests, the oldest first")
    .addHelpText("after", examples("idp requests", "idp requests list --client demo-app --status 4xx --json"))
    .action(act(async (cli, flags: FilterFlags) => (await requests()).listRequests(cli, flags)));
  select(group.command("follow"))
    .description("print requests as they come, until Ctrl+C or until the server stops")
    .addHelpText("after", examples("idp requests follow", "idp requests follow --endpoint token --json | jq .error"))
    .action(act(async (cli, flags: FilterFlags) => (await import("../requests/follow.ts")).followRequests(cli, flags)));
  group
    .command("show")
    .description("show one request: what was sent, what was answered, and why")
    .argument("<request_id>", "as idp requests has it")
    .addHelpText("after", examples("idp requests show r17", "idp requests show r17 --json | jq .parameters"))
    .action(act(async (cli, id: string) => (await requests()).showRequest(cli, id)));
  group
    .command("clear")
    .description("forget all requests")
    .addHelpText("after", examples("idp requests clear", "idp requests clear --json"))
    .action(act(async (cli) => (await requests()).clearRequests(cli)));
  declareExpect(program, act);
}
