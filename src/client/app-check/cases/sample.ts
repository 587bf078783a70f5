import { whyNotBegun, type Asked, type Attempt, type Value } from "../attempt.ts";
import type { Recorded } from "../control.ts";
import { notReached, type Finding } from "../../verdicts/case.ts";

/** What the app sends with its authorization requests. */

/** Enough to tell a counter from a random value. */
const samples = 4;

/** The parameters of an authorization request. @param records of idp, which has those that were pushed */
export function askedWith(request: URL | null, records: readonly Recorded[]): Map<string, Value> {
  const asked = new Map<string, Value>(
    Array.from(request?.searchParams ?? [], ([name, text]) => [name, { text, isFingerprint: false }]),
  );
  if (request !== null && !asked.has("request_uri")) return asked;
  const pushed = records.findLast(({ endpoint }) => endpoint === "par");
  for (const [name, value] of Object.entries(pushed?.parameters ?? {})) {
    if (typeof value === "string") asked.set(name, { text: value, isFingerprint: false });
    else {
      const { fingerprint } = Object(value) as { readonly fingerprint?: unknown };
      if (typeof fingerprint === "string") asked.set(name, { text: fingerprint, isFingerprint: true });
    }
  }
  return asked;
}

/** The parameters of some authorization requests, each from its own browser; a finding says why there are none. */
export async function askSome(attempt: Attempt): Promise<readonly Asked[] | Finding> {
  const all = attempt.known.samples;
  while (all.length < samples) {
    const mark = await attempt.mark();
    const visit = await attempt.signIn(await attempt.newBrowser(), "hold");
    if (visit.request === null || visit.response === null) {
      return notReached(whyNotBegun(visit) ?? "the app sent no authorization request");
    }
    const asked = askedWith(visit.request, await attempt.requests(mark));
    // Of a pushed state the ledger has only a fingerprint, but the response returns it as it was sent.
    const state = visit.response.parameters.get("state");
    if (state !== null) asked.set("state", { text: state, isFingerprint: false });
    all.push(asked);
  }
  return all;
}

export const isFinding = (found: readonly Asked[] | Finding): found is Finding => "verdict" in found;

export const textsOf = (all: readonly Asked[], name: string): readonly string[] =>
  all.flatMap((asked) => asked.get(name)?.text ?? []);

/** Fewer bits can be guessed; a UUID has 122. */
const minBits = 64;

/**
 * What is wrong with values that nobody may guess; null: nothing that can be seen. A start or an end that all of them share does not
 * count. Each character of the rest counts by the alphabet that it seems to be from.
 */
export function whyGuessable(all: readonly Asked[], name: string): string | null {
  const texts = textsOf(all, name);
  if (new Set(texts).size < texts.length) return `sent the same ${name} in two sign-ins`;
  if (all.some((asked) => asked.get(name)?.isFingerprint === true)) return null;
  const [first = ""] = texts;
  const shared = (matches: (text: string, length: number) => boolean): number => {
    let length = 0;
    while (length < first.length && texts.every((text) => matches(text, length + 1))) length += 1;
    return length;
  };
  const start = shared((text, length) => text.startsWith(first.slice(0, length)));
  const end = shared((text, length) => text.endsWith(first.slice(-length)));
  const rests = texts.map((text) => text.slice(start, Math.max(start, text.length - end)));
  const bits = Math.min(...rests.map((rest) => rest.length * Math.log2(lettersOf(rests.join("")))));
  return bits < minBits
    ? `sent a ${name} with at most ${Math.round(bits)} bits that differ: ${JSON.stringify(first)}`
    : null;
}

/** How many characters the alphabet of a text has. */
function lettersOf(text: string): number {
  if (/^\d*$/.test(text)) return 10;
  if (/^[\da-f-]*$/.test(text) || /^[\dA-F-]*$/.test(text)) return 16;
  return /^[\da-z]*$/.test(text) || /^[\dA-Z]*$/.test(text) ? 36 : 64;
}
