/** The endpoints that can have faults, by the names of their routes. */
export const faultEndpoints = [
  "authorize",
  "token",
  "userinfo",
  "introspect",
  "revoke",
  "jwks",
  "discovery",
  "par",
  "device_authorization",
  "logout",
  "register",
] as const;
export type FaultEndpoint = (typeof faultEndpoints)[number];
