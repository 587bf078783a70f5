import type {
  AccountRevokeView,
  AccountView,
  ConsentView,
  DeviceView,
  FormPostView,
  LoginView,
  LogoutView,
  PickerView,
  SignedOutView,
} from "../../src/http/pages/views.ts";
import {
  renderHome,
  renderTryIt,
  renderTryItFailed,
  type HomeView,
  type TryItFailedView,
  type TryItView,
} from "../../src/http/pages/try-it-views.ts";
import { unbranded } from "../../src/http/pages/views.ts";
import type { EndedView, ErrorView } from "../../src/http/pages/error-views.ts";
import {
  renderAccount,
  renderAccountRevoke,
  renderConsent,
  renderDevice,
  renderEnded,
  renderError,
  renderFormPost,
  renderLogin,
  renderLogout,
  renderSignedOut,
} from "../../src/http/pages/pages.ts";
import { type Page } from "../../src/http/pages/page-writer.ts";
import { personOf, type PersonView } from "../../src/http/pages/person.ts";
import type { Renderer } from "../../src/http/pages/templates/render.ts";
import {
  renderSignIn,
  renderSignIns,
  type SignInsView,
  type SignInView,
} from "../../src/http/inspector/sign-ins/sign-in-views.ts";
import {
  renderClients,
  renderClosed,
  renderFixtures,
  renderGrants,
  renderTokens,
  renderUsers,
  type ClientsView,
  type ClosedView,
  type FixturesView,
  type GrantsView,
  type TokensView,
  type UsersView,
} from "../../src/http/inspector/views.ts";
import { renderFactor, type FactorView } from "../../src/http/pages/factor-view.ts";
import { factorViews, ownFactors } from "./factor-views.ts";
import { renderTesting, type TestingView } from "../../src/http/inspector/testing-view.ts";
import {
  clientsViews,
  closedViews,
  fixturesViews,
  grantsViews,
  signInsViews,
  signInViews,
  testingViews,
  tokensViews,
  usersViews,
} from "./inspector-views.ts";

/** A view of every page in every state, and the function that renders it. */
export interface Sample {
  /** "login-error-credentials": page and state, and what is special about it. */
  readonly name: string;
  readonly view: object;
  /** @param view the sample's own, or a variation of it */
  readonly render: (renderer: Renderer, view: object) => Page;
}

const common = { lang: "en", theme: "system", base: "", brand: unbranded, keptQuery: "" } as const;
const demoApp = { id: "demo-app", name: "Demo App" };
const person = (username: string, displayName: string, email: string, color: string, status: PersonView["status"]) =>
  personOf({ username, displayName, email, status, avatar: { baseUrl: "", path: "", color }, claims: {}, note: null });
const alice = { ...person("alice", "Alice Adams", "alice@example.test", "#4f46e5", "active"), badges: ["admin"] };
const bob = person("bob", "Bob", "bob@example.test", "#fbbf24", "active");
const carol = person("carol", "Carol Çelik", "carol@example.test", "#0f766e", "suspended");
const dave = {
  ...person("dave", "Dave Doe", "dave@example.test", "#be123c", "banned"),
  badges: ["editor", "release-manager", "support"],
};

const fewUsers: PickerView = {
  href: "/interaction/f7Q2/login",
  users: [alice, bob, carol, dave],
  total: 4,
  query: "",
  page: 1,
  pages: 1,
  beyond: null,
};

const manyUsers: PickerView = {
  ...fewUsers,
  users: Array.from({ length: 12 }, (_, index) => {
    const number = String(index + 13);
    const color = `#${((index * 0x1f3d5b + 0x336699) % 0xffffff).toString(16).padStart(6, "0")}`;
    const email = `user${number}@a-rather-long-domain.example.test`;
    return person(`user${number}`, `Test User ${number}`, email, color, "active");
  }),
  total: 500,
  query: "us",
  page: 2,
  pages: 42,
};

