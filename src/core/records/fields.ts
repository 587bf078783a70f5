import { reservedClaims } from "./scopes/claim-table.ts";
import { singleClaim } from "./scopes/claims.ts";
import { builtInScopes } from "./scopes/scopes.ts";
import * as z from "zod";
import { issuerName, endpointForm, issuerForm, webUrlForm, usernameForm } from "../base/identifiers.ts";
import { durationForm, durationOf, tenYears } from "../../text/time.ts";

/** The kinds of values that fixtures hold, each with a sentence that says what was given and what to write. */

/** A type with everything in it readonly, so that a value declared `as const` fits too. */
export type DeepReadonly<T> = T extends readonly (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

type Sentence = (given: string) => string;

/** Text with a form, which is in the JSON Schema too. */
export const textOf = (form: RegExp, wrong: Sentence): z.ZodString =>
  z.string().regex(form, { error: (issue) => wrong(String(issue.input)) });

/** A URI with a form, which is in the JSON Schema too. @param problemOf also finds what no form can say */
export const uriOf = (form: RegExp, problemOf: (uri: string) => string | null): z.ZodString =>
  textOf(form, (given) => problemOf(given) ?? "").refine((given) => !form.test(given) || problemOf(given) === null, {
    error: (issue) => problemOf(String(issue.input)) ?? "",
  });

/** The error of a field: the rule, and the value that breaks it. */
export const ruleAndValue = (rule: string) => ({
  error: ({ input }: { readonly input?: unknown }): string =>
    typeof input === "string" || typeof input === "number" ? `${rule}, not ${JSON.stringify(input)}` : rule,
});

/** `300` or `5m`. */
export function wholeSeconds(min: number) {
  const low = min === 0 ? "is below zero" : "is not a positive number of seconds";
  const notDuration = ruleAndValue("must be a whole number of seconds, or a duration such as 30s, 5m or 7d");
  return z.union(
    [
      z.int().min(min, { error: low }).max(tenYears, { error: "is more than ten years; write seconds" }),
      z
        .string()
        .regex(durationForm, notDuration)
        .refine((text) => !(durationOf(text) < min), { error: low })
        .refine((text) => !(durationOf(text) > tenYears), { error: "is more than ten years" }),
    ],
    notDuration,
  );
}

/** White space and control characters of ASCII, inside a character class. */
export const blank = String.raw`\x00-\x20\x7f`;

export const nonEmptyText = z.string().min(1, { error: "is empty; give it a value or leave it out" });

/** Kept as it is given, never normalized. */
export const webUrl = textOf(webUrlForm, (given) => `"${given}" is not an http or https URL`);

/** The refusal of an address to which the server itself sends something: it has no fragment. */
const notEndpoint = (given: string): string => `"${given}" is not an http or https URL without a fragment`;
export const endpointUrl = textOf(endpointForm, notEndpoint).refine(
  // A regular expression cannot check that an encoded name (`xn--`) is valid.
  (given) => !endpointForm.test(given) || URL.canParse(given),
  { error: (issue) => notEndpoint(String(issue.input)) },
);

/** An issuer as fixtures name it: its URL, exactly as its tokens have it; the name of another issuer of the process; or `/`. */
export const issuerReference = textOf(
  new RegExp(`${issuerForm.source}|${issuerName.source}|^/$`),
  (given) =>
    `"${given}" must be the URL of an issuer, the name of another issuer of this process, or "/" for the first one`,
);

/** A day of the calendar. */
const day = z.regexes.date.source.slice(1, -1);
const noDay = (given: string): string => `"${given}" is not a day of the calendar`;

export const dayText = textOf(new RegExp(`^${day}$`), (given) =>
  /^\d{4}-\d{2}-\d{2}$/.test(given) ? noDay(given) : `"${given}" is not a date of the form YYYY-MM-DD`,
);

const clock = "T(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,9})?)?(?:Z|[+-](?:[01]\\d|2[0-3]):[0-5]\\d)";

export const timeText = textOf(new RegExp(`^${day}(?:${clock})?$`), (given) =>
  new RegExp(`^\\d{4}-\\d{2}-\\d{2}(?:${clock})?$`).test(given)
    ? noDay(given)
    : `"${given}" is not an ISO 8601 time, such as 2024-01-15T09:30:00Z`,
);

/** OpenID Connect Core 2: a `sub` has at most 255 characters, all of them ASCII. */
export const subjectText = textOf(/^[\x20-\x7e]{1,255}$/, (given) =>
  given === "" ? "is empty; give it a value or leave it out" : `"${given}" is not an id: 1 to 255 characters of ASCII`,
);

export const usernameText = textOf(
  usernameForm,
  (given) =>
    `"${given}" is not a username: 1 to 100 of the letters a to z, digits and . _ - @ +, the first a letter, digit or _`,
);

/** An email address may have letters of any alphabet, before and after the @ (RFC 6531). */
const hostLabel = String.raw`[\p{L}\p{N}](?:[\p{L}\p{N}\p{M}-]{0,61}[\p{L}\p{N}\p{M}])?`;
const emailForm = new RegExp(String.raw`^[^${blank}@"(),:;<>[\]\\]{1,64}@${hostLabel}(?:\.${hostLabel})*$`, "u");

const noEmail = (given: string): string => `"${given}" is not an e-mail address`;
export const emailText = textOf(emailForm, noEmail).max(254, {
  error: "is not an e-mail address: it has more than 254 characters (RFC 5321 4.5.3)",
});

/** RFC 6749 3.3. */
const scopeToken = "[\\x21\\x23-\\x5b\\x5d-\\x7e]+";

/** Why a scope with this name cannot be defined; null if it can. */
export function scopeProblem(name: string): string | null {
  if (!new RegExp(`^${scopeToken}$`).test(name))
    return `"${name}" is not a scope name: visible ASCII without quotes and backslashes (RFC 6749 3.3)`;
  return singleClaim(name) === null
    ? null
    : `"${name}" cannot be defined: such a name stands for a single claim that a request asked for`;
}

/** The name of a scope that a fixture defines. */
export const ownScopeName = z.string().regex(new RegExp(`^(?!(?:${builtInScopes.join("|")})$|claim:)${scopeToken}$`));

export const scopeList = textOf(
  new RegExp(`^${scopeToken}(?: ${scopeToken})*$`),
  (given) =>
    `"${given}" is not a list of scope names: visible ASCII without quotes and backslashes, one space between two (RFC 6749 3.3)`,
);

/** A claim that the server does not set itself. */
export const claimName = textOf(new RegExp(`^(?!(?:${reservedClaims.join("|")})$)[\\s\\S]+$`), (given) =>
  given === ""
    ? "is not a claim name"
    : `is set by the server: ${instead[given] ?? "a claim of this name would have no effect"}`,
);

const instead: Readonly<Partial<Record<string, string>>> = {
  sub: "the sub of a user is their id, and that of a client its client_id",
  aud: "the aud of access tokens is the client's audience, or the resource that was asked for",
  scope: "a token has the scopes that were granted",
};

/** Any JSON. A number that would lose digits is refused when the text is read (`fixture-files/source.ts`). */
export const jsonValue = z.unknown();

/** What `claims` may hold. */
export const claimsObject = z.record(claimName, jsonValue);
