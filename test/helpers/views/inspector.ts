import type { ClosedView, OpenedView } from "../../../src/http/inspector/access.ts";
import type { FixturesView } from "../../../src/http/inspector/fixtures.ts";
import type { GrantsView } from "../../../src/http/inspector/grants.ts";
import type { ClientsView } from "../../../src/http/inspector/clients.ts";
import type { UsersView } from "../../../src/http/inspector/users.ts";
import type { RequestRecord } from "../../../src/core/ledger/ledger.ts";
import { failureOf, flowsOf, rowOf } from "../../../src/http/inspector/sign-ins/flows.ts";
import { faultFormWith, faultPresets } from "../../../src/http/inspector/fault-form.ts";
import type { SignInsView, SignInView } from "../../../src/http/inspector/sign-ins/sign-in-views.ts";
import { stepsOf } from "../../../src/http/inspector/sign-ins/steps.ts";
import { otherRecords, passedRecords, refusedRecords } from "../sample-flows.ts";
import type { ConfirmView } from "../../../src/http/inspector/change.ts";
import { choice, listView, pageOf, proposal, type ListView } from "../../../src/http/inspector/lists.ts";
import { makeToken, tokenFormIn, type TokensView } from "../../../src/http/inspector/tokens.ts";

import type { TestingView } from "../../../src/http/inspector/testing.ts";
import type { ChangeName } from "../../../src/http/inspector/changes.ts";
import { common } from "./shared.ts";

/** A view of every tab of the inspector, in every state. */

const tab = {
  ...common,
  csrf: "c5rf",
  href: "/_idp/",
  issuer: "http://localhost:4370",
  issuers: { name: null, action: "/_idp/issuer", others: [] },
  banner: null,
  testingHref: "/_idp/testing",
  done: null,
  typed: {},
  refused: null,
};

/** A list with filters, of which a page is shown. */
function list(q = "", { page = 1, total = 1 } = {}, filters: readonly string[] = []): ListView {
  const asked = { filters: { q }, page };
  return listView(asked, pageOf(asked, Array.from({ length: total })), [
    ...filters
      .slice(0, 1)
      .map((name) => choice(asked, [name, "inspector.status"], { active: { key: "status.active", values: {} } })),
    ...filters.slice(1).map((name) => proposal(asked, [name, `inspector.${name}`], ["admin", "support"])),
  ]);
}

const closed: ClosedView = { ...common, why: "cookie", command: "npx dev-idp open", href: "/_idp/" };

export const closedViews = {
  "inspector-forbidden": closed,
  "inspector-forbidden-key": { ...closed, why: "key" },
} satisfies Record<string, ClosedView>;

export const openedViews = {
  "inspector-opened": { ...common, keptQuery: null, href: "/_idp/" },
} satisfies Record<string, OpenedView>;

const row = (
  username: string,
  displayName: string,
  status: UsersView["users"][number]["status"],
  roles: readonly string[] = [],
): UsersView["users"][number] => ({
  ...{ username, displayName, email: `${username}@example.test`, status, roles },
  rolesText: roles.join(", "),
  claims: '{\n  "tenant": "acme"\n}',
  factors: ["otp"],
  edit: {
    kind: "edit-user",
    allowed: true,
    action: "/_idp/change?change=edit-user",
    target: username,
    command: `npx dev-idp users edit ${username} --set 'claims={}'`,
    beside: null,
  },
  signInHref: `http://localhost:4370/?login_hint=${username}`,
  signInCommand: `npx dev-idp login --user ${username} --approve`,
  changes: (status === "active" ? (["suspend", "ban", "remove-user"] as const) : (["restore"] as const)).map(
    (kind) => ({
      kind,
      allowed: true,
      action: `/_idp/change?change=${kind}`,
      target: username,
      command: `npx dev-idp users ${kind} ${username}`,
      beside: null,
    }),
  ),
});

const done = (
  kind: ChangeName,
  target: string,
  command: string,
  { value = "", later = null }: { value?: string; later?: NonNullable<UsersView["done"]>["later"] } = {},
): UsersView["done"] => ({
  text: { key: `inspector.done-${kind}`, values: { target, value } },
  later,
  command: `npx dev-idp ${command}`,
  beside: null,
});

