import { fixtureBody } from "../../base/fixture-files/source.ts";
import { create, from, get, patch, post, remove } from "./route.ts";

/**
 * Every operation of the control API: where it is, and who may do it. What it takes, gives and does is in the file of its noun, which is loaded
 * when somebody first asks for it, because zod takes as long to load as a short command runs.
 */

export const operations = {
  ...from(async () => (await import("./users.ts")).userOperations, {
    "users.list": get("/users", "reader", "List users, in the order they were added"),
    "users.show": get("/users/:username", "reader", "Show a user"),
    "users.otp": get("/users/:username/otp", "tester", "Show the one-time code of a user that can be typed now"),
    "users.add": create("/users", "admin", "Add a user; a username is enough"),
    "users.edit": patch("/users/:username", "admin", "Change fields of a user; each replaces the old value"),
    "users.remove": remove("/users/:username", "admin", "Remove a user with their grants and sessions"),
    "users.suspend": post(
      "/users/:username/suspend",
      "tester",
      "Suspend a user: no sign-in, and tokens get 403 until the user is restored",
    ),
    "users.ban": post("/users/:username/ban", "tester", "Ban a user: sessions end, and grants are revoked permanently"),
    "users.restore": post("/users/:username/restore", "tester", "Make a suspended or banned user active again"),
    "users.leave": post(
      "/users/:username/leave",
      "tester",
      "Suspend a user, end their sessions, and tell every app: back-channel logout, SCIM, Global Token Revocation",
    ),
  }),
  ...from(async () => (await import("./clients.ts")).clientOperations, {
    "clients.list": get("/clients", "reader", "List clients, in the order they were added"),
    "clients.show": get("/clients/:client_id", "reader", "Show a client"),
    "clients.add": create("/clients", "admin", "Add a client; a missing secret is generated and shown"),
    "clients.edit": patch("/clients/:client_id", "admin", "Change metadata of a client; null removes a field"),
    "clients.remove": remove("/clients/:client_id", "admin", "Remove a client with its grants"),
    "clients.rotate-secret": post(
      "/clients/:client_id/rotate-secret",
      "admin",
      "Give a client a new secret; a missing one is generated and shown",
    ),
  }),
  ...from(async () => (await import("./grants.ts")).grantOperations, {
    "grants.list": get("/grants", "reader", "List grants"),
    "grants.add": create("/grants", "tester", "Record a consent, as `issue.grant` does"),
    "grants.show": get("/grants/:id", "reader", "Show a grant"),
    "grants.edit": patch("/grants/:id", "admin", "Set the scopes of a grant"),
    "grants.revoke": remove("/grants/:id", "tester", "Revoke a grant: its tokens become invalid, permanently"),
    revoke: post("/revoke", "tester", "Revoke grants: of a user, of a client, of both, one, or all"),
  }),
  ...from(async () => (await import("./sessions.ts")).sessionOperations, {
    "sessions.list": get("/sessions", "reader", "List sessions"),
    "sessions.begin": create(
      "/sessions",
      "tester",
      "Begin the session of a user in the browser of a sign-in that waits, as if the user had been picked",
      { needsServer: "unless shared" },
    ),
    "sessions.end": post("/sessions/end", "tester", "End sessions, and notify clients by back-channel logout"),
    "sessions.show": get("/sessions/:id", "reader", "Show a session"),
    "sessions.remove": remove("/sessions/:id", "tester", "End a session"),
  }),
  ...from(async () => (await import("./scopes.ts")).scopeOperations, {
    "scopes.list": get("/scopes", "reader", "List the scopes that clients can request"),
  }),
  ...from(async () => (await import("./scim.ts")).scimOperations, {
    "scim.push": post("/scim/push", "admin", "Send apps the users and groups that differ from the last push"),
    "scim.status": get("/scim/status", "admin", "List what each app has of users and groups, and what is pending"),
    "scim.test": post(
      "/scim/test",
      "admin",
      "Ask the SCIM server of an app what the console of the vendor asks at Test Connection",
      { changes: false },
    ),
  }),
  ...from(async () => (await import("./keys.ts")).keyOperations, {
    "keys.list": get("/keys", "admin", "List keys", { changes: true }),
    "keys.show": get("/keys/:id", "admin", "Show a key, by its kid"),
    "keys.rotate": create("/keys", "admin", "Create new signing keys; old ones still verify what they signed"),
    "keys.remove": remove("/keys/:id", "admin", "Remove a retired key at once: what it signed becomes invalid"),
    "saml.show": get(
      "/saml",
      "admin",
      "Show what service providers of SAML are configured with; the key is made if there is none yet",
      { changes: true },
    ),
  }),
  ...from(async () => (await import("./issue.ts")).issueOperations, {
    "issue.grant": create("/issue/grant", "tester", "Record a consent, as if the user had allowed it"),
    "issue.code": post(
      "/issue/code",
      "tester",
      "Issue an authorization code, as if the user had signed in and allowed it",
      { status: 201, needsServer: "unless shared" },
    ),
    "issue.tokens": create("/issue/tokens", "tester", "Issue tokens, as if the user had signed in and allowed it"),
    "issue.saml": create("/issue/saml", "tester", "Issue a SAML response, as if the user had signed in"),
  }),
  ...from(async () => (await import("./token.ts")).tokenOperations, {
    "token.issue": create("/token/issue", "tester", "Issue one token, as the flow would, or bad on purpose"),
    "token.verify": post("/token/verify", "reader", "Verify a token and report every check", { changes: false }),
    "token.introspect": post(
      "/token/introspect",
      "reader",
      "Show whether a token is active (RFC 7662), and if not, why",
      { changes: false },
    ),
    "token.revoke": post("/token/revoke", "tester", "Revoke one token (RFC 7009)"),
  }),
  ...from(async () => (await import("./workloads.ts")).workloadOperations, {
    "workloads.list": get("/workloads", "admin", "List the workloads: those of the fixtures, and one of each kind"),
    "workloads.issue": create(
      "/workloads/:name/token",
      "tester",
      "Issue a token of a workload, as the place where it runs would, or bad on purpose",
    ),
  }),
  ...from(async () => (await import("./faults.ts")).faultOperations, {
    "faults.list": get("/faults", "reader", "List the faults that are active", {
      changes: false,
      needsServer: "unless shared",
    }),
    "faults.add": create(
      "/faults",
      "tester",
      "Add a fault: the requests that match it get a response that is wrong on purpose",
      { changes: false, needsServer: "unless shared" },
    ),
    "faults.clear": remove("/faults", "tester", "Remove all faults", { changes: false, needsServer: "unless shared" }),
    "faults.flaws": get(
      "/faults/flaws",
      "reader",
      "List the flaws that a response can have, and what each should make a client do",
    ),
    "faults.remove": remove("/faults/:id", "tester", "Remove a fault", {
      changes: false,
      needsServer: "unless shared",
    }),
  }),
  ...from(async () => (await import("./inspector.ts")).inspectorOperations, {
    "inspector.open": create(
      "/inspector/open",
      "reader",
      "Make a key that opens the inspector once, within ten minutes",
      { changes: false, needsServer: true },
    ),
  }),
  ...from(async () => (await import("./requests.ts")).requestOperations, {
    "requests.list": get("/requests", "reader", "List the last requests, the oldest first", { needsServer: true }),
    "requests.show": get("/requests/:id", "reader", "Show a request", { needsServer: true }),
    "requests.clear": remove("/requests", "tester", "Forget all requests", { changes: false, needsServer: true }),
    expect: post("/expect", "reader", "Say whether an app asked what it is expected to, and show the nearest misses", {
      changes: false,
      needsServer: true,
    }),
  }),
  ...from(async () => (await import("./clock.ts")).clockOperations, {
    "clock.show": get("/clock", "reader", "What the clock of the server shows", { needsServer: "unless shared" }),
    "clock.advance": post(
      "/clock/advance",
      "tester",
      "Move the clock, until the server ends or it is reset; a negative duration moves it back",
      { needsServer: "unless shared" },
    ),
    "clock.set": post(
      "/clock/set",
      "tester",
      "Set the clock; what was revoked stays revoked, and what had expired for good stays expired",
      { needsServer: "unless shared" },
    ),
    "clock.freeze": post("/clock/freeze", "tester", "Stop the clock; it can still be advanced and set", {
      needsServer: "unless shared",
    }),
    "clock.reset": post("/clock/reset", "tester", "Let the clock show the real time again", {
      needsServer: "unless shared",
    }),
  }),
  ...from(async () => (await import("./expire.ts")).expireOperations, {
    expire: post(
      "/expire",
      "tester",
      "Let what was issued so far expire now: access tokens, unless something else is named",
    ),
  }),
  ...from(async () => (await import("./snapshots.ts")).snapshotOperations, {
    "snapshots.list": get("/snapshots", "reader", "List snapshots"),
    "snapshots.save": create(
      "/snapshots/:name",
      "tester",
      "Save all of the state under a name, in place of an earlier one",
    ),
    "snapshots.restore": post(
      "/snapshots/:name/restore",
      "tester",
      "Go back to a snapshot: what was revoked since is valid again, tokens and codes issued since are not",
    ),
    "snapshots.remove": remove("/snapshots/:name", "tester", "Remove a snapshot"),
  }),
  ...from(async () => (await import("./issuers.ts")).issuerOperations, {
    "issuers.list": get("/issuers", "reader", "List the issuers beside the first one, by name"),
    "issuers.add": create("/issuers", "tester", "Make an issuer with its own data, at `/i/NAME` below the first one", {
      bodyLimit: fixtureBody,
      createsData: true,
    }),
    "issuers.show": get("/issuers/:name", "reader", "Show an issuer"),
    "issuers.remove": remove("/issuers/:name", "tester", "Remove an issuer and all of its data"),
  }),
  ...from(async () => (await import("./state.ts")).stateOperations, {
    seed: post("/seed", "admin", "Apply fixtures: all or nothing", { bodyLimit: fixtureBody, createsData: true }),
    reset: post(
      "/reset",
      "admin",
      "Go back to the fixtures in use, or to others: discard changes, sessions, grants and tokens",
      { bodyLimit: fixtureBody },
    ),
    export: get(
      "/export",
      "admin",
      "Export all data as one document, with secrets, password hashes and private keys; or as a fixture file",
      { changes: true, showsSecrets: true },
    ),
    diff: get("/diff", "admin", "Compare the data with the fixtures in use"),
    "diff.given": post("/diff", "admin", "Compare the data with these fixtures; nothing is applied", {
      bodyLimit: fixtureBody,
      changes: false,
    }),
    import: post("/import", "admin", "Replace all data with an export: all or nothing", {
      bodyLimit: fixtureBody,
      createsData: true,
    }),
    status: get("/status", "reader", "Show the server and what it holds"),
    "issuer.set": post(
      "/issuer",
      "admin",
      "Change scheme, host and port of the issuer until the server stops; tokens of the previous one become invalid",
      { method: "PUT", changes: false, needsServer: true, ofProcess: true },
    ),
    stop: post("/stop", "admin", "Stop the server after this response", {
      changes: false,
      needsServer: true,
      ofProcess: true,
    }),
    "fixtures.list": get("/fixtures", "admin", "List the fixture files in use; a reset goes back to them"),
    "fixtures.check": get(
      "/fixtures/check",
      "admin",
      "Read the fixtures in use again and check them; nothing is applied",
    ),
    "fixtures.apply": post("/fixtures/apply", "admin", "Read the fixtures in use again and apply them: all or nothing"),
  }),
  ...from(async () => (await import("./acts.ts")).actOperations, {
    acts: get(
      "/acts",
      "reader",
      "List the last 200 changes that were asked for, with the name of the token, the oldest first",
      { needsServer: "unless shared" },
    ),
  }),
};

export type OperationName = keyof typeof operations;
