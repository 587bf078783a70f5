import { InvalidArgumentError } from "../commander.ts";
import { nearest } from "../../core/base/nearest.ts";
import { isWebUrl } from "../../text/url.ts";
import { durationOf } from "../../text/time.ts";

/** Values of flags, checked before a command is loaded. */

/** Over 300 years: a longer duration may lead to an invalid date. */
const max = 9_999_999_999;

/** A duration in seconds: a whole number, alone or with a unit. */
export const seconds =
  (min: number, atMost = max) =>
  (value: string): number => {
    const given = durationOf(value);
    if (!(given >= min && given <= atMost)) {
      throw new InvalidArgumentError(
        `It must be a whole number of seconds, at least ${min} and at most ${atMost}, or one with a unit: 30s, 5m, 2h, 7d.`,
      );
    }
    return given;
  };

export function wholeNumber(value: string): number {
  if (!/^\d+$/.test(value)) throw new InvalidArgumentError("It must be a whole number.");
  if (value.length > 7) throw new InvalidArgumentError("It must be at most 9999999.");
  return Number(value);
}

/** A port that an app listens on. */
export function appPort(value: string): number {
  const port = wholeNumber(value);
  if (port < 1 || port > 65_535) throw new InvalidArgumentError("It must be a port, 1 to 65535.");
  return port;
}

/** A folder. It must not be empty: an unset variable in a script would put the files into the working folder. */
export const folder = (value: string): string => {
  if (value === "") throw new InvalidArgumentError("It must name a folder.");
  return value;
};

/** An http or https URL. @param example one for the refusal */
export const webUrl =
  (example: string) =>
  (value: string): string => {
    if (!isWebUrl(value)) throw new InvalidArgumentError(`It must be a URL such as ${example}.`);
    return value;
  };

/** The part of an e-mail address after the @. */
export function domain(value: string): string {
  if (!/^[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)+$/i.test(value))
    throw new InvalidArgumentError("It must be a domain such as example.com.");
  return value;
}

/**
 * A method of HTTP, in upper case as Node.js sends it, so that DPoP proofs name the same one. Of CONNECT there is no answer to judge
 * (RFC 9110 9.3.6).
 */
export function httpMethod(value: string): string {
  const method = value.toUpperCase();
  // RFC 9110 9.1: a token (5.6.2).
  if (method === "CONNECT" || !/^[!#$%&'*+.^`|~\dA-Z_-]+$/.test(method))
    throw new InvalidArgumentError("It must be a method of HTTP, such as GET or POST.");
  return method;
}

/** The parser of a flag that may be given only once. @param rule a sentence on why */
export const once =
  (rule: string) =>
  (value: string, before?: string): string => {
    if (before === undefined) return value;
    throw new InvalidArgumentError(`It is given twice, and ${rule}.`);
  };

/** The parsers of flags whose values are collected. */
const collectors = new WeakSet();

function collector<F extends object>(parse: F): F {
  collectors.add(parse);
  return parse;
}

/** Whether the values of a flag are collected, because it may be repeated. */
export const isCollected = ({ parseArg }: { readonly parseArg?: object | undefined }): boolean =>
  parseArg !== undefined && collectors.has(parseArg);

/** Collects a flag that may be repeated. */
export const collect = collector((value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
]);

/** Collects a flag that may be repeated, of these words: those of its `choices`, which are what a near word is compared with. */
export const collectOf = <V extends string>(known: readonly V[]) =>
  collector((value: string, before: readonly V[] = []): readonly V[] => {
    const found = known.find((word) => word === value);
    if (found === undefined) throw new InvalidArgumentError(`It must be ${known.join(", ")}.`);
    return [...before, found];
  });

/** Collects a flag that may be repeated, or may have several values with commas between them. */
export const collectList = collector((value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...value.split(",").map((one) => one.trim()),
]);

/** The refusal of a word that is not in a list. @param rule a sentence on what there is */
export function notListed(given: string, known: readonly string[], rule: string): Error {
  const closest = nearest(given, known);
  return new InvalidArgumentError(closest === undefined ? rule : `${rule} Did you mean ${closest}?`);
}
