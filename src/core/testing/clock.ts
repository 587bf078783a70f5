/** The time that the server decides by. */

export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** A time that has passed for good, by this clock and in reality: up to here expired records may be forgotten. */
  readonly passed: () => number;
}

/**
 * @param base the time, in milliseconds since 1970, which a test may set in both directions
 * @param elapsed milliseconds since any moment: nobody can set it
 */
export function createClock(base: () => number, elapsed: () => number): Clock {
  const began = base() - elapsed();
  return {
    now: base,
    passed: () => Math.min(base(), began + elapsed()),
  };
}
