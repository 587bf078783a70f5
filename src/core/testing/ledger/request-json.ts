import type { Mismatch, Refusal } from "../../base/errors.ts";
import { hintText, type CommandLine, type Hint } from "../../base/hint.ts";
import { outcomeText } from "./outcome.ts";
import type { KeptEvent, KeptRequest } from "./ledger.ts";

/** The JSON of a request, for the library, the control API and `--json`: what was refused is a text there. */

interface RefusalTexts {
  /** The reason of a refusal: a code and a sentence, "invalid_grant: code was already used". */
  readonly error: string | null;
  /** The paragraph that requires the refusal. */
  readonly rule: string | null;
  /** The command or setting that fixes it. */
  readonly fix: string | null;
}

/** A request and its outcome. It holds no usable secret. */
export interface RequestRecord extends Omit<KeptRequest, "refusal" | "outcome" | "faults">, RefusalTexts {
  /** What happened, in a few words: "login page", "authorization_code: access, refresh". */
  readonly outcome: string;
  /** The error without its code, for a reader who asked; absent: it was not refused. */
  readonly reason?: Pick<Refusal, "message" | "parameter">;
  /** The fix in parts, too; absent: there is none. */
  readonly next?: Hint;
  /** The ids of the faults that it took, for a reader who asked. */
  readonly faults?: readonly string[];
}

/** One line of the request log. */
export interface RequestEvent extends Omit<KeptEvent, "refusal" | "outcome" | "faults">, RefusalTexts {
  /** Null: the status says it all. */
  readonly outcome: string | null;
  /** If a value is not a registered one: what was sent, and what is registered. */
  readonly mismatch: Mismatch | null;
}

/** A code and a sentence, "invalid_grant: code was already used"; without a code the sentence alone. */
export const reasonText = ({ code, message }: Refusal): string => (code === null ? message : `${code}: ${message}`);

const textsOf = (refusal: Refusal | null, line: CommandLine): RefusalTexts => ({
  error: refusal && reasonText(refusal),
  rule: refusal?.rule ?? null,
  fix: refusal?.hint ? hintText(refusal.hint, line) : null,
});

const partsOf = ({ refusal, faults = [] }: KeptRequest): Pick<RequestRecord, "reason" | "next" | "faults"> => ({
  ...(refusal !== null && {
    reason: { message: refusal.message, ...(refusal.parameter !== undefined && { parameter: refusal.parameter }) },
  }),
  ...(refusal?.hint && { next: refusal.hint }),
  faults,
});

/** Where nothing else is known of it, whether it was refused. */
export const whatHappened = ({ status, outcome, refusal }: KeptRequest): string =>
  outcome === null ? (status >= 400 || refusal !== null ? "refused" : "answered") : outcomeText(outcome);

/** @param line writes commands for the issuer that the request was sent to @param parts with `reason`, `next` and `faults` */
export function requestJson(request: KeptRequest, line: CommandLine, parts = false): RequestRecord {
  const { outcome: _, faults: __, refusal, fault, clock, ...rest } = request;
  const texts = { ...textsOf(refusal, line), ...(parts && partsOf(request)) };
  return { ...rest, outcome: whatHappened(request), ...texts, fault, clock };
}

/** @param line as in {@link requestJson} */
export function eventJson(event: KeptEvent, line: CommandLine): RequestEvent {
  const { outcome, refusal, fault, faults: _, clock, by, address, ...rest } = event;
  return {
    ...rest,
    outcome: outcome && outcomeText(outcome),
    ...textsOf(refusal, line),
    ...{ fault, clock, mismatch: refusal?.given ?? null },
    ...(by !== undefined && { by }),
    ...(address !== undefined && { address }),
  };
}
