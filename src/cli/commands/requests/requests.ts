/*
 * cli/commands/requests: the `requests` commands, on the ledger of a running server. requests.ts lists, shows and clears it, follow.ts prints
 * new requests.
 */
import { shownAs } from "../../../core/testing/ledger/redact-record.ts";
import type { RequestRecord } from "../../../core/testing/ledger/request-json.ts";
import type { Hint } from "../../../core/base/hint.ts";
import { isObject } from "../../../text/json.ts";
import { failureOf } from "../../failure.ts";
import type { Invocation } from "../../invocation.ts";
import { answer, type Outcome } from "../../output/print.ts";
import type { Style } from "../../output/style.ts";
import { cells, pairs, table, wrap } from "../../output/table.ts";
import { timeOfDay } from "../start/request-log.ts";
import { belowUrl } from "../../target/issuer-flag.ts";
import { findTarget, type Target } from "../../target/target.ts";
import { filterOf, type FilterFlags, withRequestFilter } from "../../flags/request-filter.ts";
import { followRequests } from "./follow.ts";
import type { Declare } from "../../act.ts";
import { requestEndpoints } from "../../../core/testing/ledger/filter.ts";
import { examples, type Command, Option } from "../../commander.ts";

const paint = ({ status, error }: Pick<RequestRecord, "status" | "error">, style: Style): ((text: string) => string) =>
  status >= 500 ? style.red : status >= 400 || status === 0 || error !== null ? style.yellow : style.green;

/** `idp requests list` */
async function listRequests(cli: Invocation, flags: FilterFlags): Promise<Outcome> {
  const target = await findTarget(cli);
  const records = await target.call("requests.list", filterOf(flags));
  const notes =
    records.length === 0 ? [...(await unknownNames(target, flags)), ...(await otherIssuersNote(cli, flags))] : [];
  return answer(
    records,
    (shown, style) =>
      shown.length === 0
        ? "No requests."
        : table(
            [
              { title: "ID", value: (one) => one.id },
              { title: "TIME", value: (one) => timeOfDay(new Date(one.time)) },
              { title: "FLOW", value: (one) => one.flow ?? "" },
              { title: "REQUEST", value: (one) => `${one.method} ${one.endpoint}` },
              { title: "STATUS", value: (one) => String(one.status), color: (text, one) => paint(one, style)(text) },
              { title: "WHO", value: (one) => [one.client, one.user].filter((part) => part !== null).join(" ") },
              { title: "WHAT", value: what, wraps: true },
            ],
            shown,
            style,
            cli.width,
          ),
    { notes },
  );
}

/** A note on each client and user of a filter that there is not: a test may expect that it asks nothing, but it may be a typo too. */
export async function unknownNames(target: Target, { client, user }: FilterFlags): Promise<readonly Hint[]> {
  const asked = [
    ...(client === undefined ? [] : [target.call("clients.show", { client_id: client })]),
    ...(user === undefined ? [] : [target.call("users.show", { username: user })]),
  ];
  return (await Promise.allSettled(asked)).flatMap((result) => {
    const unknown = result.status === "rejected" ? failureOf(result.reason) : null;
    if (unknown?.code !== "not_found") return [];
    const { text = "", command } = unknown.hint ?? {};
    return [{ text: `There is ${unknown.message}. ${text}`, ...(command !== undefined && { command }) }];
  });
}

/** The other issuers of the server that have such requests, where this one has none. An admin token may be for this one alone. */
async function otherIssuersNote(cli: Invocation, flags: FilterFlags): Promise<readonly string[]> {
  const url = cli.url?.replace(/\/i\/[\w-]+\/?$/, "") ?? null;
  const here = cli.issuer ?? /\/i\/([\w-]+)\/?$/.exec(cli.url ?? "")?.[1] ?? null;
  const at = (issuer: string | null) =>
    findTarget({ ...cli, issuer, url: url === null ? null : belowUrl(url, issuer) });
  try {
    const issuers = await (await at(null)).call("issuers.list", {});
    const names = [null, ...issuers.map(({ name }) => name)].filter((name) => name !== here);
    const counts = await Promise.all(
      names.map(async (name) => (await (await at(name)).call("requests.list", filterOf(flags))).length),
    );
    const found = names.flatMap((name, index) =>
      counts[index] === 0 ? [] : [`${name ?? "the first one"} has ${counts[index]}`],
    );
    return found.length === 0 ? [] : [`Other issuers have requests: ${found.join(", ")}. Name one with --issuer NAME.`];
  } catch {
    return [];
  }
}

/** `idp requests show` */
async function showRequest(cli: Invocation, id: string): Promise<Outcome> {
  const record = await (await findTarget(cli)).call("requests.show", { id });
  return answer(record, (shown, style) => describe(shown, style, cli.width));
}

/** `idp requests clear` */
async function clearRequests(cli: Invocation): Promise<Outcome> {
  const target = await findTarget(cli);
  await target.call("requests.clear", {});
  return answer({ cleared: true }, () => "The ledger is empty.", { notes: [target.where] });
}

