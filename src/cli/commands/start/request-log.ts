import type { Mismatch } from "../../../core/base/errors.ts";
import type { CommandLine } from "../../../core/base/hint.ts";
import { eventJson, type RequestEvent } from "../../../core/testing/ledger/request-json.ts";
import type { KeptEvent } from "../../../core/testing/ledger/ledger.ts";
import type { OnKeptRequest } from "../../../serve/server.ts";
import { duration } from "../../../text/time.ts";
import { cut } from "../../../text/redacted.ts";
import { widthOf, type Invocation } from "../../invocation.ts";
import { escapeLine, printableJson } from "../../output/escape.ts";
import { say } from "../../output/print.ts";
import type { Style } from "../../output/style.ts";
import { cells, wrap } from "../../output/table.ts";
import { count } from "../../output/words.ts";

/** The request log of `idp start`: a line for each request, and below a refusal its reason and what fixes it. */

/** What the log says of a request: the JSON, and of a refusal what is shown otherwise. */
export interface LoggedRequest extends Omit<RequestEvent, "id" | "mismatch"> {
  /** What was sent beside what is registered, with the code of the refusal; null: nothing is to be compared. */
  readonly compared: (Mismatch & { readonly code: string }) | null;
  /** Whether the fix has a command, which stays on one line, so that it can be pasted. */
  readonly hasCommand: boolean;
}

/** @param line writes commands for the issuer of the request */
function loggedRequest(event: KeptEvent, line: CommandLine): LoggedRequest {
  const { given = null, code = null, hint = null } = event.refusal ?? {};
  return {
    ...eventJson(event, line),
    // For an unknown client ID the sentence is enough; addresses are long and compared letter by letter.
    compared: given === null || given.parameter === "client_id" ? null : { ...given, code: code ?? "" },
    hasCommand: hint?.command !== undefined,
  };
}

/** Routes that are shown by their path, because it says more than their name. */
const shownByPath = ["none", "account", "root"];

function endpointName({ endpoint, path }: LoggedRequest): string {
  if (endpoint === "api") return `api ${cutPath(path).split("/_idp/api/")[1] ?? ""}`;
  return shownByPath.includes(endpoint) ? cutPath(path) : endpoint;
}

/** The local time of day: `12:04:36`. */
export const timeOfDay = (at: Date): string => at.toTimeString().slice(0, 8);

/** How many characters of a path are shown: the sender of a request chooses its length. */
const maxPathLength = 200;

const cutPath = (path: string): string => cut(path, maxPathLength);

/** The indent of the lines below the first one of a request. */
const indent = " ".repeat(10);

/** Lines of the log, with what does not fit below the time. @param time as it is shown @param width as in {@link requestLines} */
export function timedLines(time: string, text: string, width: number): string {
  const lines = text.split("\n").map((line) => wrap(escapeLine(line.trim()), width, indent));
  return `${time}  ${lines.join("\n").trimStart()}`;
}

/** A remark of the running server, among the lines of requests. @param width as in {@link requestLines} */
const remarkLines = (note: string, at: Date, style: Style, width: number): string =>
  style.dim(timedLines(timeOfDay(at), note, width));

/** Says that the clock was moved, so that nobody wonders about the effects. */
const clockNote = ({ clock }: LoggedRequest): string | null =>
  clock === null ? null : `clock ${clock < 0 ? "-" : "+"}${duration(clock)}`;

const printable = (text: string | null): string | null => (text === null ? null : escapeLine(text));

const isRefused = ({ error, status }: LoggedRequest): boolean => error !== null || status >= 400;

/** The command that opens the sign-in of a refused request in the inspector; null for any other, and where the ledger does not hold it. */
function openCommand(event: LoggedRequest, read: Parameters<OnKeptRequest>[1], line: CommandLine): string | null {
  const record = isRefused(event) ? read() : null;
  return record === null ? null : line(["idp", "open", record.flow ?? record.id]);
}

/**
 * The lines of one request. Only what is printed is made safe to print.
 * @param width cells of the terminal; Infinity without one @param open of {@link openCommand}
 */
