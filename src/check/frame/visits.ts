import type { Browser, Visit } from "../../client/app/visit.ts";
import { appStanding, type App, type AppStanding } from "./app.ts";
import { openBrowsers } from "./browsers.ts";
import type { Recorded } from "./idp.ts";

/** What a case does with browsers at an app, and which requests idp received meanwhile. */

interface VisitedApp<Somebody> {
  readonly app: Pick<App, "start" | "signedIn" | "signedInText">;
  readonly newBrowser: (somebody: Partial<Somebody>) => Promise<Browser>;
  /** Milliseconds that a browser may take to close. */
  readonly closeLimit: number;
  readonly control: { readonly requests: (since?: string) => Promise<readonly Recorded[]> };
}

/** @param known `--signed-in` as a browser sees it that never signed in @param seen is told of each visit */
export function visitsOf<Somebody>(
  { app, newBrowser, closeLimit, control }: VisitedApp<Somebody>,
  known: { readonly stranger: Visit | null },
  seen: (visit: Visit) => void = () => undefined,
) {
  const browsers = openBrowsers(closeLimit);
  /** The latest request to idp. The ledger may be long, so requests that were seen are not fetched again. */
  let last: string | undefined;
  const mark = async (): Promise<string | undefined> => {
    last = (await control.requests(last)).at(-1)?.id ?? last;
    return last;
  };
  const noted = (visit: Visit): Visit => {
    seen(visit);
    return visit;
  };
  const look = async (browser: Browser): Promise<Visit> => noted(await browser.look(app.signedIn));
  return {
    closeAll: browsers.closeAll,
    /** @param over aborted when the time of the case is up */
    async begin(over: AbortSignal) {
      const begun = await mark();
      return {
        async newBrowser(somebody: Partial<Somebody> = {}): Promise<Browser> {
          over.throwIfAborted();
          return browsers.add(await newBrowser(somebody));
        },
        /** Opens `--start` and signs in. */
        signIn: async (browser: Browser, hold?: "hold"): Promise<Visit> => noted(await browser.signIn(app.start, hold)),
        /** Whether somebody is signed in: asks `--signed-in`. */
        standing: async (browser: Browser): Promise<AppStanding> =>
          appStanding(await look(browser), app, known.stranger),
        /** What `--signed-in` shows now; empty if that is not a page. */
        async shown(browser: Browser): Promise<string> {
          const { end } = await look(browser);
          return end.kind === "page" ? end.text : "";
        },
        /** The requests that idp received since the case began, or since a mark. */
        requests: (since?: string): Promise<readonly Recorded[]> => control.requests(since ?? begun),
        /** The id of the latest request to idp. */
        mark,
      };
    },
  };
}
