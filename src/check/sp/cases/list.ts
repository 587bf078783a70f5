import type { Case } from "../../frame/verdict.ts";
import type { Attempt } from "../attempt.ts";
import { changedCases } from "./changed.ts";
import { crossSite } from "./cross-site.ts";
import { deliveredCases, unsolicitedCase } from "./delivered.ts";
import { flawCases } from "./flaws.ts";
import { logoutCases } from "./logout.ts";
import { otherTenant } from "./other-tenant.ts";
import { requestCases } from "./requests.ts";
import { keysRotated, statusCase, takenCases } from "./taken.ts";

/**
 * The cases that concern an app. `flawCases` are the rows of core/testing/controls/faults/flaws/saml.ts.
 * @param hasLogout its client has an address for LogoutRequests
 */
export const casesFor = (hasLogout: boolean): readonly Case<Attempt>[] =>
  hasLogout ? allCases : allCases.filter((one) => !logoutCases.includes(one));

/** Every case but the controls, in the order in which they run. */
export const allCases: readonly Case<Attempt>[] = [
  ...takenCases,
  ...requestCases,
  unsolicitedCase,
  ...flawCases,
  ...deliveredCases,
  crossSite,
  ...changedCases,
  statusCase,
  ...logoutCases,
  otherTenant,
  keysRotated,
];
