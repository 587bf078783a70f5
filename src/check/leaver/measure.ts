import { setTimeout as delay } from "node:timers/promises";
import { Problem } from "../../client/check.ts";
import { send } from "../../client/http.ts";
import { type App, type AppStanding, appStanding } from "../frame/app.ts";
import type { Browser, Visit } from "../../client/app/visit.ts";
import type { CheckRun } from "../frame/run.ts";

/** Asks an app and an API as somebody who stays active does, until they refuse. */

/** Milliseconds between two requests. */
const pause = 250;

/** What one of the places did. */
export interface Measured {
  /** Milliseconds until it refused; null: it did not. */
  readonly ms: number | null;
  /** Whether it answered neither yes nor no at last. */
  readonly isBroken: boolean;
  /** What it answered at last. */
  readonly last: string;
}

/** What a place answered once. `standing` is "broken" where the answer neither lets in nor refuses. */
interface Asked {
  readonly standing: AppStanding;
  readonly last: string;
}

export type Place = () => Promise<Asked>;

/** A browser at `--signed-in`. @param stranger what somebody sees there who never signed in */
export const sessionOf =
  (app: App, browser: Browser, stranger: Visit | null): Place =>
  async () => {
    const visit = await browser.look(app.signedIn);
    const { end } = visit;
    const last = end.kind === "page" ? `answered ${end.status}` : end.kind === "stuck" ? end.why : "asked to sign in";
    return { standing: appStanding(visit, app, stranger), last };
  };

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

/** An API with a token or a key. A redirect lets nobody in, and refuses nobody. */
export const apiOf =
  (url: string, credential: Readonly<Record<string, string>>, lookup: App["lookup"]): Place =>
  async () => {
    try {
      const { status } = await send({
        ...{ method: "GET", url, lookup, bodyLimit: 1000 },
        headers: {
          ...{ accept: "application/json, */*;q=0.5", "user-agent": "idp check leaver" },
          ...credential,
        },
      });
      const standing = status === 401 || status === 403 ? "out" : status >= 200 && status < 300 ? "in" : "broken";
      return { standing, last: `answered ${status}` };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { standing: "broken", last: error.message };
    }
  };

/**
 * Asks places from now on.
 * @param within milliseconds that they have
 * @param isOver whether nobody waits for them any more
 */
export async function measure(
  places: readonly Place[],
  within: number,
  isOver: () => boolean,
  { now, wait }: Pick<CheckRun, "now" | "wait">,
): Promise<readonly Measured[]> {
  const began = now();
  const measured: Measured[] = places.map(() => ({ ms: null, isBroken: false, last: "sent no answer" }));
  const isOpen = (index: number): boolean => measured[index]?.ms === null;
  const ask = async (place: Place, index: number): Promise<void> => {
    const { standing, last } = await place();
    const ms = now() - began;
    measured[index] = { ms: standing === "out" && ms <= within ? ms : null, isBroken: standing === "broken", last };
  };
  for (;;) {
    const asks = Promise.all(places.flatMap((place, index) => (isOpen(index) ? [ask(place, index)] : [])));
    await inTime(asks, within - (now() - began));
    if (!places.some((_, index) => isOpen(index)) || now() - began >= within || isOver()) return [...measured];
    await wait(Math.min(pause, within - (now() - began)));
  }
}

/** Waits for work that may hang, but no longer than this. */
async function inTime(work: Promise<unknown>, milliseconds: number): Promise<void> {
  const done = new AbortController();
  const late = delay(Math.max(milliseconds, pause), null, { signal: done.signal });
  try {
    await Promise.race([work, late]);
  } finally {
    done.abort();
    for (const rest of [work, late]) rest.catch(() => undefined);
  }
}
