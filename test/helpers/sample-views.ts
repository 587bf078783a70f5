import { renderClosed, renderOpened, type ClosedView, type OpenedView } from "../../src/http/inspector/access.ts";
import { renderFixtures, type FixturesView } from "../../src/http/inspector/fixtures.ts";
import { renderGrants, type GrantsView } from "../../src/http/inspector/grants.ts";
import { renderClients, type ClientsView } from "../../src/http/inspector/clients.ts";
import { renderUsers, type UsersView } from "../../src/http/inspector/users.ts";
import { renderDevice, type DeviceView } from "../../src/http/pages/device.ts";
import { renderConsent, type ConsentView } from "../../src/http/pages/consent.ts";
import {
  renderAccount,
  renderAccountRevoke,
  type AccountRevokeView,
  type AccountView,
} from "../../src/http/pages/account.ts";
import { renderLogin, type LoginView } from "../../src/http/pages/login.ts";
import type { LogoutView, SignedOutView } from "../../src/http/pages/views.ts";
import { renderSignIn, type SignInView } from "../../src/http/inspector/sign-ins/sign-in.ts";
import { renderSignIns, type SignInsView } from "../../src/http/inspector/sign-ins/sign-ins.ts";
import { renderConfirm, type ConfirmView } from "../../src/http/inspector/change.ts";
import { renderTesting, type TestingView } from "../../src/http/inspector/testing.ts";
import { renderTokens, type TokensView } from "../../src/http/inspector/tokens.ts";
import type { EndedView, ErrorView } from "../../src/http/pages/error-views.ts";
import { renderFactor, type FactorView } from "../../src/http/pages/factor.ts";
import { renderFormPost, renderSamlPost, type Page, type FormPostView } from "../../src/http/pages/page-writer.ts";
import { renderEnded, renderError, renderLogout, renderSignedOut } from "../../src/http/pages/pages.ts";
import type { Renderer } from "../../src/http/pages/templates/render.ts";
import { renderHome, type HomeView } from "../../src/http/pages/home.ts";
import { renderTryIt, renderTryItFailed, type TryItFailedView, type TryItView } from "../../src/http/pages/try-it.ts";
import { accountViews, factorAccountViews, revokeViews } from "./views/account.ts";
import { consentViews } from "./views/consent.ts";
import { deviceViews } from "./views/device.ts";
import { errorViews } from "./views/error.ts";
import { factorViews } from "./views/factor.ts";
import { homeViews, tryItViews, tryItFailedViews } from "./views/home.ts";
import { closedViews, fixturesViews, openedViews, tokensViews } from "./views/inspector.ts";
import { clientsViews, grantsViews, usersViews } from "./views/inspector-records.ts";
import { signInsViews, signInViews } from "./views/inspector-sign-ins.ts";
import { confirmViews, testingViews } from "./views/inspector-testing.ts";
import { loginViews, endedViews } from "./views/login.ts";
import { common } from "./views/shared.ts";
import { logoutViews, signedOutViews } from "./views/signed-out.ts";

/** A view of every page in every state, and the function that renders it. */
export interface Sample {
  /** "login-error-credentials": page and state, and what is special about it. */
  readonly name: string;
  readonly view: object;
  /** @param view the sample's own, or a variation of it */
  readonly render: (renderer: Renderer, view: object) => Page;
}

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

const samlPostViews = {
  "saml-post": {
    ...common,
    action: "http://localhost:3000/acs",
    parameters: [
      ["SAMLResponse", "PHNhbWxwOlJlc3BvbnNl"],
      ["RelayState", "/start"],
    ],
    others: ["Wiki"],
  },
} satisfies Record<string, FormPostView>;

export const samples: readonly Sample[] = [
  ...of<LoginView>(renderLogin, loginViews),
  ...of<EndedView>(renderEnded, endedViews),
  ...of<ConsentView>(renderConsent, consentViews),
  ...of<AccountView>(renderAccount, accountViews),
  ...of<AccountView>(renderAccount, factorAccountViews),
  ...of<FactorView>(renderFactor, factorViews),
  ...of<AccountRevokeView>(renderAccountRevoke, revokeViews),
  ...of<FormPostView>(renderFormPost, formPostViews),
  ...of<FormPostView>(renderSamlPost, samlPostViews),
  ...of<DeviceView>(renderDevice, deviceViews),
  ...of<LogoutView>(renderLogout, logoutViews),
  ...of<SignedOutView>(renderSignedOut, signedOutViews),
  ...of<HomeView>(renderHome, homeViews),
  ...of<TryItView>(renderTryIt, tryItViews),
  ...of<TryItFailedView>(renderTryItFailed, tryItFailedViews),
  ...of<ErrorView>(renderError, errorViews),
  ...of<ClosedView>(renderClosed, closedViews),
  ...of<OpenedView>(renderOpened, openedViews),
  ...of<SignInsView>(renderSignIns, signInsViews),
  ...of<SignInView>(renderSignIn, signInViews),
  ...of<UsersView>(renderUsers, usersViews),
  ...of<ClientsView>(renderClients, clientsViews),
  ...of<GrantsView>(renderGrants, grantsViews),
  ...of<TestingView>(renderTesting, testingViews),
  ...of<TokensView>(renderTokens, tokensViews),
  ...of<FixturesView>(renderFixtures, fixturesViews),
  ...of<ConfirmView>(renderConfirm, confirmViews),
];

const kinds = [
  ["account-gone", "account-many", "account-revoke", "account-saved"],
  ["account-passkey-added", "account-passkey-refused", "account-passkey-removed"],
  [
    "factor-banned",
    "factor-error-otp",
    "factor-otp-typed",
    "factor-otp-used",
    "factor-passkey-both",
    "factor-passkey-insecure",
  ],
  [
    "consent-again",
    "consent-default",
    "consent-document",
    "consent-every-field",
    "consent-finished",
    "consent-new-host",
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
    "inspector-confirm-reset",
    "inspector-fixtures",
    "inspector-fixtures-problems",
    "inspector-forbidden",
    "inspector-grants",
    "inspector-opened",
    "inspector-sign-in-create",
    "inspector-sign-in-fix",
    "inspector-sign-in-fixed",
    "inspector-sign-in-again",
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
    "inspector-tokens-made",
    "inspector-users-done",
    "inspector-users-issuers",
  ],
  ["error-other-user", "error-redirect-uri", "form-post", "saml-post", "logout", "signed-out-no-hint"],
].flat();

/** One page of each kind. Together they show every element that any page shows. */
export const oneOfEachKind: readonly Sample[] = samples.filter(({ name }) => kinds.includes(name));
