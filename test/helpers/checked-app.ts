import { setTimeout as delay } from "node:timers/promises";
import type { Attempt } from "../../src/check/client/attempt.ts";
import type { Browser } from "../../src/client/app/visit.ts";
import { runClient } from "../../src/check/client/check.ts";
import { smallBrowser } from "../../src/client/app/small-browser.ts";
import type { Case } from "../../src/check/frame/verdict.ts";
import type { RunResult } from "../../src/check/frame/run.ts";
import { controlOf } from "../../src/check/client/control.ts";
import { nearLookup } from "../../src/check/frame/near.ts";
import { Opened } from "../../src/check/frame/opened.ts";
import { createIdp } from "../../src/index.ts";
import { atEnd } from "./at-end.ts";
import { CarefulApp, type AppConfig, type Neglect } from "./careful-app.ts";
import { checkRun } from "./check-run.ts";
import { serveApp } from "./serve-app.ts";

/** The time between two fetches of the keys, in milliseconds, is ignored: this app never waits. */
const wait = (milliseconds: number): Promise<unknown> => delay(milliseconds < 10_000 ? milliseconds : 0);

type Way = Partial<
  Pick<
    AppConfig,
    "responseMode" | "pushes" | "userinfo" | "refreshes" | "asksSignOut" | "signsOutByPost" | "hasSignInPage"
  >
> & {
  /** The check is told no address that signs out. */
  readonly cannotSignOut?: true;
};

type CheckNeglects = (
  cases: readonly Case<Attempt>[],
  neglects?: readonly Neglect[],
  way?: Way,
  browser?: Partial<Browser>,
) => Promise<RunResult>;

/** An app, a server of its own, and what runs `idp check client` on the app; for the tests of one file. */
export async function checkedApp(): Promise<CheckNeglects> {
  let app: CarefulApp | null = null;
  const { url, close } = await serveApp(0, () => app);
  atEnd(close);
  const redirectUri = `${url}/callback`;
  const clientSecret = "the-secret-of-the-app-under-test";
  const logoutUri = `${url}/backchannel-logout`;
  const idp = await createIdp({
    port: 0,
    fixtures: {
      users: [{ username: "alice", displayName: "Alice Adams" }],
      clients: [
        {
          client_id: "app",
          client_secret: clientSecret,
          redirect_uris: [redirectUri],
          backchannel_logout_uri: logoutUri,
        },
        {
          ...{ client_id: "hs", client_secret: clientSecret, redirect_uris: [redirectUri] },
          id_token_signed_response_alg: "HS256",
        },
      ],
    },
  });
  atEnd(() => idp.close());

  return async (cases, neglects = [], way = {}, browser = {}) => {
    const start = async (): Promise<string | null> => {
      const config = { issuer: idp.issuer, clientId: "app", clientSecret, redirectUri, neglects, ...way };
      app = await CarefulApp.create(config).catch(() => null);
      return app === null ? "the app did not start" : null;
    };
    await idp.reset();
    await start();
    const people = {
      ...{ issuer: idp.issuer, client: "app", redirectUris: [redirectUri], user: "alice", isOwn: true },
      ...{ logoutUri, isConfidential: true },
    };
    const control = controlOf({ url: idp.issuer, adminToken: idp.adminToken }, people, new Opened());
    const lookup = nearLookup(undefined);
    const places = { issuer: idp.issuer, redirectUris: [redirectUri], origins: [url], user: "alice", lookup };
    return runClient(
      {
        app: {
          start: `${url}/login`,
          signedIn: `${url}/me`,
          who: `${url}/me`,
          signedInText: null,
          signOut: way.cannotSignOut === true ? null : `${url}/logout`,
          ...{ within: 300, lookup },
        },
        ...{ ...checkRun, control, wait, restart: start, closeLimit: 100 },
        ...{ account: null, otherUser: null, second: null },
        newBrowser: () => Promise.resolve({ ...smallBrowser(places), ...browser }),
      },
      cases,
    );
  };
}

/** The cases with a verdict. */
export const named = ({ cases }: RunResult, verdict: string): readonly string[] =>
  cases.filter((one) => one.verdict === verdict).map(({ name }) => name);
