import { faultEndpoints } from "./faults/fault-endpoints.ts";

/** What `idp expect` looks at: the endpoints of faults, the pages of a sign-in, and the calls to apps. */
export const expectEndpoints: readonly string[] = [
  ...faultEndpoints,
  "login",
  "factor",
  "consent",
  "account",
  "backchannel_logout",
  "any",
];

/** All endpoints in the ledger, by the names of the routes. `api` is the restore of a snapshot, the only call of the control API that it holds. */
export const requestEndpoints: readonly string[] = [
  ...expectEndpoints,
  "device",
  "sign-out",
  "root",
  "try-it",
  "none",
  "api",
];