const login: LoginView = {
  ...common,
  state: "default",
  policyUri: "https://app.example.test/privacy",
  tosUri: "https://app.example.test/terms",
  action: "/interaction/f7Q2/login",
  csrf: "c5rf",
  client: demoApp,
  ownPage: "account",
  returnTo: "localhost:3000",
  picker: fewUsers,
  username: "",
  onlyUser: null,
  isFixed: false,
  switchHref: null,
  reauth: null,
  message: null,
  inspect: null,
  canCancel: true,
  details: [
    { name: "client_id", value: "demo-app" },
    { name: "redirect_uri", value: "http://localhost:3000/callback" },
    { name: "scope", value: "openid profile email" },
    { name: "state", value: "af0ifjsldkj" },
  ],
  notes: [
    { key: "note.no-pkce", values: {} },
    { key: "note.no-nonce", values: {} },
  ],
};

const ended: EndedView = {
  ...common,
  step: "login",
  state: "expired",
  message: "this sign-in took too long or was already finished",
  fix: null,
  inspect: "npx dev-idp open f3",
  client: demoApp,
  href: "http://localhost:3000/",
};

const openid = {
  name: "openid",
  title: null,
  locked: true,
  declined: false,
  values: [
    { name: "id", value: "7123456789012345678" },
    { name: "displayName", value: "Alice Adams" },
    { name: "username", value: "alice" },
    { name: "avatar", value: "https://cdn.example.test/avatars/alice.png" },
    { name: "about", value: "" },
    { name: "language", value: "en" },
    { name: "theme", value: null },
  ],
};
const email = {
  name: "email",
  title: null,
  locked: false,
  declined: false,
  values: [
    { name: "email", value: "alice@example.test" },
    { name: "emailVerified", value: true },
  ],
};
const address = { name: "address", title: null, locked: false, declined: false, values: [] };
const profile = { name: "profile", title: null, locked: false, declined: false, values: [] };
const details = {
  name: "details",
  title: null,
  locked: false,
  declined: false,
  values: [
    { name: "website", value: "https://alice.example.test/a/rather/long/address/that/has/to/wrap/somewhere" },
    { name: "location", value: null },
    { name: "birthDate", value: "1990-05-17" },
  ],
};
const phone = {
  name: "phone",
  title: null,
  locked: false,
  declined: true,
  values: [
    { name: "phone", value: "+905551112233" },
    { name: "phone_number_verified", value: false },
  ],
};
const social = {
  name: "social",
  title: null,
  locked: false,
  declined: false,
  values: [{ name: "socialLinks", value: "GitHub https://github.com/alice" }],
};
const orders = {
  name: "orders:read",
  title: "See your orders",
  titleLang: "en",
  locked: false,
  declined: false,
  values: [{ name: "roles", value: '["admin"]' }],
};
const givenName = {
  name: "claim:given_name",
  title: null,
  locked: false,
  declined: false,
  values: [{ name: "given_name", value: "Alice" }],
};
const offline = { name: "offline_access", title: null, locked: false, declined: false, values: [] };

const consent: ConsentView = {
  ...common,
  state: "default",
  action: "/interaction/f7Q2/consent",
  csrf: "c5rf",
  client: demoApp,
  policyUri: null,
  tosUri: null,
  returnTo: "localhost:3000",
  document: null,
  user: alice,
  scopes: { fresh: [openid, profile, email, details, phone, social, orders, givenName, offline], granted: [] },
  always: [],
  switchUserAction: "/interaction/f7Q2/switch",
  details: login.details,
  notes: [{ key: "note.unknown-scopes", values: { scopes: "mail:read" } }],
};

/** Every field of the two forms of UserInfo, as a page is given it. */
const allFields = [
  "id sub username displayName avatar avatar.baseUrl avatar.path avatar.color about language theme createdAt",
  "email emailVerified email.username email.domain email.isVerified website location birthDate phone",
  "socialLinks socialLinks[0].platform socialLinks[1].url socialLinks[12].label",
  "middle_name nickname profile gender zoneinfo",
  "name given_name family_name preferred_username picture locale birthdate updated_at email_verified phone_number",
  "phone_number_verified address address.formatted address.street_address address.locality address.region",
  "address.postal_code address.country",
]
  .join(" ")
  .split(" ")
  .map((name) => ({ name, value: `the ${name}` }));

