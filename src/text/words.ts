/** Numbers with their nouns. */

/** "1 user", "2 users". */
export const count = (number: number, singular: string, plural = `${singular}s`): string =>
  `${number} ${number === 1 ? singular : plural}`;
