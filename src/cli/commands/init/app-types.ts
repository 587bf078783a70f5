export { loginClient } from "../../../core/base/identifiers.ts";

/** The clients that the command line knows. This file is read before a command is loaded, so what it imports is small. */

/** The kinds of app that `idp init` writes a client for. */
export const appTypes = ["public", "confidential", "service", "cli"] as const;
export type AppType = (typeof appTypes)[number];

/** What a command line tool needs to sign its user in: the flow with a browser on this machine, and the device flow. */
export const loginGrantTypes = [
  "authorization_code",
  "refresh_token",
  "urn:ietf:params:oauth:grant-type:device_code",
] as const;

/** The redirect URI of a native app, with whichever port is free (RFC 8252 7.3). */
export const loopbackRedirectUri = "http://127.0.0.1:*/callback";
