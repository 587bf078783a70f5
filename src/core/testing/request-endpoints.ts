import { faultEndpoints } from "./faults/fault-endpoints.ts";

/** What `idp expect` looks at: the endpoints of faults, and the pages of a sign-in. */
export const expectEndpoints: readonly string[] = [...faultEndpoints, "login", "factor", "consent", "account", "any"];

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
