import type { Mismatch } from "../../core/errors.ts";
import type { Text } from "./templates/texts.ts";

/** A text in three parts, of which the middle one differs from the text it was compared with. */
interface Parts {
  readonly before: string;
  readonly differs: string;
  readonly after: string;
}

/** What two texts share at both ends, and what differs between. */
function difference(left: string, right: string): { readonly left: Parts; readonly right: Parts } {
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

const size = ({ left, right }: ReturnType<typeof difference>): number => left.differs.length + right.differs.length;

interface Comparison {
  readonly parameter: string;
  readonly sent: Parts;
  readonly registered: readonly Parts[];
  /** The difference to the nearest one in words; null with nothing to compare. */
  readonly words: string | null;
}

/** What was sent beside what would have passed, the nearest first, each with the part that differs. */
export function compare({ parameter, sent, registered }: Mismatch, say: (text: Text) => string): Comparison {
  const pairs = registered
    .map((candidate) => difference(sent, candidate))
    .toSorted((one, other) => size(one) - size(other));
  const nearest = pairs[0];
  if (nearest === undefined) {
    return { parameter, sent: { before: sent, differs: "", after: "" }, registered: [], words: null };
  }
  const values = { sent: nearest.left.differs, registered: nearest.right.differs };
  const key = values.sent === "" ? "only-registered" : values.registered === "" ? "only-sent" : "both";
  return {
    parameter,
    sent: nearest.left,
    registered: pairs.map(({ right }) => right),
    words: say({ key: `error.${key}`, values }),
  };
}