const users: UsersView = {
  ...tab,
  addCommand: "npx dev-idp users add alice",
  add: {
    kind: "add-user",
    allowed: true,
    action: "/_idp/change?change=add-user",
    target: "new",
    command: "npx dev-idp users add erin",
    beside: null,
  },
  ...list("", {}, ["status", "role", "group"]),
  beyond: null,
  users: [
    row("alice", "Alice Adams", "active", ["admin", "support"]),
    row("bob", "Bob", "active"),
    row("carol", "Carol Çelik", "suspended"),
    row("dave", "Dave Doe", "banned"),
  ],
};

export const usersViews = {
  "inspector-users": users,
  "inspector-users-done": {
    ...users,
    ...list("a", { page: 2, total: 1400 }, ["status", "role", "group"]),
    beyond: { looked: 5000, everybody: 12_000 },
    done: done("suspend", "carol", "users suspend carol"),
    users: [row("carol", "Carol Çelik", "suspended"), { ...row("erin", "Erin", "active"), signInHref: null }],
  },
  "inspector-users-banned": { ...users, done: done("ban", "dave", "users ban dave") },
  "inspector-users-restored": { ...users, done: done("restore", "alice", "users restore alice") },
  "inspector-users-added": {
    ...users,
    done: done("add-user", "new", "users add erin", {
      later: { key: "inspector.not-in-file", values: { files: "idp.fixtures.json, team.yaml" } },
    }),
  },
  "inspector-users-edited": {
    ...users,
    done: done("edit-user", "alice", "users edit alice --set 'claims={}'", {
      later: { key: "inspector.until-reset", values: {} },
    }),
  },
  "inspector-users-refused": {
    ...users,
    keptQuery: null,
    typed: { change: "add-user", target: "", username: "erin", email: "erin", displayName: "Erin", roles: "admin" },
    refused: { message: "the user is not valid", problems: ['email: "erin" is not an e-mail address'], fix: null },
  },
  "inspector-users-removed": { ...users, done: done("remove-user", "dave", "users remove dave") },
  "inspector-users-edit-refused": {
    ...users,
    keptQuery: null,
    typed: {
      ...{ change: "edit-user", target: "alice", displayName: "Alice", email: "alice@example.test" },
      ...{ roles: "admin", claims: "{tenant: acme", factors: "otp passkey" },
    },
    refused: { message: "the claims are not JSON: Expected property name", problems: [], fix: null },
  },
  "inspector-users-no-match": { ...users, ...list("nobody"), users: [] },
  "inspector-users-none-fit": { ...users, isFiltered: true, users: [] },
  "inspector-users-issuers": {
    ...users,
    issuers: {
      ...{ name: "staging", action: "/i/staging/_idp/issuer" },
      others: [
        { name: null, issuer: "http://localhost:4370", value: "/", command: "npx dev-idp open" },
        { name: "w1", issuer: "http://localhost:4370/i/w1", value: "w1", command: "npx dev-idp open --issuer w1" },
      ],
    },
  },
  "inspector-users-none": { ...users, users: [] },
} satisfies Record<string, UsersView>;

const client = (
  id: string,
  name: string,
  isPublic: boolean,
  ...redirectUris: string[]
): ClientsView["clients"][number] => ({
  ...{ id, name, isPublic, redirectUris },
  metadata: JSON.stringify({ client_id: id, client_name: name, redirect_uris: redirectUris }, null, 2),
  add: {
    kind: "add-redirect-uri",
    allowed: true,
    action: "/_idp/change?change=add-redirect-uri",
    target: id,
    command: `npx dev-idp clients edit ${id} --add-redirect-uri URI`,
    beside: null,
  },
});

const clients: ClientsView = {
  ...tab,
  addCommand: "npx dev-idp clients add shop --redirect-uri http://localhost:3000/callback",
  ...list(),
  clients: [
    client("demo-app", "Demo App", false, "http://localhost:3000/callback", "http://localhost:3001/auth/callback/demo"),
    client("demo-spa", "Demo SPA", true, "http://localhost:5173/callback"),
    client("demo-service", "", false),
    { ...client("https://agent.example/client.json", "Agent", true, "http://localhost:6274/callback"), add: null },
  ],
};

