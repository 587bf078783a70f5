import type { LoginView } from "../../../src/http/pages/login.ts";
import type { EndedView } from "../../../src/http/pages/error-views.ts";
import { common, demoApp, person, alice, bob, carol, dave } from "./shared.ts";

/** A view of the login page in every state, and of the pages after a sign-in that ended. */

const fewUsers: NonNullable<LoginView["picker"]> = {
  href: "/interaction/f7Q2/login",
  users: [alice, bob, carol, dave],
  total: 4,
  query: "",
  page: 1,
  pages: 1,
  beyond: null,
  addCommand: "npx dev-idp users add alice",
};

const manyUsers: NonNullable<LoginView["picker"]> = {
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

export const login: LoginView = {
  ...common,
  state: "default",
  policyUri: "https://app.example.test/privacy",
  tosUri: "https://app.example.test/terms",
  action: "/interaction/f7Q2/login",
  csrf: "c5rf",
  client: demoApp,
  ownPage: "account",
  returnTo: "localhost:3000",
  returnsToApp: false,
  picker: fewUsers,
  username: "",
  onlyUser: null,
  isFixed: false,
  switchHref: null,
  reauth: null,
  passwordNeeded: false,
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
    message: {
      text: { key: "login.error-suspended", values: { username: "carol" } },
      fix: "idp users restore carol",
      command: "idp users restore carol",
    },
    inspect: "npx dev-idp open f3",
  },
  "login-app": { ...login, returnTo: "notes://accounts.example.com/callback", returnsToApp: true },
  "login-account-cancel": { ...login, client: null, returnTo: null, picker: null },
  "login-hint": { ...login, state: "hint", username: "bob" },
  "login-hint-unknown": {
    ...login,
    state: "hint",
    username: "nobody@example.com",
    message: {
      text: { key: "login.hint-unknown", values: { username: "nobody@example.com" } },
      fix: "idp users add nobody --email nobody@example.com",
      command: "idp users add nobody --email nobody@example.com",
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
  "login-reauth-password": {
    ...login,
    state: "reauth",
    username: "alice",
    onlyUser: "alice",
    picker: null,
    passwordNeeded: true,
  },
  "login-error-credentials": { ...login, state: "error-credentials", username: "alice" },
  "login-error-suspended": {
    ...login,
    state: "error-suspended",
    username: "carol",
    message: {
      text: { key: "login.error-suspended", values: { username: "carol" } },
      fix: "idp users restore carol",
      command: "idp users restore carol",
    },
    inspect: "npx dev-idp open f3",
  },
  "login-error-banned": {
    ...login,
    state: "error-banned",
    username: "dave",
    message: {
      text: { key: "login.error-banned", values: { username: "dave" } },
      fix: "idp users restore dave",
      command: "idp users restore dave",
    },
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
  "factor-banned": { ...ended, step: "factor", state: "banned", fix: "npx dev-idp users restore dave" },
  "consent-suspended-fix": { ...ended, step: "consent", state: "suspended", fix: "npx dev-idp users restore carol" },
} satisfies Record<string, EndedView>;
