import type { ClientsView } from "../../../src/http/inspector/clients.ts";
import type { GrantsView } from "../../../src/http/inspector/grants.ts";
import type { UsersView } from "../../../src/http/inspector/users.ts";
import { done, list, tab } from "./inspector.ts";

/** The tabs of users, clients and grants. */

const row = (
  username: string,
  displayName: string,
  status: UsersView["users"][number]["status"],
  roles: readonly string[] = [],
): UsersView["users"][number] => ({
  ...{ username, displayName, email: `${username}@example.com`, status, roles },
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
    refused: { message: "the user is not valid", problems: ['email "erin" is not an e-mail address'], fix: null },
  },
  "inspector-users-removed": { ...users, done: done("remove-user", "dave", "users remove dave") },
  "inspector-users-edit-refused": {
    ...users,
    keptQuery: null,
    typed: {
      ...{ change: "edit-user", target: "alice", displayName: "Alice", email: "alice@example.com" },
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