export const clientsViews = {
  "inspector-clients": { ...clients, ...list("", { total: 123 }) },
  "inspector-clients-done": {
    ...clients,
    done: {
      text: {
        key: "inspector.done-add-redirect-uri",
        values: { target: "demo-app", value: "http://localhost:3001/callback" },
      },
      later: { key: "inspector.not-in-file", values: { files: "idp.fixtures.yaml" } },
      command: "npx dev-idp clients edit demo-app --add-redirect-uri http://localhost:3001/callback",
      beside: null,
    },
  },
  "inspector-clients-refused": {
    ...clients,
    keptQuery: null,
    typed: { change: "add-redirect-uri", target: "demo-app", value: "/callback" },
    refused: {
      message: "the client is not valid",
      problems: ["redirect_uris[2]: must be an absolute URI, not “/callback”", "redirect_uris[3]: has a fragment"],
      fix: "For example: npx dev-idp clients show demo-app",
    },
  },
  "inspector-clients-no-match": { ...clients, ...list("nothing"), clients: [] },
  "inspector-clients-none": { ...clients, clients: [] },
} satisfies Record<string, ClientsView>;

const grant = (id: string, user: string, status: "active" | "revoked"): GrantsView["grants"][number] => ({
  ...{ id, user, client: "demo-app", scope: "openid profile email offline_access", status },
  at: "2026-11-20T12:04:31.000Z",
  revoke:
    status === "revoked"
      ? null
      : {
          kind: "revoke",
          allowed: true,
          action: "/_idp/change?change=revoke",
          target: id,
          command: `npx dev-idp grants revoke ${id}`,
          beside: null,
        },
});

const grants: GrantsView = {
  ...tab,
  signInCommand: "npx dev-idp login",
  ...list(),
  moreGrants: 12,
  moreSessions: 1200,
  grants: [grant("g_8fK2aQxYz01b", "alice", "active"), grant("g_7yQ2mXk0aLw3", "bob", "revoked")],
  sessions: [
    {
      id: "s_7yQ2mXk0aLw3",
      user: "alice",
      signedInAt: "2026-11-20T12:04:31.000Z",
      expiresAt: "2026-11-21T12:04:31.000Z",
      end: {
        kind: "end-session",
        allowed: true,
        action: "/_idp/change?change=end-session",
        target: "s_7yQ2mXk0aLw3",
        command: "npx dev-idp sessions end s_7yQ2mXk0aLw3",
        beside: null,
      },
    },
  ],
};

export const grantsViews = {
  "inspector-grants": grants,
  "inspector-grants-revoked": { ...grants, done: done("revoke", "g_7yQ2mXk0aLw3", "grants revoke g_7yQ2mXk0aLw3") },
  "inspector-grants-ended": { ...grants, done: done("end-session", "s_7yQ2", "sessions end s_7yQ2") },
  "inspector-grants-none": { ...grants, grants: [], sessions: [], moreGrants: 0, moreSessions: 0 },
} satisfies Record<string, GrantsView>;

const json = (value: object): string => JSON.stringify(value, null, 2);

const token: TokensView["tokens"][number] = {
  name: "access_token",
  header: json({ alg: "RS256", typ: "at+jwt", kid: "QmE5c2tXc0FKb2N4" }),
  payload: json({ iss: "http://localhost:4370", sub: "7123456789012345678", exp: 1_795_176_271, scope: "openid" }),
  valid: false,
  checks: [
    { name: "signature", ok: true, detail: "RS256, key QmE5c2tXc0FKb2N4 of this server" },
    { name: "exp", ok: false, detail: "it expired 4 min ago" },
    { name: "state", ok: false, detail: "the user removed the access of the app, 5 min ago" },
  ],
  notes: ["It names another issuer. To check it with the keys of that issuer, verify it with --issuer URL."],
};