const account: AccountView = {
  ...common,
  csrf: "c5rf",
  user: alice,
  fields: [
    ...openid.values,
    ...email.values,
    ...details.values,
    ...phone.values,
    { name: "createdAt", value: "2024-01-15T09:30:00.000Z" },
  ],
  apps: [
    {
      client: demoApp,
      scopes: [openid, email],
      since: "2026-11-20T12:04:00.000Z",
      lastUsed: "2026-11-20T16:40:00.000Z",
      revokeHref: "/account/apps/demo-app/revoke",
    },
  ],
  sessions: [
    { sid: "s-1", since: "2026-11-20T12:04:00.000Z", current: true, byPassword: true },
    { sid: "s-2", since: "2026-11-19T08:30:00.000Z", current: false, byPassword: false },
  ],
  moreSessions: 0,
  languages: ["en", "tr"],
  language: "en",
  chosenTheme: "system",
  outcome: null,
  factors: [],
  passkeys: [],
  passkeyOptions: null,
  passkeysWork: true,
  addPasskeyAction: "/account/passkeys",
  removePasskeyAction: "/account/passkeys/remove",
  preferencesAction: "/account/preferences",
  signOutAction: "/account/sign-out",
  endSessionAction: "/account/end-session",
};
const secondApp = {
  client: { id: "reports", name: "Quarterly Reports and Everything Else the Finance Team Wants" },
  scopes: [openid, orders],
  since: "2026-01-02T03:04:05.000Z",
  lastUsed: null,
  revokeHref: "/account/apps/reports/revoke",
};
const bareApp = {
  ...secondApp,
  client: { id: "bare", name: "Bare" },
  scopes: [],
  revokeHref: "/account/apps/bare/revoke",
};

const revoke: AccountRevokeView = {
  ...common,
  csrf: "c5rf",
  action: "/account/apps/demo-app/revoke",
  cancelHref: "/account",
  client: demoApp,
  scopes: [openid, email],
  outlivedBy: null,
};

const error: ErrorView = {
  ...common,
  inspect: "npx dev-idp open f3",
  kind: "redirect-uri",
  code: "invalid_request",
  message: 'redirect_uri "http://localhost:3001/callback" is not registered for client "demo-app"',
  advice: "Send redirect_uri http://localhost:3000/callback in your app. To register the other one too:",
  fix: "idp clients edit demo-app --add-redirect-uri http://localhost:3001/callback",
  rule: null,
  mismatch: {
    parameter: "redirect_uri",
    sent: "http://localhost:3001/callback",
    registered: ["https://app.example.test/callback", "http://localhost:3000/callback"],
    rule: "RFC 6749 3.1.2.3",
  },
  status: 400,
  otherUser: null,
};
const bareError = { mismatch: null, advice: null, fix: null, rule: null };

const signedOut: SignedOutView = {
  ...common,
  state: "done",
  back: { name: "Demo App", href: "http://localhost:3000/" },
  stays: null,
  signInHref: "/account",
};

/** Binds a view to its page; the cast says that a variation of a view is still one. */
function of<V extends object>(
  render: (renderer: Renderer, view: V) => Page,
  views: Readonly<Record<string, V>>,
): Sample[] {
  return Object.entries(views).map(([name, view]) => ({
    name,
    view,
    render: (renderer, other) => render(renderer, other as V),
  }));
}

