/** The paths below the issuer, unless the setting `endpoints` has others. */
export const endpoints = {
  authorize: "/api/v2/oauth/authorize",
  token: "/api/v2/oauth/token",
  userinfo: "/api/v2/oauth/userinfo",
  device_authorization: "/api/v2/oauth/device_authorization",
  register: "/api/v2/oauth/register",
  par: "/api/v2/oauth/par",
  revoke: "/api/v2/oauth/revoke",
  introspect: "/api/v2/oauth/introspect",
  jwks: "/api/v2/oauth/jwks",
  logout: "/api/v2/oauth/logout",
} as const;

export type EndpointName = keyof typeof endpoints;

export const endpointNames = Object.keys(endpoints) as readonly EndpointName[];

/** OpenID Connect Discovery 4. */
export const discoveryPath = "/.well-known/openid-configuration";

/** RFC 8414 3. */
export const metadataPath = "/.well-known/oauth-authorization-server";

/** The endpoints of SAML, below the issuer. */
export const samlEndpoints = {
  metadata: "/saml/metadata",
  sso: "/saml/sso",
  start: "/saml/start",
  slo: "/saml/slo",
} as const;

export type SamlEndpoint = keyof typeof samlEndpoints;

/** The path of the page for users of devices, below the issuer. */
export const devicePath = "/device";

export const defaultPort = 4370;
export const defaultIssuer = `http://localhost:${defaultPort}`;

/** What comes before every path: the issuer, without a trailing slash. */
export const baseOf = (issuer: string): string => issuer.replace(/\/$/, "");

/** The port of a URL, also of one that does not name it. */
export function portOf(url: string): number {
  const { port, protocol } = new URL(url);
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}