const tokens: TokensView = {
  ...tab,
  action: "/_idp/tokens",
  command: "npx dev-idp token verify -",
  tokens: [],
  makeToken,
  form: {
    ...tokenFormIn({}),
    ...{ users: ["alice", "bob"], clients: Array.from({ length: 101 }, (_, at) => `app-${at}`) },
    command: "npx dev-idp token issue --user USERNAME --client CLIENT_ID",
  },
  made: null,
};
const typedToken = tokenFormIn({
  change: makeToken,
  kind: "access",
  user: "alice",
  client: "demo-app",
  flaws: "expired",
});

export const tokensViews = {
  "inspector-tokens-refused": {
    ...tokens,
    keptQuery: null,
    refused: { message: "this is not a JWT", problems: [], fix: "Copy it whole: three parts with a dot between them." },
  },
  "inspector-tokens": tokens,
  "inspector-tokens-reader": { ...tokens, form: null },
  "inspector-tokens-made": {
    ...tokens,
    keptQuery: null,
    form: tokens.form && { ...tokens.form, ...typedToken },
    made: {
      texts: [{ name: "token", text: "eyJhbGciOiJIUzI1NiIsInR5cCI6ImF0K2p3dCJ9.eyJzdWIiOiI3MTIzIn0.c2lnbmF0dXJl" }],
      warnings: ["--expired: this token is bad on purpose, and was over an hour ago"],
      ...{ command: "npx dev-idp token issue --user alice --client demo-app --expired", beside: null },
    },
    tokens: [token],
  },
  "inspector-tokens-not-made": {
    ...tokens,
    keptQuery: null,
    typed: { change: makeToken },
    form: tokens.form && { ...tokens.form, ...typedToken },
    refused: { message: 'no user "alcie"', problems: [], fix: "Did you mean alice?" },
  },
  "inspector-tokens-checked": {
    ...tokens,
    keptQuery: null,
    tokens: [token, { ...token, name: null, valid: true, checks: token.checks.slice(0, 1), notes: [] }],
  },
} satisfies Record<string, TokensView>;

const fixtures: FixturesView = {
  ...tab,
  sources: ["idp.fixtures.yaml", null],
  problems: [],
  command: "npx dev-idp seed --check idp.fixtures.yaml",
  beside: null,
};

export const fixturesViews = {
  "inspector-fixtures": fixtures,
  "inspector-fixtures-problems": {
    ...fixtures,
    problems: ["idp.fixtures.yaml:4:5 users[0].emial unknown key. Did you mean email?"],
  },
} satisfies Record<string, FixturesView>;

const flowOf = (records: readonly RequestRecord[]) => flowsOf(records)[0] ?? { id: "", records };
const rows = (...all: (readonly RequestRecord[])[]): SignInsView["flows"] =>
  flowsOf(all.flat()).map((flow) => rowOf(flow, "/_idp/sign-ins/"));

const signIns: SignInsView = {
  ...tab,
  ...list("", {}, ["status", "client", "user"]),
  lost: 0,
  streamHref: "/_idp/stream",
  command: "npx dev-idp login",
  flows: rows(passedRecords, refusedRecords, otherRecords),
};

export const signInsViews = {
  "inspector-sign-ins": { ...signIns, ...list("", { page: 2, total: 900 }, ["status", "client", "user"]), lost: 12 },
  "inspector-sign-ins-no-match": { ...signIns, ...list("nobody"), flows: [] },
  "inspector-sign-ins-none-fit": { ...signIns, isFiltered: true, flows: [] },
  "inspector-sign-ins-banner": { ...signIns, banner: { offset: 7200, frozen: true, faults: 2 } },
  "inspector-sign-ins-none": { ...signIns, flows: [] },
} satisfies Record<string, SignInsView>;

function signInView(records: readonly RequestRecord[]): SignInView {
  const flow = flowOf(records);
  const failure = failureOf(flow);
  return {
    ...tab,
    streamHref: "/_idp/stream",
    backHref: "/_idp/",
    launcher: "npx dev-idp ",
    faultsHref: "/_idp/testing",
    flow: rowOf(flow, "/_idp/sign-ins/"),
    failed: failure && { id: failure.id, rule: failure.rule, fix: failure.fix, clock: failure.clock },
    fix: null,
    isFixed: false,
    acts: records.slice(-1).flatMap(({ time, id }) =>
      [null, "qa"].map((by) => ({
        at: time,
        command: "npx dev-idp revoke --client VALUE",
        beside: "VALUE is a&b",
        by,
        before: id,
      })),
    ),
    steps: stepsOf(flow, "http://localhost:4370"),
  };
}