export const loginViews = {
  "login-default": login,
  "login-many-users": { ...login, picker: manyUsers, username: "" },
  "login-beyond": {
    ...login,
    picker: {
      ...manyUsers,
      query: "",
      total: 100_000,
      page: 416,
      pages: 417,
      beyond: { looked: 5_000, everybody: 100_000 },
    },
  },
  "login-no-match": { ...login, picker: { ...manyUsers, users: [], total: 0, query: "zzz", page: 1, pages: 0 } },
  "login-no-users": { ...login, picker: { ...fewUsers, users: [], total: 0 }, details: [], notes: [] },
  "login-password-only": { ...login, picker: null },
  "login-account": { ...login, client: null, returnTo: null, canCancel: false, details: [], notes: [] },
  "login-device": {
    ...login,
    client: null,
    ownPage: "device",
    returnTo: null,
    canCancel: false,
    details: [],
    notes: [],
  },
  "login-was-suspended": {
    ...login,
    client: null,
    returnTo: null,
    canCancel: false,
    details: [],
    notes: [],
    message: { text: { key: "login.error-suspended", values: { username: "carol" } }, fix: "idp users restore carol" },
    inspect: "npx dev-idp open f3",
  },
  "login-account-cancel": { ...login, client: null, returnTo: null, picker: null },
  "login-hint": { ...login, state: "hint", username: "bob" },
  "login-hint-unknown": {
    ...login,
    state: "hint",
    username: "nobody@example.test",
    message: {
      text: { key: "login.hint-unknown", values: { username: "nobody@example.test" } },
      fix: "idp users add nobody --email nobody@example.test",
    },
  },
  "login-reauth": {
    ...login,
    state: "reauth",
    username: "alice",
    onlyUser: "alice",
    switchHref: "/interaction/uid/login?switch=1",
    picker: { ...fewUsers, users: [alice], total: 1 },
  },
  "login-reauth-max-age": {
    ...login,
    state: "reauth",
    username: "alice",
    onlyUser: "alice",
    isFixed: true,
    picker: null,
    reauth: { signedInAgo: 7300, maxAge: 300 },
  },
  "login-error-credentials": { ...login, state: "error-credentials", username: "alice" },
  "login-error-suspended": {
    ...login,
    state: "error-suspended",
    username: "carol",
    message: { text: { key: "login.error-suspended", values: { username: "carol" } }, fix: "idp users restore carol" },
    inspect: "npx dev-idp open f3",
  },
  "login-error-banned": {
    ...login,
    state: "error-banned",
    username: "dave",
    message: { text: { key: "login.error-banned", values: { username: "dave" } }, fix: "idp users restore dave" },
  },
} satisfies Record<string, LoginView>;

export const endedViews = {
  "login-expired": ended,
  "login-no-cookie": {
    ...ended,
    state: "no-cookie",
    client: null,
    href: "http://localhost:4370/interaction/f7Q2/login",
  },
  "consent-expired": { ...ended, step: "consent", href: null },
  "login-expired-unknown": { ...ended, client: null, href: null },
  "consent-finished-unknown": { ...ended, step: "consent", state: "finished", client: null, href: null },
  "consent-finished": { ...ended, step: "consent", state: "finished" },
  "consent-suspended": {
    ...ended,
    step: "consent",
    state: "suspended",
    client: { id: "long", name: "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft" },
  },
  "consent-suspended-fix": { ...ended, step: "consent", state: "suspended", fix: "npx dev-idp users restore carol" },
} satisfies Record<string, EndedView>;

export const consentViews = {
  "consent-default": consent,
  "consent-document": {
    ...consent,
    client: { id: "https://shelf.example/client.json", name: "Shelf" },
    returnTo: "127.0.0.1:51004",
    document: { host: "shelf.example", loopback: true },
  },
  "consent-incremental": {
    ...consent,
    state: "incremental",
    scopes: { fresh: [phone, orders], granted: [openid, email] },
  },
  "consent-every-field": {
    ...consent,
    always: openid.values,
    scopes: { fresh: [{ ...profile, values: allFields }, address], granted: [] },
    details: [],
    notes: [],
  },
  "consent-again": {
    ...consent,
    state: "again",
    policyUri: "https://app.example.test/privacy",
    tosUri: "https://app.example.test/terms",
    scopes: { fresh: [], granted: [openid, email] },
    details: [],
    notes: [],
  },
} satisfies Record<string, ConsentView>;

export const accountViews = {
  "account-none": { ...account, apps: [] },
  "account-one": account,
  "account-many": { ...account, apps: [...account.apps, secondApp, bareApp], moreSessions: 3 },
  "account-saved": { ...account, outcome: { kind: "saved" } },
  "account-ended": { ...account, sessions: account.sessions.slice(0, 1), outcome: { kind: "ended" } },
  "account-removed": { ...account, apps: [], outcome: { kind: "removed", app: "Demo App" } },
  "account-gone": { ...account, outcome: { kind: "gone", app: "Demo App" } },
} satisfies Record<string, AccountView>;

