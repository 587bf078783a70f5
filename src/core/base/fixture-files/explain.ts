import type * as z from "zod";
import { nearest } from "../nearest.ts";
import type { Path } from "./located.ts";
import { createFindings, maxProblems, type FoundProblem } from "./problems.ts";

/** Turns what the schema reports into sentences that say what was given, what is wrong, and what to write. */

type Issue = z.core.$ZodIssue;

const nouns: Readonly<Record<string, string>> = {
  string: "text",
  boolean: "true or false",
  number: "a number",
  int: "a whole number",
  array: "a list",
  object: "an object",
  record: "an object",
};

/** The kind of a value, without its content. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return typeof value === "string" ? "text" : typeof value === "boolean" ? "true or false" : "a number";
}

/** A value in a sentence. If it is long, may be a secret, or was rounded when it was read, only its kind is named. */
function shown(value: unknown, secret: boolean): string {
  if (secret) return kindOf(value);
  if (typeof value === "string") return `"${value}"`;
  if (typeof value === "boolean") return `the value ${String(value)}`;
  const isExact = typeof value === "number" && (!Number.isInteger(value) || Number.isSafeInteger(value));
  return isExact ? `the number ${value}` : kindOf(value);
}

const isSecret = (path: Path): boolean =>
  ["password", "client_secret", "token"].includes(String(path.at(-1))) || path.at(-2) === "env";

const oneOf = (names: readonly string[]): string =>
  names.length === 1 ? `"${names[0] ?? ""}"` : `one of ${names.join(", ")}`;

function typeSentence(expected: string, value: unknown, path: Path): string {
  if (value === undefined) return "is missing";
  const noun = nouns[expected] ?? expected;
  if (value === null && path.at(-1) === "color")
    return "must be text: put it in quotes, because # begins a comment in YAML";
  const wrong = `must be ${noun}, not ${shown(value, isSecret(path))}`;
  // 7123456789012345678, +905551112233 and 1234 without quotes are numbers to YAML and JSON.
  return expected === "string" && ["number", "boolean"].includes(typeof value) ? `${wrong}: put it in quotes` : wrong;
}

const counted: Readonly<Record<string, string>> = { string: " characters", array: " entries", set: " entries" };

/** A limit whose schema has no sentence of its own. */
function limitSentence(issue: z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig): string {
  const unit = counted[issue.origin] ?? "";
  const limit = issue.code === "too_small" ? `at least ${issue.minimum}` : `at most ${issue.maximum}`;
  return `must ${unit === "" ? "be" : "have"} ${limit}${unit}`;
}

/** What a client has in place of a field of this name. */
const ofClients: Readonly<Record<string, string>> = {
  public: "is an unknown key. A client without client_secret is public; leave both out",
  secret: "is an unknown key. Did you mean client_secret?",
  frontchannel_logout_uri: "has no effect: front-channel logout is not supported; use backchannel_logout_uri",
  frontchannel_logout_session_required: "has no effect: front-channel logout is not supported",
};

/** Names that apps use for the rights of a user. They are claims; users have no field with such a name. */
export const rights: readonly string[] = ["role", "roles", "group", "groups", "permissions"];

/** The sentence for a key that the schema does not have. */
export function unknownKey(key: string, known: readonly string[]): string {
  const meant = nearest(key, known);
  if (meant !== undefined) return `is an unknown key. Did you mean ${meant}?`;
  if (known.length === 0) return "is an unknown key; there are none";
  return known.length <= 9 ? `is an unknown key; there are ${known.join(", ")}` : "is an unknown key";
}

/**
 * The same of all issues of a value; those beyond the limit are only counted.
 * @param max how many are described
 */
export function explainAll(
  issues: readonly Issue[],
  [entry, at, knownKeys]: readonly [entry: unknown, at: Path, knownKeys: (below: Path) => readonly string[]],
  max = maxProblems,
): readonly FoundProblem[] {
  const findings = createFindings<FoundProblem>(max);
  let more = 0;
  for (const issue of issues) {
    const left = findings.left();
    const keys = issue.code === "unrecognized_keys" ? issue.keys : [];
    more += left === 0 ? Math.max(1, keys.length) : Math.max(0, keys.length - left);
    if (left === 0) continue;
    const some = issue.code === "unrecognized_keys" ? { ...issue, keys: keys.slice(0, left) } : issue;
    findings.add(explain(some, entry, at, knownKeys));
  }
  return more === 0 ? findings.all() : [...findings.all(), { path: at, message: "further problems", more }];
}

/**
 * @param entry the value that was checked
 * @param at its path
 * @param knownKeys the keys of the object at a path below the entry
 */
export function explain(
  issue: Issue,
  entry: unknown,
  at: Path,
  knownKeys: (below: Path) => readonly string[],
): FoundProblem[] {
  const below = issue.path.map((step) => (typeof step === "number" ? step : String(step)));
  const path = [...at, ...below];
  const value = below.reduce<unknown>(
    (around, step) => (typeof around === "object" && around !== null ? Reflect.get(around, step) : undefined),
    entry,
  );
  switch (issue.code) {
    case "unrecognized_keys":
      return issue.keys.map((key) => ({
        path: [...path, key],
        message:
          knownKeys(below).includes("client_id") && Object.hasOwn(ofClients, key)
            ? (ofClients[key] ?? "")
            : rights.includes(key) && knownKeys(below).includes("claims") && knownKeys(below).includes("username")
              ? `is an unknown key. Put it in the claims of the user: claims.${key}`
              : issue.message.startsWith("Unrecognized key")
                ? unknownKey(key, knownKeys(below))
                : issue.message,
        at: "key" as const,
      }));
    case "invalid_type":
      return [{ path, message: typeSentence(issue.expected, value, path) }];
    case "invalid_value": {
      if (issue.values.every((one) => one === true)) {
        return [{ path, message: `must be true${value === undefined ? "" : `, not ${shown(value, isSecret(path))}`}` }];
      }
      const names = issue.values.map(String);
      const meant = typeof value === "string" ? nearest(value, names) : undefined;
      const question = meant === undefined ? "" : `. Did you mean ${meant}?`;
      const given = value === undefined ? "is missing; it is" : `${shown(value, isSecret(path))} is not`;
      return [{ path, message: `${given} ${oneOf(names)}${question}` }];
    }
    case "invalid_key":
      return [{ path, message: issue.issues[0]?.message ?? issue.message, at: "key" }];
    case "too_small":
    case "too_big":
      return [{ path, message: issue.message.startsWith("Too ") ? limitSentence(issue) : issue.message }];
    default:
      return [{ path, message: issue.message }];
  }
}
