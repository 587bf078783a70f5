import { faultEndpoints } from "../controls/faults/fault-endpoints.ts";

/** What `idp expect` looks at: the endpoints of faults, the pages of a sign-in, and the calls to apps. */
export const expectEndpoints = [
  ...faultEndpoints,
  "login",
  "factor",
  "consent",
  "account",
  "backchannel_logout",
  "scim",
  "global_token_revocation",
  "any",
] as const;

/** Calls of this server to an app, whose body it made itself: users and groups, without the token that opens the app. */
const provisioning: readonly string[] = ["scim", "global_token_revocation"];
export const isProvisioning = (endpoint: string): boolean => provisioning.includes(endpoint);

export type ExpectEndpoint = (typeof expectEndpoints)[number];

/** All endpoints in the ledger, by the names of the routes. `api` is the restore of a snapshot, the only call of the control API that it holds. */
export const requestEndpoints = [
  ...expectEndpoints,
  "device",
  "sign-out",
  "root",
  "try-it",
  "workload",
  "frame",
  "stylesheet",
  "none",
  "api",
] as const;

export type RequestEndpoint = (typeof requestEndpoints)[number];