export const signInViews = {
  "inspector-sign-in-passed": signInView(passedRecords),
  "inspector-sign-in-refused": signInView(refusedRecords),
  "inspector-sign-in-fix": {
    ...signInView(refusedRecords),
    fix: {
      change: {
        kind: "add-redirect-uri",
        allowed: true,
        action: "/_idp/change?change=add-redirect-uri",
        target: "demo-app",
        command: "npx dev-idp clients edit demo-app --add-redirect-uri http://localhost:3001/callback",
        beside: null,
      },
      uri: "http://localhost:3001/callback",
    },
  },
  "inspector-sign-in-fixed": { ...signInView(refusedRecords), isFixed: true },
  "inspector-sign-in-again": signInView([
    ...refusedRecords,
    ...refusedRecords.slice(-1).map((record) => ({ ...record, id: "r98" })),
  ]),
  "inspector-sign-in-create": {
    ...signInView(refusedRecords),
    done: done("create-client", "shop", "clients add shop --public --redirect-uri http://localhost:3001/callback"),
    fix: {
      change: {
        kind: "create-client",
        allowed: true,
        action: "/_idp/change?change=create-client",
        target: "shop",
        command: "npx dev-idp clients add shop --public --redirect-uri http://localhost:3001/callback",
        beside: null,
      },
      uri: "http://localhost:3001/callback",
    },
  },
  "inspector-sign-in-unfinished": signInView(passedRecords.slice(0, 2)),
  "inspector-sign-in-signed-out": signInView([
    ...passedRecords,
    ...passedRecords
      .slice(-1)
      .map((record) => ({ ...record, id: "r99", endpoint: "backchannel_logout", method: "POST" })),
  ]),
  "inspector-sign-in-unknown": signInView(otherRecords.slice(0, 1)),
  "inspector-sign-in-fault": signInView(otherRecords.slice(1)),
} satisfies Record<string, SignInView>;

const change = (kind: ChangeName, target: string, command: string) => ({
  kind,
  allowed: true,
  action: `/_idp/change?change=${kind}`,
  target,
  command: `npx dev-idp ${command}`,
  beside: null,
});

const testing: TestingView = {
  ...tab,
  clock: { now: "2026-11-20T12:04:31.000Z", offset: 0, frozen: false },
  advance: change("advance", "clock", "clock advance 31m"),
  set: change("set-clock", "clock", "clock set 2027-01-01T00:00:00Z"),
  freeze: change("freeze", "clock", "clock freeze"),
  reset: null,
  faults: [],
  clear: null,
  add: change("add-fault", "faults", "faults add token --status 503"),
  expire: change("expire", "all", "expire --user USERNAME"),
  expireTokens: "npx dev-idp expire",
  expirable: ["access", "refresh", "sessions", "codes"],
  snapshots: [
    {
      ...{ name: "signed-in", savedAt: "2026-11-20T12:04:31.000Z" },
      restore: change("restore-snapshot", "signed-in", "snapshots restore signed-in"),
    },
  ],
  save: change("save-snapshot", "new", "snapshots save NAME"),
  resetAll: change("reset", "all", "reset --yes"),
  presets: faultPresets.map(({ name, fields }) => ({
    ...{ name, fields: Object.entries(fields) },
    command: `npx dev-idp faults add ${name}`,
  })),
  isOpen: false,
  ...{ users: ["alice", "bob"], clients: ["demo-app"] },
  groups: faultFormWith(null, []),
};
const doneHere = (kind: ChangeName, target: string, command: string, value = ""): TestingView => ({
  ...testing,
  done: done(kind, target, command, { value }),
});

