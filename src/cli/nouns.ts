import type { Declare } from "./act.ts";

interface Noun {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Declare>;
}

/** The commands, below the headings of the help. Each is loaded only when it was typed. */
export const nouns: Readonly<Record<string, readonly Noun[]>> = {
  "Server and data:": [
    {
      name: "start",
      summary: "run the server",
      load: async () => (await import("./commands/start/start.ts")).declareStart,
    },
    {
      name: "status",
      summary: "show whether a server is running; exit 5 if none is",
      load: async () => (await import("./commands/status.ts")).declareStatus,
    },
    {
      name: "stop",
      summary: "stop the server and wait for it to end; exit 5 if none is running",
      load: async () => (await import("./commands/stop.ts")).declareStop,
    },
    {
      name: "wait",
      summary: "wait until a server runs on the data folder, or answers at --url; exit 5 if none does in time",
      load: async () => (await import("./commands/wait.ts")).declareWait,
    },
    {
      name: "issuer",
      summary: "change the issuer of a running server",
      load: async () => (await import("./commands/issuer.ts")).declareIssuer,
    },
    {
      name: "seed",
      summary: "apply fixture files: create missing records, update changed ones",
      load: async () => (await import("./commands/seed.ts")).declareSeed,
    },
    {
      name: "diff",
      summary: "compare the data with the fixtures; exit 6 if anything differs",
      load: async () => (await import("./commands/diff.ts")).declareDiff,
    },
    {
      name: "export",
      summary: "export all data as one JSON document, including secrets",
      load: async () => (await import("./commands/export.ts")).declareExport,
    },
    {
      name: "import",
      summary: "replace all data with an export",
      load: async () => (await import("./commands/import.ts")).declareImport,
    },
    {
      name: "reset",
      summary: "go back to the fixtures: discard changes, sessions, grants and tokens",
      load: async () => (await import("./commands/reset.ts")).declareReset,
    },
  ],
  "Your app:": [
    {
      name: "init",
      summary:
        "connect an app: write its fixtures and .env.local, and write or print the code that signs users in; asks for what is missing",
      load: async () => (await import("./commands/init/init.ts")).declareInit,
    },
    {
      name: "env",
      summary: "print the settings that the app needs, including its secret",
      load: async () => (await import("./commands/env/env.ts")).declareEnv,
    },
    {
      name: "exec",
      summary: "run a command with its own server, in memory and on a free port; exit with its code",
      load: async () => (await import("./commands/exec/exec.ts")).declareExec,
    },
  ],
  "Users, clients, grants:": [
    {
      name: "users",
      summary: "list, show, add, edit, remove, suspend, ban and restore users",
      load: async () => (await import("./commands/users/users.ts")).declareUsers,
    },
    {
      name: "clients",
      summary: "list, show, add, edit and remove clients",
      load: async () => (await import("./commands/clients/clients.ts")).declareClients,
    },
    {
      name: "grants",
      summary: "list, show and revoke the consents of users",
      load: async () => (await import("./commands/grants/grants.ts")).declareGrants,
    },
    {
      name: "scopes",
      summary: "list the scopes that apps can ask for, with the claims of each",
      load: async () => (await import("./commands/scopes.ts")).declareScopes,
    },
    {
      name: "revoke",
      summary: "revoke grants: all tokens of that user and client become invalid, permanently",
      load: async () => (await import("./commands/grants/revoke.ts")).declareRevoke,
    },
    {
      name: "scim",
      summary: "send users and groups to the SCIM server of an app",
      load: async () => (await import("./commands/scim.ts")).declareScim,
    },
    {
      name: "issuers",
      summary: "manage issuers beside the first one, each with its own data",
      load: async () => (await import("./commands/issuers.ts")).declareIssuers,
    },
    {
      name: "sessions",
      summary: "list and end browser sessions",
      load: async () => (await import("./commands/sessions.ts")).declareSessions,
    },
    {
      name: "keys",
      summary: "list, rotate and remove the signing keys",
      load: async () => (await import("./commands/keys.ts")).declareKeys,
    },
  ],
  "Tokens:": [
    {
      name: "issue",
      summary: "issue grants, codes or tokens without a browser",
      load: async () => (await import("./commands/issue.ts")).declareIssue,
    },
    {
      name: "token",
      summary: "decode, verify, introspect, issue and revoke tokens",
      load: async () => (await import("./commands/token/token.ts")).declareToken,
    },
  ],
  "For tests of your app:": [
    {
      name: "clock",
      summary: "show and move the clock of the server",
      load: async () => (await import("./commands/clock.ts")).declareClock,
    },
    {
      name: "expire",
      summary: "expire what was issued so far; what is issued afterwards is not affected",
      load: async () => (await import("./commands/expire.ts")).declareExpire,
    },
    {
      name: "snapshots",
      summary: "save the state under a name, and go back to it",
      load: async () => (await import("./commands/snapshots.ts")).declareSnapshots,
    },
    {
      name: "faults",
      summary: "make responses wrong on purpose",
      load: async () => (await import("./commands/faults.ts")).declareFaults,
    },
    {
      name: "requests",
      summary: "list, follow and show the requests of your app",
      load: async () => (await import("./commands/requests/requests.ts")).declareRequests,
    },
    {
      name: "expect",
      summary: "check that your app sent the requests that it should; exit 6, with the nearest misses, if it did not",
      load: async () => (await import("./commands/expect.ts")).declareExpect,
    },
    {
      name: "acts",
      summary: "list who changed what: the last 200 changes, with the name of the token of the control API",
      load: async () => (await import("./commands/acts.ts")).declareActs,
    },
    {
      name: "check",
      summary: "check an app that signs users in or is provisioned, or an API that takes tokens",
      load: async () => (await import("./commands/check/check.ts")).declareCheck,
    },
  ],
  "Act as a client:": [
    {
      name: "login",
      summary: "sign in to this or any other provider as a client would, and report every check",
      load: async () => (await import("./commands/login/login.ts")).declareLogin,
    },
  ],
  "On this machine:": [
    {
      name: "open",
      summary: "print the address of a page of the server; on a terminal, also open it",
      load: async () => (await import("./commands/open.ts")).declareOpen,
    },
    {
      name: "doctor",
      summary: "check for problems on this machine: data, lock, issuer, ports, apps, clock; exit 6 if there are any",
      load: async () => (await import("./commands/doctor/doctor.ts")).declareDoctor,
    },
    {
      name: "version",
      summary: "print the version",
      load: async () => (await import("./commands/version.ts")).declareVersion,
    },
    {
      name: "completion",
      summary: "print the completion script for a shell",
      load: async () => (await import("./commands/completion/completion.ts")).declareCompletion,
    },
  ],
};
