/** The clients that the command line knows of by itself. Read before a command is loaded, so it needs nothing else. */

/** The kinds of app that `idp init` writes a client for. */
export const appTypes = ["public", "confidential", "service", "cli"] as const;
export type AppType = (typeof appTypes)[number];

/** The client that `idp login` is where nobody says otherwise. */
export const loginClient = "idp-cli";

/** What a command line tool that signs its user in needs: the flow by a browser here, and by one elsewhere. */
export const loginGrantTypes = [
  "authorization_code",
  "refresh_token",
  "urn:ietf:params:oauth:grant-type:device_code",
] as const;

/** Where a native app is sent back to: whichever port is free then (RFC 8252 7.3). */
export const loopbackRedirectUri = "http://127.0.0.1:*/callback";
