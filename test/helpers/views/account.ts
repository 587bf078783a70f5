import type { AccountRevokeView, AccountView } from "../../../src/http/pages/account.ts";
import { ownFactors } from "./factor.ts";
import { openid, email, details, phone, orders } from "./scopes.ts";
import { common, demoApp, alice } from "./shared.ts";

/** A view of the account page in every state, and of the page that asks before an app is removed. */

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
  moreApps: 0,
  sessions: [
    { sid: "s-1", since: "2026-11-20T12:04:00.000Z", current: true, byPassword: true, browser: "Firefox, Linux" },
    { sid: "s-2", since: "2026-11-19T08:30:00.000Z", current: false, byPassword: false, browser: null },
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
  passkeysElsewhere: null,
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

export const accountViews = {
  "account-none": { ...account, apps: [] },
  "account-one": account,
  "account-many": { ...account, apps: [...account.apps, secondApp, bareApp], moreApps: 2, moreSessions: 3 },
  "account-saved": { ...account, outcome: { kind: "saved" } },
  "account-ended": { ...account, sessions: account.sessions.slice(0, 1), outcome: { kind: "ended" } },
  "account-removed": { ...account, apps: [], outcome: { kind: "removed", app: "Demo App" } },
  "account-gone": { ...account, outcome: { kind: "gone", app: "Demo App" } },
} satisfies Record<string, AccountView>;

export const factorAccountViews: Readonly<Record<string, AccountView>> = Object.fromEntries(
  Object.entries(ownFactors).map(([name, factors]) => [name, { ...account, ...factors }]),
);

export const revokeViews = {
  "account-revoke": revoke,
  "account-revoke-outlived": { ...revoke, outlivedBy: 1800 },
} satisfies Record<string, AccountRevokeView>;
