import { distance } from "fastest-levenshtein";

/**
 * The candidate that somebody who typed `given` may have meant; undefined where none is near.
 * A third of the letters may differ, so that "alcie" finds "alice" and "x" finds nothing.
 */
export function nearest(given: string, candidates: Iterable<string>): string | undefined {
  const typed = given.toLowerCase();
  let best: string | undefined;
  let least = Math.max(1, Math.floor(given.length * 0.4)) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - given.length) >= least) continue;
    const differing = distance(typed, candidate.toLowerCase());
    if (differing < least && differing < candidate.length) [best, least] = [candidate, differing];
  }
  return best;
}

/** "Did you mean alice? …" in front of the next step, where something is near. */
export function didYouMean(given: string, candidates: Iterable<string>, nextStep: string): string {
  const found = nearest(given, candidates);
  return found === undefined ? nextStep : `Did you mean ${found}? ${nextStep}`;
}
