import type { Mismatch } from "../../core/errors.ts";
import type { RequestEvent } from "../../core/testing/record.ts";
import { duration } from "../../core/time-words.ts";
import { cut } from "../../repeated.ts";
import { escapeDeep, escapeLine } from "../output/escape.ts";
import type { Style } from "../output/style.ts";
import { cells, wrap } from "../output/table.ts";

/** The request log of `idp start`: one line a request; below a refusal the reason, and what fixes it. */

/** Routes whose path says more than their name. */
const shownByPath = ["none", "account", "root"];

function endpointName({ endpoint, path }: RequestEvent): string {
  if (endpoint === "api") return `api ${path.split("/_idp/api/")[1] ?? ""}`;
  return shownByPath.includes(endpoint) ? path : endpoint;
}

/** The local time of day: `12:04:36`. */
export const timeOfDay = (at: Date): string => at.toTimeString().slice(0, 8);

/** Cuts long paths: the sender of a request chooses their length. */
const longestPath = 200;

export const cutPath = (path: string): string => cut(path, longestPath);

/** Of the lines below the first one of a request. */
const indent = " ".repeat(10);

/** What the server remarks while it runs, among the lines of requests. @param width as of {@link requestLines} */
export const remarkLines = (note: string, at: Date, style: Style, width: number): string =>
  style.dim(`${timeOfDay(at)}  ${wrap(escapeLine(note), width, indent).trimStart()}`);

/** That the clock is moved, so that nobody wonders about what follows from it. */
const clockNote = ({ clock }: RequestEvent): string | null =>
  clock === null ? null : `clock ${clock < 0 ? "-" : "+"}${duration(clock)}`;

/** The lines of one request. @param width cells of the terminal; Infinity where there is none */
export function requestLines(given: RequestEvent, style: Style, width: number): string {
  const event = escapeDeep(given);
  const { time, method, status, client, user, outcome, error, mismatch, fix, fault } = event;
  const refused = error !== null || status >= 400;
  const paint = status >= 500 ? style.red : refused ? style.yellow : style.green;
  const clock = timeOfDay(new Date(time));
  const head = [
    style.dim(clock),
    `${method.padEnd(4)} ${endpointName(event).padEnd(12)}`,
    paint(String(status)),
    [client, user, clockNote(event)].filter((part) => part !== null && part !== "").join("  "),
  ];
  const line = head.join("  ").trimEnd();
  const taken = cells([clock, ...head.slice(1, 2), String(status), ...head.slice(3)].join("  ").trimEnd());
  const fits = outcome === null || outcome === "" || taken + 2 + cells(outcome) <= width;
  return [
    fits ? [line, outcome ?? ""].join("  ").trimEnd() : line,
    ...(fits ? [] : [wrap(outcome, width, indent)]),
    ...(fault === null ? [] : [style.yellow(wrap(`fault ${fault}`, width, indent))]),
    ...(error === null ? [] : reason(error, mismatch, width).map((each) => paint(each))),
    ...(fix === null ? [] : [paint(fixLine(fix, width))]),
  ].join("\n");
}

/** Why it was refused. A client id that is not there has its sentence; addresses are long and compared letter by letter. */
const reason = (error: string, mismatch: Mismatch | null, width: number): readonly string[] =>
  mismatch === null || mismatch.parameter === "client_id" ? [wrap(error, width, indent)] : compared(error, mismatch);

/** What was sent and what is registered, one below the other, so that an extra slash is easy to see. Neither is wrapped. */
const compared = (error: string, { parameter, sent, registered }: Mismatch): readonly string[] =>
  [
    `${/^\w+/.exec(error)?.[0] ?? ""}: ${parameter} is not registered`,
    `asked:      ${sent}`,
    ...(registered.length === 0 ? ["none"] : registered).map(
      (each, index) => `${index === 0 ? "registered:" : "           "} ${each}`,
    ),
  ].map((line) => indent + line);

/** Pasted, a command has to be one line, however long; words are wrapped. */
const fixLine = (fix: string, width: number): string =>
  fix.startsWith("idp ") ? `${indent}fix: ${fix}` : wrap(`fix: ${fix}`, width, indent);
