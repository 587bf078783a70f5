/*
 * The commands and their summaries, below the headings of the help. Sentences that name a command are found by these names
 * (output/command-line.ts), so this file imports nothing. loaders.ts has where each is declared.
 */
export const nouns = {
  "Server and data:": {
    start: "run the server",
    status: "show whether a server is running; exit 5 if none is",
    stop: "stop the server and wait for it to end; exit 5 if none is running",
    wait: "wait until a server runs on the data folder, or answers at --url; exit 5 if none does in time",
    issuer: "change the issuer of a running server",
    seed: "apply fixture files: create missing records, update changed ones",
    diff: "compare the data with the fixtures; exit 6 if anything differs",
    export: "export all data as one JSON document, including secrets",
    import: "replace all data with an export",
    reset: "go back to the fixtures: discard changes, sessions, grants and tokens",
  },
  "Your app:": {
    init: "connect an app: write its fixtures and .env.local, and write or print the code that signs users in; asks for what is missing",
    env: "print the settings that the app needs, including its secret",
    exec: "run a command with its own server, in memory and on a free port; exit with its code",
  },
  "Users, clients, grants:": {
    users: "list, show, add, edit, remove, suspend, ban and restore users",
    clients: "list, show, add, edit and remove clients",
    grants: "list, show and revoke the consents of users",
    scopes: "list the scopes that apps can ask for, with the claims of each",
    revoke: "revoke grants: all tokens of that user and client become invalid, permanently",
    scim: "send users and groups to the SCIM server of an app",
    issuers: "manage issuers beside the first one, each with its own data",
    sessions: "list and end browser sessions",
    keys: "list, rotate and remove the signing keys",
  },
  "Tokens:": {
    issue: "issue grants, codes, tokens and SAML responses without a browser",
    token: "decode, verify, introspect, issue and revoke tokens",
  },
  "For tests of your app:": {
    clock: "show and move the clock of the server",
    expire: "expire what was issued so far; what is issued afterwards is not affected",
    snapshots: "save the state under a name, and go back to it",
    faults: "make responses wrong on purpose",
    requests: "list, follow and show the requests of your app",
    expect: "check that your app sent the requests that it should; exit 6, with the nearest misses, if it did not",
    acts: "list who changed what: the last 200 changes, with the name of the token of the control API",
    "sign-in":
      "sign a user in at your app, for Playwright, curl, load tests and coding agents: print or write the cookies",
    check: "check an app that signs users in or is provisioned, or an API that takes tokens",
    "mcp-server": "serve the tools of coding agents, by the Model Context Protocol on standard input and output",
  },
  "Act as a client:": {
    login: "sign in to this or any other provider as a client would, and report every check",
  },
  "On this machine:": {
    open: "print the address of a page of the server; on a terminal, also open it",
    doctor: "check for problems on this machine: data, lock, issuer, ports, apps, clock; exit 6 if there are any",
    version: "print the version",
    completion: "print the completion script for a shell",
  },
} as const;

type Groups = typeof nouns;
/** The name of a command. */
export type Noun = { readonly [G in keyof Groups]: keyof Groups[G] }[keyof Groups];

/** The first words of the commands. */
export const commandNames: readonly string[] = [...Object.values(nouns).flatMap((group) => Object.keys(group)), "help"];

/** The commands for which neither a data folder nor a server matters. */
const withoutTarget: readonly string[] = ["init", "exec", "help", "completion", "token decode", "token verify"];

/** Whether a data folder or a server matters for a command. @param words `["idp", "users", "list"]` */
export const hasTarget = ([, first = "", second = ""]: readonly string[]): boolean =>
  !withoutTarget.includes(first) && !withoutTarget.includes(`${first} ${second}`);
