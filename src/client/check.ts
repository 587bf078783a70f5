import type { Check } from "../jwt/checks.ts";
import { exactJson, type JsonObject } from "../text/json.ts";

/** Collects the checks of a client that signs in. All are reported, also those after one that failed. */
export interface Report {
  readonly checks: readonly Check[];
  /** What the provider answered where it refused (RFC 6749 5.2). */
  readonly refusals: readonly JsonObject[];
  readonly check: (name: string, ok: boolean, detail: string, refusal?: JsonObject | null) => void;
}

export function newReport(): Report {
  const checks: Check[] = [];
  const refusals: JsonObject[] = [];
  return {
    checks,
    refusals,
    check(name, ok, detail, refusal = null) {
      checks.push({ name, ok, detail });
      if (refusal !== null) refusals.push(refusal);
    },
  };
}

/** What the provider did wrong, as a sentence: the detail of a failed check. */
export class Problem extends Error {
  override readonly name = "Problem";
  /** What the provider answered, where it refused. */
  readonly refusal: JsonObject | null;
  constructor(
    message: string,
    { refusal = null, ...options }: ErrorOptions & { readonly refusal?: JsonObject | null } = {},
  ) {
    super(message, options);
    this.refusal = refusal;
  }
}

/** No answer came. */
export class Unanswered extends Problem {}

/** Runs `work`. A problem becomes a failed check of this name, and the result null. */
export async function attempt<T>(report: Report, name: string, work: () => Promise<T> | T): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    report.check(name, false, error.message, error.refusal);
    return null;
  }
}

/** A value from outside, short enough for a sentence. */
export function shown(value: unknown): string {
  const text = value === undefined ? "nothing" : exactJson(value, 0);
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