const factorAccountViews: Readonly<Record<string, AccountView>> = Object.fromEntries(
  Object.entries(ownFactors).map(([name, factors]) => [name, { ...account, ...factors }]),
);

const revokeViews = {
  "account-revoke": revoke,
  "account-revoke-outlived": { ...revoke, outlivedBy: 1800 },
} satisfies Record<string, AccountRevokeView>;

const formPostViews = {
  "form-post": {
    ...common,
    action: "http://localhost:3000/callback",
    parameters: [
      ["code", "4KKNHi"],
      ["state", "af0ifjsldkj"],
    ],
  },
} satisfies Record<string, FormPostView>;

const device: DeviceView = {
  ...common,
  state: "enter",
  action: "/device",
  csrf: "c5rf",
  typed: "",
  userCode: "",
  usableUntil: null,
  client: null,
  documentHost: null,
  scopes: [],
  username: "",
};

const deviceViews = {
  "device-enter": device,
  "device-invalid": { ...device, state: "invalid", typed: "WDJB-MJHX" },
  "device-expired": { ...device, state: "expired", typed: "WDJB-MJHT" },
  "device-used": { ...device, state: "used", typed: "WDJB-MJHT" },
  "device-confirm": {
    ...device,
    state: "confirm",
    userCode: "WDJB-MJHT",
    usableUntil: "2026-11-20T12:14:00.000Z",
    client: demoApp,
    documentHost: "shelf.example",
    scopes: [openid, email, orders],
    username: "alice",
  },
  "device-done": { ...device, state: "done" },
  "device-denied": { ...device, state: "denied" },
} satisfies Record<string, DeviceView>;

const logoutViews = {
  logout: {
    ...common,
    action: "/interaction/f7Q2/logout",
    csrf: "c5rf",
    client: demoApp,
    username: "alice",
    why: "no-hint",
  },
  "logout-unknown": {
    ...common,
    action: "/interaction/f7Q2/logout",
    csrf: "c5rf",
    client: null,
    username: null,
    why: "other-user",
  },
} satisfies Record<string, LogoutView>;

export const signedOutViews = {
  "signed-out": signedOut,
  "signed-out-no-hint": { ...signedOut, stays: "no-hint" },
  "signed-out-not-registered": { ...signedOut, stays: "not-registered" },
  "signed-out-already": { ...signedOut, state: "already", back: null },
  "signed-out-all-sessions": { ...signedOut, state: "all-sessions", back: null },
} satisfies Record<string, SignedOutView>;

const home: HomeView = {
  ...common,
  issuer: "http://localhost:4370",
  discovery: "http://localhost:4370/.well-known/openid-configuration",
  accountHref: "/account",
  tryIt: true,
  loginHint: null,
  beginAction: "/_idp/try",
  csrf: "c5rf",
  elsewhere: null,
  inspect: "npx dev-idp open",
  command: "npx dev-idp login",
};

const homeViews = {
  "home-try-it": home,
  "home-sign-in-as": { ...home, loginHint: "alice" },
  "home-elsewhere": { ...home, beginAction: null, csrf: "", elsewhere: "http://localhost:4370" },
  "home-off": { ...home, tryIt: false, beginAction: null, csrf: "" },
} satisfies Record<string, HomeView>;

const refusedCall = {
  path: "/api/v2/oauth/userinfo",
  status: 403,
  body: JSON.stringify({ error: "access_revoked", error_description: "Access revoked by user" }, null, 2),
};

const tryIt: TryItView = {
  ...common,
  keptQuery: null,
  state: "done",
  action: "/_idp/try/userinfo",
  csrf: "c5rf",
  beginAction: "/_idp/try",
  accessToken: "eyJ0eXAiOiJhdCtqd3QifQ.e30.c2ln",
  idToken: {
    claims: [
      { name: "sub", value: "7123456789012345678" },
      { name: "email", value: "alice@example.test" },
      { name: "email_verified", value: true },
    ],
    decoded: JSON.stringify({ header: { alg: "RS256" }, payload: { sub: "7123456789012345678" } }, null, 2),
  },
  userinfo: { ...refusedCall, status: 200, body: JSON.stringify({ sub: "7123456789012345678" }, null, 2) },
  homeHref: "/",
};

