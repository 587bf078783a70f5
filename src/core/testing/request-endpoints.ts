import { faultEndpoints } from "./faults/fault-endpoints.ts";

/** What `idp expect` looks at: the endpoints of faults, and the pages of a sign-in. */
export const expectEndpoints: readonly string[] = [...faultEndpoints, "login", "consent", "account", "any"];

/** All that the ledger knows, by the names of the routes. `api`: a snapshot was restored, the only call that it holds. */
export const requestEndpoints: readonly string[] = [
  ...expectEndpoints,
  ...["device", "sign-out", "root", "try-it", "none", "api"],
];
