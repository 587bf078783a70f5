/** Whether values that nobody may guess look random. */

/** Fewer bits can be guessed; a UUID has 122. */
const minBits = 64;

/**
 * What is wrong with the values of some requests; null: nothing that can be seen. A start or an end that all of them share does not
 * count. Each character of the rest counts by the alphabet that it seems to be from.
 * @param name of the values
 */
export function whyGuessable(name: string, texts: readonly string[]): string | null {
  if (new Set(texts).size < texts.length) return `sent the same ${name} in two sign-ins`;
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