export const testingViews = {
  "inspector-testing-refused": {
    ...testing,
    keptQuery: null,
    isOpen: true,
    groups: faultFormWith({ endpoint: "token", header: "Retry After 2", after: "1", status: "9" }, [
      { path: "header", message: "is not a header that can be set" },
      { path: "status", message: "must be a status" },
    ]),
    refused: { message: "the fault is not valid", problems: ["header: is not a header"], fix: null },
  },
  "inspector-testing-expired": doneHere("expire", "all", "expire --all"),
  "inspector-testing-saved": doneHere("save-snapshot", "new", "snapshots save before", "before"),
  "inspector-testing-restored": doneHere("restore-snapshot", "signed-in", "snapshots restore signed-in"),
  "inspector-testing-reset-all": doneHere("reset", "all", "reset --yes"),
  "inspector-testing": testing,
  "inspector-testing-moved": {
    ...testing,
    clock: { ...testing.clock, offset: 1860, frozen: true },
    freeze: null,
    reset: change("reset-clock", "clock", "clock reset"),
    faults: [
      {
        id: "f17",
        endpoint: "token",
        effects: [{ key: null, value: "503 temporarily_unavailable" }],
        filter: "demo-app, refresh_token",
        left: 7,
        remove: change("remove-fault", "f17", "faults remove f17"),
      },
      {
        ...{ id: "f18", endpoint: "userinfo", effects: [{ key: "inspector.fault-field-delay", value: "5 s" }], filter: "", left: 1 },
        remove: change("remove-fault", "f18", "faults remove f18"),
      },
      {
        ...{ id: "f19", endpoint: "jwks", effects: [{ key: "inspector.fault-field-flaw", value: "keys-empty" }], filter: "", left: null },
        remove: change("remove-fault", "f19", "faults remove f19"),
      },
    ],
    clear: change("clear-faults", "faults", "faults clear"),
  },
  "inspector-testing-behind": { ...testing, clock: { ...testing.clock, offset: -7200 } },
  "inspector-testing-advance": doneHere("advance", "clock", "clock advance 31m", "31 minutes"),
  "inspector-testing-set": doneHere("set-clock", "clock", "clock set 2027-01-01T00:00:00Z", "1 Jan 2027, 00:00 UTC"),
  "inspector-testing-freeze": doneHere("freeze", "clock", "clock freeze"),
  "inspector-testing-reset": doneHere("reset-clock", "clock", "clock reset"),
  "inspector-testing-add": doneHere("add-fault", "faults", "faults add token --status 503"),
  "inspector-testing-remove": doneHere("remove-fault", "f17", "faults remove f17"),
  "inspector-testing-clear": doneHere("clear-faults", "faults", "faults clear"),
} satisfies Record<string, TestingView>;

const question = (
  kind: ChangeName,
  title: string,
  losses: ConfirmView["question"]["losses"],
  command: string,
): ConfirmView => ({
  ...tab,
  keptQuery: null,
  ...{ tab: kind === "reset" || kind === "expire" ? "testing" : "users", kind },
  question: { title: { key: `inspector.sure-${title}`, values: { target: "dave" } }, losses },
  action: `/_idp/change?change=${kind}`,
  fields: [
    ["change", kind],
    ["target", "dave"],
    ["sure", "1"],
  ],
  backHref: "/_idp/users",
  ...{ command: `npx dev-idp ${command}`, beside: null },
});
const loss = (what: string, values: Readonly<Record<string, string | number>> = {}) => ({
  key: `inspector.lose-${what}`,
  values,
});

export const confirmViews = {
  "inspector-confirm-ban": question(
    ...(["ban", "ban"] as const),
    [loss("sessions", { count: 1200 }), loss("grants", { count: 3 }), loss("for-good")],
    "users ban dave",
  ),
  "inspector-confirm-remove": question("remove-user", "remove-user", [loss("user-tokens")], "users remove dave"),
  "inspector-confirm-reset": question(
    ...(["reset", "reset"] as const),
    [
      loss("added", { names: "erin, zoe" }),
      loss("changed", { names: "bob" }),
      loss("missing", { names: "carol" }),
      loss("all-tokens"),
    ],
    "reset --yes",
  ),
  ...Object.fromEntries(
    ["access", "refresh", "sessions", "codes"].map((kind) => [
      `inspector-confirm-expire-${kind}`,
      question("expire", `expire-${kind}`, [loss("issued")], `expire --all --${kind}`),
    ]),
  ),
} satisfies Record<string, ConfirmView>;