function describe(record: RequestRecord, style: Style, width: number): string {
  const { parameters, response, ...head } = record;
  const { id, time, flow, method, endpoint, path, status, ms, client, user } = head;
  const { grant_type, scope, outcome, error, rule, fix, fault, clock, metadata_document } = head;
  const lines: (readonly [string, string | null])[] = [
    ["request", `${id}  ${method} ${path}`],
    ["endpoint", endpoint],
    ["time", `${time}  (${ms} ms${clock === null ? "" : `, the clock is moved by ${clock} s`})`],
    ["status", paint(record, style)(String(status))],
    ["outcome", outcome],
    ...([
      ["error", error],
      ["rule", rule],
      ["fix", fix],
      ["fault", fault],
    ] as const),
    ...([
      ["flow", flow],
      ["client", client],
      ["user", user],
      ["grant_type", grant_type],
      ["scope", scope],
    ] as const),
  ];
  const known = lines.filter((line): line is [string, string] => line[1] !== null);
  return [
    pairs(
      known.map(([name, value]) => [name, name === "fix" ? value : hanging(value, width, 12)]),
      style,
    ),
    ...section("parameters", parameters, style, width),
    ...(isObject(metadata_document) ? section("metadata document", metadata_document, style, width) : []),
    ...sectionsOf(response).flatMap(([title, values]) => section(title, values, style, width)),
  ].join("\n");
}

/** Wrapped text, whose first line is after a name. */
const hanging = (text: string, width: number, indent: number): string =>
  width === Infinity ? text : wrap(text, width, " ".repeat(indent)).trimStart();

/** The sections of a response: where a redirect leads, and the content. */
function sectionsOf(
  response: RequestRecord["response"],
): readonly (readonly [string, Readonly<Record<string, unknown>>])[] {
  if (response === null) return [];
  const { location, parameters, body } = response;
  if (isObject(body)) return [["response", body]];
  return [[`redirect to ${String(location)}`, isObject(parameters) ? parameters : {}]];
}

function section(
  title: string,
  values: Readonly<Record<string, unknown>>,
  style: Style,
  width: number,
): readonly string[] {
  const entries = Object.entries(values);
  if (entries.length === 0 && !title.startsWith("redirect")) return [];
  const names = Math.max(0, ...entries.map(([name]) => cells(name)));
  return [
    "",
    style.dim(title),
    ...(entries.length === 0
      ? []
      : [
          pairs(
            entries.map(([name, value]) => [name, hanging(valueText(value), width, names + 4)]),
            style,
            "  ",
          ),
        ]),
  ];
}

/** Why a request was refused, and the fault that it took; otherwise its outcome. */
function what({ error, fault, outcome }: RequestRecord): string {
  const reasons = [error, fault && `fault ${fault}`].filter((part) => part !== null);
  return reasons.length === 0 ? outcome : reasons.join("; ");
}

/** JSON that can be wrapped between its members. */
const spacedJson = (value: unknown): string => JSON.stringify(value, null, 1).replaceAll(/\n\s*/g, " ");

/** A kept value and, for a JWT, its claims. */
function valueText(value: unknown): string {
  if (Array.isArray(value)) return value.map(valueText).join(" ");
  if (!isObject(value)) return shownAs(value);
  if (!Object.hasOwn(value, "fingerprint")) return spacedJson(value);
  const { scheme, header, claims, message } = value;
  return [
    ...(typeof scheme === "string" ? [scheme] : []),
    shownAs(value),
    ...(header === undefined ? [] : [spacedJson(header)]),
    ...(claims === undefined ? [] : [spacedJson(claims)]),
    // XML, so that it can be wrapped between its elements.
    ...(typeof message === "string" ? [message.replaceAll("><", "> <")] : []),
  ].join(" ");
}

/** Declares the commands of `idp requests`. */
export const declareRequests: Declare = (group, { act }) => {
  const select = (command: Command) =>
    withRequestFilter(command).addOption(
      new Option("--endpoint <name>", "only requests to this endpoint").choices(requestEndpoints),
    );
  select(group.command("list", { isDefault: true }))
    .description("list the last requests, oldest first")
    .addHelpText("after", examples("idp requests", "idp requests list --client demo-app --status 4xx --json"))
    .action(act(listRequests));
  select(group.command("follow"))
    .description("print requests as they come, until Ctrl+C or until the server stops")
    .addHelpText("after", examples("idp requests follow", "idp requests follow --endpoint token --json | jq .error"))
    .action(act(followRequests));
  group
    .command("show")
    .description("show one request: what was sent, what the server answered, and why")
    .argument("<request_id>", "the id that idp requests shows")
    .addHelpText("after", examples("idp requests show r17", "idp requests show r17 --json | jq .parameters"))
    .action(act(showRequest));
  group
    .command("clear")
    .description("remove all requests from the ledger")
    .addHelpText("after", examples("idp requests clear", "idp requests clear --json"))
    .action(act(clearRequests));
};
