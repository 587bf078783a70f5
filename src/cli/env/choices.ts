/** What `idp env` can print. Read before the command is loaded, so it needs nothing else. */

export const formats = ["dotenv", "shell", "github", "json"] as const;
export type Format = (typeof formats)[number];

export const libraries = [
  "authjs",
  "next-auth",
  "openid-client",
  "passport",
  "express-openid-connect",
  "oidc-client-ts",
  "msal",
  "keycloak-js",
  "spring",
  "django",
  "authlib",
  "go",
  "oauth2-proxy",
  "grafana",
  "mcp-inspector",
] as const;
export type Library = (typeof libraries)[number];
