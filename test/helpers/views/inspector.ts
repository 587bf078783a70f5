import { choice, listView, pageOf, proposal, type ListView } from "../../../src/http/inspector/lists.ts";
import { makeToken, tokenFormIn, type TokensView } from "../../../src/http/inspector/tokens.ts";
import type { ClosedView } from "../../../src/http/inspector/access.ts";
import type { FixturesView } from "../../../src/http/inspector/fixtures.ts";
import type { OpenedView } from "../../../src/http/inspector/access.ts";
import type { UsersView } from "../../../src/http/inspector/users.ts";
import type { ChangeName } from "../../../src/http/inspector/changes.ts";
import { common } from "./shared.ts";

/** A view of every tab of the inspector, in every state: here the tabs of tokens and fixtures, and what all tabs share. */

export const tab = {
  ...common,
  csrf: "c5rf",
  href: "/_idp/",
  issuer: "http://localhost:4370",
  openCommand: "npx dev-idp open",
  issuers: { name: null, action: "/_idp/issuer", others: [] },
  banner: null,
  testingHref: "/_idp/testing",
  done: null,
  typed: {},
  refused: null,
};

/** A list with filters, of which a page is shown. */
export function list(q = "", { page = 1, total = 1 } = {}, filters: readonly string[] = []): ListView {
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

/** A change that was just made. */
export const done = (
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
    problems: ["idp.fixtures.yaml:4:5 users[0].emial is an unknown key. Did you mean email?"],
  },
} satisfies Record<string, FixturesView>;
