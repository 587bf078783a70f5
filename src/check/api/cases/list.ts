import type { Case } from "../../frame/verdict.ts";
import type { Api, Attempt } from "../attempt.ts";
import { credentialCases } from "./credentials.ts";
import { dpopCases } from "./dpop.ts";
import { mcpCases } from "./mcp.ts";
import { issuerDown, keysRotated } from "./outage.ts";
import { refusalCases } from "./refusals.ts";
import { scopeMissing } from "./scope-missing.ts";
import { revoked, userSuspended } from "./state.ts";

const { noToken, malformed, schemeWrong, tokenInQuery, tokenTwice, challenge } = credentialCases;

/** Every case but the controls, in the order in which they run. */
export const allCases: readonly Case<Attempt>[] = [
  ...[noToken, malformed, schemeWrong],
  ...refusalCases,
  ...[revoked, userSuspended, scopeMissing, tokenInQuery, tokenTwice, challenge],
  ...dpopCases,
  ...mcpCases,
  issuerDown,
  // Last, because it changes the keys for good.
  keysRotated,
];

/** The cases that concern an API. */
export const casesFor = ({
  needsScope,
  dpop,
  mcp,
}: Pick<Api, "needsScope" | "dpop" | "mcp">): readonly Case<Attempt>[] =>
  allCases.filter(
    (one) =>
      (one !== scopeMissing || needsScope !== null) &&
      (dpop || !dpopCases.includes(one)) &&
      (mcp || !mcpCases.includes(one)),
  );
