import { OperationError } from "./errors.ts";
import { hintOf, type Hint } from "./hint.ts";
import { distance } from "fastest-levenshtein";

/** How many letters differ; two that changed places count as one. */
function letters(a: string, b: string): number {
  const at = Array.from(a).findIndex((letter, index) => letter !== b[index]);
  const swapped = `${a.slice(0, at)}${a[at + 1] ?? ""}${a[at] ?? ""}${a.slice(at + 2)}`;
  return at >= 0 && swapped === b ? 1 : distance(a, b);
}

/**
 * The candidate that somebody who typed `given` may have meant; undefined if none is near.
 * Two fifths of the letters may differ, so that "alcie" finds "alice" and "x" finds nothing.
 */
export function nearest(given: string, candidates: Iterable<string>): string | undefined {
  const typed = given.toLowerCase();
  let best: string | undefined;
  let minDistance = Math.max(1, Math.floor(given.length * 0.4)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - given.length) >= minDistance) continue;
    const differing = letters(typed, candidate.toLowerCase());
    if (differing < minDistance && differing < candidate.length) [best, minDistance] = [candidate, differing];
  }
  return best;
}

/** The registered value that was probably meant: one or two letters away from what was sent. */
export const typoOf = (sent: string, registered: readonly string[]): string | undefined =>
  registered
    .filter((value) => Math.abs(value.length - sent.length) <= 2 && distance(sent, value) <= 2)
    .toSorted((one, other) => distance(sent, one) - distance(sent, other))[0];

/** The problem of a field that names nothing. @param meant what it may have meant */
export const unknownName = (what: string, name: string, meant?: string): string =>
  `names no ${what} that exists: "${name}"${meant === undefined ? "" : `. Did you mean ${meant}?`}`;

/** "Did you mean alice? …" in front of the next step, where something is near. */
export function didYouMean(given: string, candidates: Iterable<string>, nextStep: string | Hint): Hint {
  const found = nearest(given, candidates);
  const next = hintOf(nextStep);
  return found === undefined ? next : { ...next, text: `Did you mean ${found}? ${next.text}` };
}

/** How many names a refusal lists. */
const maxListed = 10;

/** The refusal of a name, with the names that this server knows, for a server whose records no other command can list. */
export function unknownHere(
  error: unknown,
  given: string,
  { title, known }: { readonly title: "Users" | "Clients"; readonly known: readonly string[] },
): unknown {
  if (!(error instanceof OperationError) || error.code !== "not_found") return error;
  const meant = nearest(given, known);
  const names = known.slice(0, maxListed).join(", ");
  const all = known.length === 0 ? "none" : `${names}${known.length > maxListed ? ", …" : ""}`;
  return new OperationError("not_found", `${error.message}. ${title}: ${all}`, {
    ...(meant !== undefined && { hint: `Did you mean ${meant}?` }),
  });
}
