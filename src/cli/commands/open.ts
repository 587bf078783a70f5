import { baseOf } from "../../core/base/endpoints.ts";
import { OperationError } from "../../core/base/errors.ts";
import type { Invocation } from "../invocation.ts";
import { openBrowser, openWithKey } from "../output/open-browser.ts";
import { answer, print, type Outcome } from "../output/print.ts";
import { issuerAt } from "../../serve/remote.ts";
import { serverAddress, findTarget, noServer, startHint } from "../target/target.ts";
import { examples, InvalidArgumentError, Argument } from "../commander.ts";
import type { Declare } from "../act.ts";
import { lastFlow, flowForm } from "../../core/testing/ledger/filter.ts";

/** The paths of the pages below the issuer, by their names on the command line. */
const paths = {
  account: "/account",
  device: "/device",
  discovery: "/.well-known/openid-configuration",
} as const;

/** How long to wait for an answer, in milliseconds. */
const timeoutMs = 5000;

const pathOf = (page: string): string | null => (Object.hasOwn(paths, page) ? paths[page as keyof typeof paths] : null);

/**
 * `idp open`: prints the address of a page of the running server, and on a terminal opens it in a browser.
 * @param page the name of a page, or a sign-in of the inspector
 */
async function open(cli: Invocation, page: string): Promise<Outcome> {
  const address = serverAddress(cli);
  const issuer = address === null ? null : await issuerAt(address, timeoutMs);
  if (issuer === null) {
    if (cli.url === null) throw await noServer(cli);
    throw new OperationError("no_server", `nothing answers at ${cli.url}`, { hint: await startHint(cli) });
  }
  const path = pathOf(page);
  const url = path === null ? await inspectorAddress(cli, page) : `${baseOf(issuer)}${path}`;
  const outcome = answer({ url }, (shown) => shown.url);
  if (!cli.interactive || !cli.stdout.isTTY) return outcome;
  // First, because a browser may take a while, or may not come at all.
  print(cli, outcome);
  await (path === null ? openWithKey(cli, url) : openBrowser(cli, url));
  return answer({ url }, () => "");
}

/** The address with a key that opens the inspector once. */
async function inspectorAddress(cli: Invocation, page: string): Promise<string> {
  const target = await findTarget(cli);
  return (await target.call("inspector.open", page === "inspector" ? {} : { flow: page })).url;
}

const pages: readonly string[] = ["inspector", "account", "device", "discovery", lastFlow];

function pageOrFlow(typed: string): string {
  if (pages.includes(typed) || flowForm.test(typed)) return typed;
  throw new InvalidArgumentError(`Pages: ${pages.join(", ")}. A sign-in: f7`);
}

/** Declares `idp open`. */
export const declareOpen: Declare = (command, { act }) => {
  command
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
    .action(act(open));
};
