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
  "saml_sso",
  "saml_slo",
  "saml_start",
  "saml_metadata",
] as const;
export type FaultEndpoint = (typeof faultEndpoints)[number];

/** The methods of requests that a fault can be for. */
export const faultMethods = ["GET", "HEAD", "POST", "PUT", "DELETE"] as const;
