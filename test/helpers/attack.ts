import { afterEach, expect } from "vitest";
import type { Idp } from "../../src/index.ts";
import { serve } from "./app.ts";
import type { IdpOptions } from "../../src/index.ts";

/** A server under attack. */

/** What no answer may hold: a stack trace, a path of the program. */
export const innards = /\n\s+at |node_modules|file:\/\/|\.ts:\d+|TypeError|ERR_[A-Z]/;

/** Like `serve`; checks after each attack that the server met no unexpected error, and still responds. */
export async function underAttack(options: IdpOptions = {}): Promise<Idp> {
  const noted: string[] = [];
  const statuses: number[] = [];
  const idp = await serve({
    ...options,
    log: (line) => {
      noted.push(line);
      options.log?.(line);
    },
    onRequest: (event, record, line) => {
      statuses.push(event.status);
      options.onRequest?.(event, record, line);
    },
  });
  afterEach(async () => {
    const health = await fetch(`${idp.issuer}/_idp/health`);
    expect(health.status, "the server answers no more").toBe(200);
    expect(statuses.splice(0).filter((status) => status >= 500)).toEqual([]);
    expect(noted.splice(0).filter((line) => innards.test(line))).toEqual([]);
  });
  return idp;
}

/** Origins that are not this server's, some of them of this machine. */
export const foreignOrigins = ({ port }: Pick<Idp, "port">): readonly string[] => [
  "https://evil.test",
  "http://localhost:1",
  "http://127.0.0.1:1",
  `http://localhost:${port}.evil.test`,
  "null",
];