const tryItViews = {
  "try-it-done": tryIt,
  "try-it-called": { ...tryIt, state: "called", idToken: null },
  "try-it-called-refused": { ...tryIt, state: "called", idToken: null, userinfo: refusedCall },
  "try-it-removed": { ...tryIt, state: "removed", idToken: null, userinfo: refusedCall },
} satisfies Record<string, TryItView>;

const tryItFailed: TryItFailedView = {
  ...common,
  keptQuery: null,
  state: "refused",
  beginAction: "/_idp/try",
  csrf: "c5rf",
  error: "access_denied",
  description: "the user did not allow it",
  homeHref: "/",
};

const tryItFailedViews = {
  "try-it-refused": tryItFailed,
  "try-it-over": { ...tryItFailed, state: "over", error: "invalid_request" },
} satisfies Record<string, TryItFailedView>;

export const errorViews = {
  "error-redirect-uri": error,
  "error-redirect-uri-slash": {
    ...error,
    mismatch: {
      parameter: "redirect_uri",
      rule: "RFC 6749 3.1.2.3",
      sent: "http://localhost:3000/callback/",
      registered: ["http://localhost:3000/callback"],
    },
  },
  "error-redirect-uri-short": {
    ...error,
    mismatch: {
      parameter: "redirect_uri",
      rule: "RFC 6749 3.1.2.3",
      sent: "http://localhost:3000/",
      registered: ["http://localhost:3000/callback"],
    },
  },
  "error-redirect-uri-none": {
    ...error,
    mismatch: { parameter: "redirect_uri", sent: "http://localhost:1/", registered: [], rule: "RFC 6749 3.1.2.3" },
  },
  "error-client": {
    ...error,
    ...bareError,
    kind: "client",
    code: "invalid_client",
    message: 'client_id "demo-ap" is not registered here; did you mean "demo-app"? (RFC 6749 2.2)',
    fix: "idp clients add demo-ap --public --redirect-uri http://localhost:3000/callback",
    mismatch: { parameter: "client_id", sent: "demo-ap", registered: ["demo-app"], rule: "RFC 6749 2.2" },
  },
  "error-document": {
    ...error,
    ...bareError,
    kind: "document",
    code: "invalid_client",
    message:
      'the metadata document of client "https://shelf.example/client.json" is not accepted: it has no client_name',
  },
  "error-client-new": {
    ...error,
    ...bareError,
    kind: "client",
    code: "invalid_client",
    message: 'client_id "shop" is not registered here (RFC 6749 2.2)',
    fix: "idp clients add shop --public --redirect-uri http://localhost:8080/callback",
  },
  "error-request": { ...error, ...bareError, kind: "request", message: "client_id was sent twice" },
  "error-form": {
    ...error,
    ...bareError,
    kind: "form",
    message: "the form did not come from this server's own page",
    rule: "RFC 6749 10.12",
    status: 403,
  },
  "error-other-user": {
    ...error,
    ...bareError,
    kind: "other-user",
    message: "bob signed in in another tab. Reload this page",
    status: 403,
    otherUser: { username: "bob", href: "/account" },
  },
  "error-not-found": {
    ...error,
    ...bareError,
    kind: "not-found",
    code: "not_found",
    message:
      "there is nothing at /acount. Did you mean /account? All endpoints are listed at /.well-known/openid-configuration",
    rule: "RFC 9110 15.5.5",
    status: 404,
  },
  "error-method": {
    ...error,
    ...bareError,
    kind: "method",
    code: "method_not_allowed",
    message: "/account takes GET and POST, not PUT",
    rule: "RFC 9110 15.5.6",
    status: 405,
  },
  "error-too-large": {
    ...error,
    ...bareError,
    kind: "too-large",
    code: "too_large",
    message: "a body may have 102400 bytes",
    rule: "RFC 9110 15.5.14",
    status: 413,
  },
  "error-too-many": {
    ...error,
    ...bareError,
    kind: "too-many",
    code: "too_many_requests",
    message: 'too many wrong passwords for "alice" from here: try again in 9 s',
    rule: "RFC 6585 4",
    status: 429,
  },
  "error-host": {
    ...error,
    ...bareError,
    kind: "host",
    code: "misdirected_request",
    message: 'Host "evil.test" is not served',
    fix: "idp start --allow-host evil.test",
    rule: "RFC 9110 15.5.20",
    status: 421,
  },
  "error-server": {
    ...error,
    ...bareError,
    kind: "server",
    code: "server_error",
    message: "see the log",
    status: 500,
  },
  "error-unavailable": {
    ...error,
    ...bareError,
    kind: "unavailable",
    code: "temporarily_unavailable",
    message: "the data could not be written: the disk is full",
    status: 503,
  },
} satisfies Record<string, ErrorView>;

