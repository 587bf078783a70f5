import { builtInDemo } from "../../src/fixture-files.ts";
import { createIdp, type Idp, type IdpOptions } from "../../src/index.ts";
import { atEnd } from "./at-end.ts";

/** A server in memory on a free port, with the demo unless told otherwise; closed when the test ends. */
export async function startIdp(options: IdpOptions = {}): Promise<Idp> {
  const idp = await createIdp({ port: 0, fixtures: [builtInDemo()], ...options });
  atEnd(() => idp.close());
  return idp;
}

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
