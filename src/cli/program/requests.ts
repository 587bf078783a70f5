import { Argument, InvalidArgumentError, Option, type Command } from "commander";
import { expectEndpoints, requestEndpoints, type ExpectEndpoint } from "../../core/ledger/request-endpoints.ts";
import { examples, type Act } from "../act.ts";
import type { ExpectFlags } from "../commands/expect.ts";
import type { FilterFlags } from "../commands/requests/requests.ts";
import { wholeNumber } from "../flags/flag-values.ts";

/** The commands on the requests of an app. */

const requests = () => import("../commands/requests/requests.ts");

const filters = (command: Command): Command =>
  command
    .option("--client <client_id>", "only requests of this client")
    .option("--user <username>", "only requests about this user")
    .option("--grant-type <type>", "only token requests with this grant_type")
    .option("--method <method>", "only requests with this method")
    .option("--status <status>", "only requests with this status: 400, or 4xx")
    .option("--flow <flow>", "only requests of the sign-in with this flow")
    .option("--since <request_id>", "only requests after this one, or after a time (ISO 8601)");

/** `code=abc` */
function parameter(value: string, before: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, name, content] = /^([^=]+)=(.*)$/s.exec(value) ?? [];
  if (name === undefined || content === undefined) {
    throw new InvalidArgumentError("It must be a name and a value, such as scope=openid.");
  }
  return { ...before, [name]: content };
}

function declareExpect(program: Command, act: Act): void {
  filters(program.command("expect"))
    .description("check that your app sent the requests that it should; exit 6, with the nearest misses, if it did not")
    .addArgument(new Argument("<endpoint>", "the endpoint").choices(expectEndpoints))
    .option("--param <name=value>", "only requests with this parameter; repeatable", parameter)
    .option("--times <number>", "exactly this many requests", wholeNumber)
    .option("--at-least <number>", "at least this many requests (default: 1)", wholeNumber)
    .option("--never", "no request at all")
    .option("--within <time>", "wait up to this long for the requests; with --never, watch the whole time")
    .addHelpText(
      "after",
      examples(
        "idp expect token --grant-type refresh_token --times 1",
        "idp expect userinfo --user alice --status 401 --within 5s",
        "idp expect authorize --client demo-app --param prompt=none --never",
      ),
    )
    .action(
      act(async (cli, endpoint: ExpectEndpoint, flags: ExpectFlags) =>
        (await import("../commands/expect.ts")).expectRequests(cli, endpoint, flags),
      ),
    );
}

/** Adds these commands to the program. */
export function declareRequests(program: Command, act: Act): void {
  const group = program.command("requests").description("list, follow and show the requests of your app");
  const select = (command: Command): Command =>
    filters(command).addOption(
      new Option("--endpoint <name>", "only requests to this endpoint").choices(requestEndpoints),
    );
  select(group.command("list", { isDefault: true }))
    .description("list the last requests, oldest first")
    .addHelpText("after", examples("idp requests", "idp requests list --client demo-app --status 4xx --json"))
    .action(act(async (cli, flags: FilterFlags) => (await requests()).listRequests(cli, flags)));
  select(group.command("follow"))
    .description("print requests as they come, until Ctrl+C or until the server stops")
    .addHelpText("after", examples("idp requests follow", "idp requests follow --endpoint token --json | jq .error"))
    .action(act(async (cli, flags: FilterFlags) => (await import("../commands/requests/follow.ts")).followRequests(cli, flags)));
  group
    .command("show")
    .description("show one request: what was sent, what the server answered, and why")
    .argument("<request_id>", "the id that idp requests shows")
    .addHelpText("after", examples("idp requests show r17", "idp requests show r17 --json | jq .parameters"))
    .action(act(async (cli, id: string) => (await requests()).showRequest(cli, id)));
  group
    .command("clear")
    .description("remove all requests from the ledger")
    .addHelpText("after", examples("idp requests clear", "idp requests clear --json"))
    .action(act(async (cli) => (await requests()).clearRequests(cli)));
  declareExpect(program, act);
  program
    .command("acts")
    .description("list who changed what: the last 200 changes, with the name of the token of the control API")
    .addHelpText("after", examples("idp acts", "idp acts --json | jq '.[] | select(.by == \"qa\")'"))
    .action(act(async (cli) => (await import("../commands/acts.ts")).listActs(cli)));
}
