/** The kinds of app that `idp init` writes a client for. Read before the command is loaded, so it needs nothing else. */

export const appTypes = ["public", "confidential", "service", "cli"] as const;
export type AppType = (typeof appTypes)[number];
