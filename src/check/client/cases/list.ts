import type { Attempt } from "../attempt.ts";
import type { Case } from "../../frame/verdict.ts";
import { discoveryCases, keysCases, idTokenCases, responseCases, tokenCases, userinfoCases } from "../flaws/places.ts";
import { accountCases } from "./account.ts";
import { logoutCases } from "./logout.ts";
import { accessRevoked, refreshRefused } from "./asked-again.ts";
import { callbackReplayed, errorAnswer, loginCsrf, mixUp, retry429, retry503 } from "./callback.ts";
import { keysRotated } from "./keys-rotated.ts";
import { nonceFresh, pkceFresh, pkce, redirectUri, stateFresh } from "./requests.ts";
import { refreshCases } from "./refresh.ts";
import { secretInPage, sessionFixed, signedOutCookie } from "./session.ts";
import { openRedirect, tokenInUrl } from "./addresses.ts";

/** The cases that concern an app. @param logoutUri of its client; null: it has none */
export const casesFor = (logoutUri: string | null): readonly Case<Attempt>[] =>
  logoutUri === null ? allCases.filter((one) => !logoutCases.includes(one)) : allCases;

/** Every case but the control, in the order in which they run. */
export const allCases: readonly Case<Attempt>[] = [
  ...[pkceFresh, nonceFresh, redirectUri],
  ...responseCases,
  // After those whose verdicts it reads.
  ...[errorAnswer, mixUp, loginCsrf, stateFresh, callbackReplayed],
  ...idTokenCases,
  // It reads those of nonce.
  pkce,
  ...tokenCases,
  ...userinfoCases,
  ...[openRedirect, tokenInUrl, retry503, retry429, refreshRefused, accessRevoked],
  ...refreshCases,
  ...[sessionFixed, signedOutCookie, secretInPage],
  ...accountCases,
  ...logoutCases,
  ...keysCases,
  ...discoveryCases,
  // Last, because it changes the keys for good.
  keysRotated,
];
