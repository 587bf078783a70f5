/*
 * core/protocol/tokens/grant-types: one grant type per file, which declares its parameters and what a client needs for it. Each takes the client and
 * the request, and ends in `plan.ts`, which takes the steps that all of them owe. A line here adds one to everything: the token endpoint,
 * discovery, the rules for clients, the schemas, and what the ledger and messages may show. id-jag-accept.ts is part of `jwt-bearer`, and
 * id-jag-issue.ts of `token-exchange`: an ID-JAG is no token of ours, so that file calls `recordUse` and
 * `noteLife` itself.
 */
import { nearest } from "../../../base/nearest.ts";
import { authorizationCode } from "./authorization-code.ts";
import { clientCredentials } from "./client-credentials.ts";
import { deviceCode } from "./device-code.ts";
import type { GrantType } from "./grant-type.ts";
import { jwtBearer } from "./jwt-bearer.ts";
import { refreshToken } from "./refresh-token.ts";
import { tokenExchange } from "./token-exchange.ts";

const all = [authorizationCode, refreshToken, clientCredentials, deviceCode, tokenExchange, jwtBearer] as const;

export const grantTypes: readonly GrantType[] = all;

/** The values of `grant_type`. */
export const grantTypeNames = all.map(({ name }) => name);

/** The grant type that somebody who sent this meant; undefined if none is near. "refresh" is refresh_token, "device_code" ends its URN. */
export const similarGrantType = (given: string): string | undefined =>
  given === ""
    ? undefined
    : (nearest(given, grantTypeNames) ??
      grantTypeNames.find((name) => name.startsWith(`${given}_`) || name.endsWith(`:${given}`)));

/** The grant types that need this of a client. */
export const grantTypesThatNeed = (what: NonNullable<GrantType["needs"]>["what"]): readonly GrantType[] =>
  grantTypes.filter(({ needs }) => needs?.what === what);

/** The parameters of all grant types, with their kinds. */
export const tokenParameters = Object.entries(
  Object.assign({}, ...grantTypes.map(({ parameters }) => parameters)) as GrantType["parameters"],
);
