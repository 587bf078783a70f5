/** A text in three parts, of which the middle one differs from the text it was compared with. */
export interface Parts {
  readonly before: string;
  readonly differs: string;
  readonly after: string;
}

/** What two texts share at both ends, and what differs between. */
export function difference(left: string, right: string): { readonly left: Parts; readonly right: Parts } {
  const shorter = Math.min(left.length, right.length);
  let start = 0;
  while (start < shorter && left[start] === right[start]) start += 1;
  let end = 0;
  while (end < shorter - start && left.at(-1 - end) === right.at(-1 - end)) end += 1;
  const parts = (text: string): Parts => ({
    before: text.slice(0, start),
    differs: text.slice(start, text.length - end),
    after: text.slice(text.length - end),
  });
  return { left: parts(left), right: parts(right) };
}

/** The candidate that shares most with the text; undefined where there is none. */
export function nearest(text: string, candidates: readonly string[]): string | undefined {
  const differing = (candidate: string): number => {
    const { left, right } = difference(text, candidate);
    return left.differs.length + right.differs.length;
  };
  return candidates.toSorted((one, other) => differing(one) - differing(other))[0];
}
