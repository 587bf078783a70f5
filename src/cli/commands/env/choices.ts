/** What `idp env` can print, and where to. This file is read before a command is loaded, so it imports nothing. */

/** The file of variables that frameworks read in development. It is in no repository. */
export const envFile = ".env.local";

export const formats = ["dotenv", "shell", "github", "json"] as const;
export type Format = (typeof formats)[number];

export const libraries = [
  "authjs",
  "next-auth",
  "openid-client",
  "passport",
  "express-openid-connect",
  "hono-oidc-auth",
  "fastify-oauth2",
  "react-oidc-context",
  "oidc-client-ts",
  "msal",
  "keycloak-js",
  "angular-auth-oidc-client",
  "better-auth",
  "nuxt-auth-utils",
  "spring",
  "django",
  "authlib",
  "go",
  "oauth2-proxy",
  "grafana",
  "mcp-inspector",
  "aspnetcore",
  "omniauth",
  "mod_auth_openidc",
  "laravel",
  "symfony",
  "passport-google-oauth20",
  "passport-github2",
  "octokit",
  "google-auth-library",
  "arctic",
  "apple-signin-auth",
] as const;
export type Library = (typeof libraries)[number];
