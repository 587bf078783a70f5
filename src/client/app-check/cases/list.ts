import type { Attempt } from "../attempt.ts";
import type { Case } from "../../verdicts/case.ts";
import { discoveryCases, keysCases } from "../flaws/documents.ts";
import { idTokenCases } from "../flaws/id-token.ts";
import { responseCases } from "../flaws/response.ts";
import { tokenCases } from "../flaws/token.ts";
import { userinfoCases } from "../flaws/userinfo.ts";
import { logoutCases } from "../logout/cases.ts";
import { accessRevoked } from "./access-revoked.ts";
import { callbackReplayed } from "./callback-replayed.ts";
import { errorAnswer } from "./error-answer.ts";
import { keysRotated } from "./keys-rotated.ts";
import { loginCsrf } from "./login-csrf.ts";
import { mixUp } from "./mix-up.ts";
import { nonceFresh } from "./nonce-fresh.ts";
import { openRedirect } from "./open-redirect.ts";
import { pkceFresh } from "./pkce-fresh.ts";
import { pkce } from "./pkce.ts";
import { redirectUri } from "./redirect-uri.ts";
import { refreshRefused } from "./refresh-refused.ts";
import { retry429, retry503 } from "./retry.ts";
import { stateFresh } from "./state-fresh.ts";
import { tokenInUrl } from "./token-in-url.ts";

/** The cases that concern an app. @param logoutUri of its client; null: it has none */
export const casesFor = (logoutUri: string | null): readonly Case<Attempt>[] =>
  logoutUri === null ? allCases.filter((one) => !logoutCases.includes(one)) : allCases;

/** Every case but the control, in the order in which they run. */
export const allCases: readonly Case<Attempt>[] = [
  ...[pkce, pkceFresh, nonceFresh, redirectUri],
  ...responseCases,
  // After those whose verdicts it reads.
  ...[errorAnswer, mixUp, loginCsrf, stateFresh, callbackReplayed],
  ...idTokenCases,
  ...tokenCases,
  ...userinfoCases,
  ...[openRedirect, tokenInUrl, retry503, retry429, refreshRefused, accessRevoked],
  ...logoutCases,
  ...keysCases,
  ...discoveryCases,
  // Last, because it changes the keys for good.
  keysRotated,
];
