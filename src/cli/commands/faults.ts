import { type Fault, type FaultInput } from "../../core/testing/controls/faults/faults.ts";
import { effectOf, timesInWords } from "../../core/testing/controls/faults/fault-admin.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import type { Style } from "../output/style.ts";
import { table } from "../output/table.ts";
import { count } from "../output/words.ts";
import { findTarget } from "../target/target.ts";
import { wholeNumber, notListed } from "../flags/flag-values.ts";
import { setClaim } from "../flags/set-field.ts";
import type { Declare } from "../act.ts";
import { faultMethods, faultEndpoints } from "../../core/testing/controls/faults/endpoints.ts";
import { listFlaws as listFlawRows, flawNames } from "../../core/testing/controls/faults/flaw-list.ts";
import { examples, Argument, type Command, type FlagsOf, InvalidArgumentError, Option } from "../commander.ts";

const withFaultFlags = (command: Command) =>
  command
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
    .option(
      "--claim <name=value>",
      "another claim of the ID token (token) or of UserInfo (userinfo), as JSON or text; repeatable",
      setClaim,
    )
    .option("--forge <username>", "whose identity a flaw at saml_sso forges");
type FaultFlags = FlagsOf<typeof withFaultFlags>;

/** Which requests take the fault, in words. */
function whichRequests({ client, user, grant_type: grantType, method, skip }: Fault): string {
  const filters = [client, user, grantType, method].flatMap((value) => value ?? []);
  return [...filters, ...(skip > 0 ? [`after ${skip}`] : [])].join(" ");
}

const faultTable = (cli: Invocation, faults: readonly Fault[], style: Style): string =>
  table(
    [
      { title: "FAULT", value: (fault) => fault.id },
      { title: "ENDPOINT", value: (fault) => fault.endpoint },
      { title: "REQUESTS", value: whichRequests },
      { title: "LEFT", value: timesInWords },
      ...(faults.some(({ by }) => by !== undefined) ? [{ title: "BY", value: ({ by = "" }: Fault) => by }] : []),
      { title: "DOES", value: (fault) => `${effectOf(fault)}${fault.after ? ", after the work" : ""}` },
    ],
    faults,
    style,
    cli.width,
  );

/** `idp faults add` */
async function addFault(cli: Invocation, endpoint: FaultInput["endpoint"], flags: FaultFlags): Promise<Outcome> {
  const { grantType, header, contentType, dropAfter, claim: claims, ...rest } = flags;
  const target = await findTarget(cli);
  const fault = await target.call("faults.add", {
    ...{ endpoint, ...rest, grant_type: grantType, content_type: contentType, drop_after: dropAfter },
    ...(claims !== undefined && { claims }),
    ...(header !== undefined && { header: Object.fromEntries(header) }),
  });
  return answer(fault, (shown, style) => faultTable(cli, [shown], style), {
    notes: [{ text: "To remove it", command: ["idp", "faults", "remove", fault.id] }, target.where],
  });
}

/** `idp faults list` */
async function listFaults(cli: Invocation): Promise<Outcome> {
  const faults = await (await findTarget(cli)).call("faults.list", {});
  return answer(faults, (shown, style) =>
    shown.length === 0 ? "No faults: every response is as it should be." : faultTable(cli, shown, style),
  );
}

/** `idp faults remove` */
async function removeFault(cli: Invocation, id: string): Promise<Outcome> {
  const target = await findTarget(cli);
  await target.call("faults.remove", { id });
  return answer({ removed: id }, (shown) => `Removed ${shown.removed}`, { notes: [target.where] });
}

/** `idp faults clear` */
async function clearFaults(cli: Invocation): Promise<Outcome> {
  const target = await findTarget(cli);
  const before = await target.call("faults.list", {});
  await target.call("faults.clear", {});
  return answer({ removed: before.map(({ id }) => id) }, ({ removed }) => `Removed ${count(removed.length, "fault")}`, {
    notes: [target.where],
  });
}

/** `idp faults flaws`: without a server, because they are always the same. */
export async function listFlaws(cli: Invocation): Promise<Outcome> {
  return answer(listFlawRows(), (shown, style) =>
    table(
      [
        { title: "ENDPOINT", value: (flaw) => flaw.endpoint },
        { title: "FLAW", value: (flaw) => flaw.name },
        { title: "THE CLIENT SHOULD", value: ({ should, rule }) => `${should} (${rule})`, wraps: true },
      ],
      shown,
      style,
      cli.width,
    ),
  );
}

type Header = readonly [string, string];

/** `Retry-After: 2` */
function header(value: string, before: readonly Header[] = []): readonly Header[] {
  const [, name = "", content = ""] = /^([^:\s]+):\s*(.*)$/.exec(value) ?? [];
  if (name === "") throw new InvalidArgumentError("It must be a name and a value, such as 'Retry-After: 2'.");
  return [...before, [name, content]];
}

function flaw(value: string): (typeof flawNames)[number] {
  const known = flawNames.find((name) => name === value);
  if (known !== undefined) return known;
  throw notListed(value, flawNames, "It must be a name that idp faults flaws lists.");
}

/** Declares the commands of `idp faults`. */
export const declareFaults: Declare = (faults, { act }) => {
  withFaultFlags(faults.command("add"))
    .description("make the next response of an endpoint wrong; a request takes the first fault that matches")
    .addArgument(new Argument("<endpoint>", "the endpoint").choices([...faultEndpoints, "any"]))
    .addHelpText(
      "after",
      examples(
        "idp faults add token --status 503 --header 'Retry-After: 2'",
        "idp faults add token --grant-type refresh_token --after --drop",
        "idp faults add token --client demo-app --flaw nonce-wrong",
        "idp faults add jwks --always --delay 3s",
      ),
    )
    .action(act(addFault));
  faults
    .command("list", { isDefault: true })
    .description("list the active faults")
    .addHelpText("after", examples("idp faults list", "idp faults list --json | jq '.[].remaining'"))
    .action(act(listFaults));
  faults
    .command("remove")
    .description("remove one fault")
    .argument("<fault_id>", "the id that idp faults list shows")
    .addHelpText("after", examples("idp faults remove x1", "idp faults remove x1 --quiet"))
    .action(act(removeFault));
  faults
    .command("clear")
    .description("remove all faults")
    .addHelpText("after", examples("idp faults clear", "idp faults clear --json"))
    .action(act(clearFaults));
  faults
    .command("flaws")
    .description("list what can be wrong in a response, and what a client should do about it")
    .addHelpText("after", examples("idp faults flaws", "idp faults flaws --json | jq -r '.[].name'"))
    .action(act(listFlaws));
};
