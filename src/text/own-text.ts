/** A text of fewer characters is never a slice. */
const minSlice = 13;

/** A copy of a text. What is read from a request is a slice of it: stored, it would keep the whole body or header in memory. */
export const ownText = (text: string): string => (text.length < minSlice ? text : Buffer.from(text).toString());
