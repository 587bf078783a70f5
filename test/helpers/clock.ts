/** A clock that a test moves: it begins at a fixed time. */
export function testClock() {
  let time = Date.parse("2026-01-15T12:00:00.000Z");
  return {
    now: () => time,
    /** Moves the clock on. */
    pass: (seconds: number) => {
      time += seconds * 1000;
    },
  };
}
