import type { Case } from "../../frame/verdict.ts";
import type { Api, Attempt } from "../attempt.ts";
import { credentialCases } from "./credentials.ts";
import { dpopCases } from "./dpop.ts";
import { jkuFetched } from "./fetched.ts";
import { mcpCases } from "./mcp.ts";
import { issuerDown, keysRotated } from "./outage.ts";
import { audList, otherUser } from "./owner.ts";
import { refusalCases } from "./refusals.ts";
import { scopeMissing } from "./scope-missing.ts";
import { serviceToken, serviceTokenAsUser } from "./service.ts";
import { revoked, userSuspended } from "./state.ts";
import { acrMissing, authTimeOld } from "./step-up.ts";

const { noToken, malformed, schemeWrong, tokenInQuery, tokenTwice, challenge } = credentialCases;

/** Every case but the controls, in the order in which they run. */
export const allCases: readonly Case<Attempt>[] = [
  ...[noToken, malformed, schemeWrong],
  ...refusalCases,
  ...[jkuFetched, audList],
  ...[revoked, userSuspended, scopeMissing, otherUser, acrMissing, authTimeOld, serviceToken, serviceTokenAsUser],
  ...[tokenInQuery, tokenTwice, challenge],
  ...dpopCases,
  ...mcpCases,
  issuerDown,
  // Last, because it changes the keys for good.
  keysRotated,
];

/** The flag that a case needs, and whether it was given. */
const needs: readonly {
  readonly cases: readonly Case<Attempt>[];
  readonly flag: string;
  readonly isGiven: (api: Api) => boolean;
}[] = [
  { cases: [scopeMissing], flag: "--needs-scope SCOPE", isGiven: ({ needsScope }) => needsScope !== null },
  { cases: [otherUser], flag: "--owned-url URL", isGiven: ({ ownedUrl }) => ownedUrl !== null },
  { cases: [acrMissing], flag: "--needs-acr VALUE", isGiven: ({ needsAcr }) => needsAcr !== null },
  { cases: [authTimeOld], flag: "--max-age SECONDS", isGiven: ({ maxAge }) => maxAge !== null },
  { cases: [serviceToken, serviceTokenAsUser], flag: "--users-only", isGiven: ({ usersOnly }) => usersOnly },
  { cases: dpopCases, flag: "--dpop", isGiven: ({ dpop }) => dpop },
  { cases: mcpCases, flag: "--mcp", isGiven: ({ mcp }) => mcp },
];

/** The flag without which a case does not concern an API; null: it does. */
export const flagNeededBy = (one: Case<Attempt>, api: Api): string | null =>
  needs.find(({ cases, isGiven }) => cases.includes(one) && !isGiven(api))?.flag ?? null;

/** The cases that concern an API. */
export const casesFor = (api: Api): readonly Case<Attempt>[] =>
  allCases.filter((one) => flagNeededBy(one, api) === null);