export function requestLines(event: LoggedRequest, style: Style, width: number, open: string | null = null): string {
  const { time, method, status, compared, hasCommand, address } = event;
  const [client, user, outcome] = [printable(event.client), printable(event.user), printable(event.outcome)];
  const [error, rule] = [printable(event.error), printable(event.rule)];
  const [fix, fault] = [printable(event.fix), printable(event.fault)];
  const paint = status >= 500 ? style.red : isRefused(event) ? style.yellow : style.green;
  const clock = timeOfDay(new Date(time));
  const head = [
    style.dim(clock),
    `${escapeLine(method).padEnd(4)} ${escapeLine(endpointName(event)).padEnd(12)}`,
    paint(String(status)),
    [
      client,
      user,
      event.by === undefined ? null : `by ${escapeLine(event.by)}`,
      address === undefined ? null : `from ${address}`,
      clockNote(event),
    ]
      .filter((part) => part !== null && part !== "")
      .join("  "),
  ];
  const line = head.join("  ").trimEnd();
  const taken = cells([clock, ...head.slice(1, 2), String(status), ...head.slice(3)].join("  ").trimEnd());
  const fits = outcome === null || outcome === "" || taken + 2 + cells(outcome) <= width;
  const first = fits ? [line, outcome ?? ""].join("  ").trimEnd() : line;
  const openFits = open !== null && fits && taken + 2 + cells(outcome ?? "") + 2 + cells(open) <= width;
  return [
    openFits ? `${first}  ${style.dim(open)}` : first,
    ...(fits ? [] : [wrap(outcome, width, indent)]),
    // Not wrapped, so that it can be pasted.
    ...(open === null || openFits ? [] : [style.dim(indent + open)]),
    ...(fault === null ? [] : [style.yellow(wrap(`fault ${fault}`, width, indent))]),
    ...(error === null
      ? []
      : (compared === null ? [wrap(error, width, indent)] : comparison(compared)).map((each) => paint(each))),
    ...(rule === null ? [] : [paint(`${indent}rule: ${rule}`)]),
    ...(fix === null ? [] : [paint(hasCommand ? `${indent}fix: ${fix}` : wrap(`fix: ${fix}`, width, indent))]),
  ].join("\n");
}

/** What was sent and what is registered, one below the other and not wrapped, so that an extra slash is easy to see. */
const comparison = ({ code, parameter, sent, registered }: NonNullable<LoggedRequest["compared"]>): readonly string[] =>
  [
    `${code}: ${escapeLine(parameter)} is not registered`,
    `asked:      ${escapeLine(sent)}`,
    ...(registered.length === 0 ? ["none"] : registered).map(
      (each, index) => `${index === 0 ? "registered:" : "           "} ${escapeLine(each)}`,
    ),
  ].map((line) => indent + line);

/** How many bytes may wait for a reader, because a log that nobody reads must not fill the memory. */
const maxWaiting = 1024 * 1024;

/** Writes each request as a line of JSON, or as lines for a person; nothing with `--quiet`. What is dropped while nobody reads is counted. */
export function requestLog(cli: Invocation): OnKeptRequest {
  const { stdout } = cli;
  let dropped = 0;
  const sayDropped = (): void => {
    stdout.write(`${droppedLine(cli, dropped)}\n`);
    dropped = 0;
  };
  return (event, read, line) => {
    if (dropped > 0 || stdout.writableLength > maxWaiting) {
      if (dropped === 0) stdout.once("drain", sayDropped);
      dropped += 1;
      return;
    }
    if (cli.json) {
      stdout.write(`${printableJson({ event: "request", ...eventJson(event, line), path: cutPath(event.path) }, 0)}\n`);
      return;
    }
    const logged = loggedRequest(event, line);
    stdout.write(`${requestLines(logged, cli.out, cli.width, openCommand(logged, read, line))}\n`);
  };
}

function droppedLine(cli: Invocation, requests: number): string {
  const time = new Date(cli.now());
  if (cli.json) return printableJson({ event: "dropped", time: time.toISOString(), requests }, 0);
  return remarkLines(`${count(requests, "request")} not logged: nobody read this`, time, cli.out, cli.width);
}

/** Writes a line of the log that belongs to no request. It goes to stderr, because it is not an answer. */
export function logRemark(cli: Invocation, note: string): void {
  if (cli.json) say(cli, note);
  else if (!cli.quiet) {
    cli.stderr.write(`${remarkLines(note, new Date(cli.now()), cli.err, widthOf(cli.stderr))}\n`);
  }
}
