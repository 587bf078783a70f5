/**
 * A text with at most 30 combining marks in a row, which no language exceeds (UAX #15, Stream-Safe Text Format). To normalize a text puts the
 * marks of each letter in order, in time that grows with the square of their number: 100,000 of them take seconds.
 */
export const withFewMarks = (text: string): string => text.replaceAll(/(\p{M}{30})\p{M}+/gu, "$1");
