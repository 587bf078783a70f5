import { afterEach } from "vitest";
import { builtInDemo } from "../../src/fixture-files.ts";
import { createIdp, type Idp, type IdpOptions } from "../../src/index.ts";

const running: Idp[] = [];

/** A server in memory on a free port, with the demo unless told otherwise; closed when the test ends. */
export async function startIdp(options: IdpOptions = {}): Promise<Idp> {
  const idp = await createIdp({ port: 0, fixtures: [builtInDemo()], ...options });
  running.push(idp);
  return idp;
}

afterEach(async () => {
  await Promise.all(running.splice(0).map((idp) => idp.close()));
});

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