export const samples: readonly Sample[] = [
  ...of<LoginView>(renderLogin, loginViews),
  ...of<EndedView>(renderEnded, endedViews),
  ...of<ConsentView>(renderConsent, consentViews),
  ...of<AccountView>(renderAccount, accountViews),
  ...of<AccountView>(renderAccount, factorAccountViews),
  ...of<FactorView>(renderFactor, factorViews),
  ...of<AccountRevokeView>(renderAccountRevoke, revokeViews),
  ...of<FormPostView>(renderFormPost, formPostViews),
  ...of<DeviceView>(renderDevice, deviceViews),
  ...of<LogoutView>(renderLogout, logoutViews),
  ...of<SignedOutView>(renderSignedOut, signedOutViews),
  ...of<HomeView>(renderHome, homeViews),
  ...of<TryItView>(renderTryIt, tryItViews),
  ...of<TryItFailedView>(renderTryItFailed, tryItFailedViews),
  ...of<ErrorView>(renderError, errorViews),
  ...of<ClosedView>(renderClosed, closedViews),
  ...of<SignInsView>(renderSignIns, signInsViews),
  ...of<SignInView>(renderSignIn, signInViews),
  ...of<UsersView>(renderUsers, usersViews),
  ...of<ClientsView>(renderClients, clientsViews),
  ...of<GrantsView>(renderGrants, grantsViews),
  ...of<TestingView>(renderTesting, testingViews),
  ...of<TokensView>(renderTokens, tokensViews),
  ...of<FixturesView>(renderFixtures, fixturesViews),
];

const kinds = [
  ["account-gone", "account-many", "account-revoke", "account-saved"],
  ["account-passkey-added", "account-passkey-refused", "account-passkey-removed"],
  ["factor-error-otp", "factor-otp-typed", "factor-otp-used", "factor-passkey-both", "factor-passkey-insecure"],
  [
    "consent-again",
    "consent-default",
    "consent-document",
    "consent-every-field",
    "consent-finished",
    "consent-suspended-fix",
  ],
  ["device-confirm", "device-done", "device-invalid"],
  [
    "login-error-suspended",
    "login-expired",
    "login-hint-unknown",
    "login-many-users",
    "login-no-match",
    "login-reauth",
  ],
  ["home-elsewhere", "home-off", "home-try-it", "try-it-done", "try-it-refused", "try-it-removed"],
  [
    "inspector-clients",
    "inspector-clients-done",
    "inspector-clients-refused",
    "inspector-fixtures",
    "inspector-fixtures-problems",
    "inspector-forbidden",
    "inspector-grants",
    "inspector-sign-in-create",
    "inspector-sign-in-fix",
    "inspector-sign-in-passed",
    "inspector-sign-in-unfinished",
    "inspector-sign-in-refused",
    "inspector-sign-in-unknown",
    "inspector-sign-ins",
    "inspector-sign-ins-banner",
    "inspector-testing",
    "inspector-testing-refused",
    "inspector-testing-moved",
    "inspector-tokens-checked",
    "inspector-users-done",
    "inspector-users-issuers",
  ],
  ["error-other-user", "error-redirect-uri", "form-post", "logout", "signed-out-no-hint"],
].flat();

/** One page of each kind. Together they show every element that any page shows. */
export const oneOfEachKind: readonly Sample[] = samples.filter(({ name }) => kinds.includes(name));
