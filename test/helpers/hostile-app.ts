import { afterEach } from "vitest";
import type { Idp, IdpOptions } from "../../src/index.ts";
import { underAttack } from "./attack.ts";
import { plainApp, type Ways } from "./plain-app.ts";

/** An app that a test turns hostile, the server that it is at, and all that this server wrote and told. */

interface HostileApp {
  readonly app: Awaited<ReturnType<typeof plainApp>>;
  readonly idp: Idp;
  /** Lines of the log, and requests as JSON. */
  readonly lines: readonly string[];
  /** What the app does from now on, until the test ends. */
  readonly turn: (ways: Ways) => void;
}

/** @param optionsFor the app, whose address a client needs */
export async function hostileApp(
  optionsFor: (app: { readonly url: string }) => Omit<IdpOptions, "log" | "onRequest">,
): Promise<HostileApp> {
  let ways: Ways = {};
  let issuer = "";
  afterEach(() => {
    ways = {};
  });
  const app = await plainApp(
    () => issuer,
    () => ways,
  );
  const lines: string[] = [];
  const idp = await underAttack({
    ...optionsFor(app),
    log: (line) => {
      lines.push(line);
    },
    onRequest: (event) => {
      lines.push(JSON.stringify(event));
    },
  });
  ({ issuer } = idp);
  return {
    ...{ app, idp, lines },
    turn: (next) => {
      ways = next;
    },
  };
}
