import type { AccountView } from "../../../src/http/pages/account.ts";
import { unbranded, personOf } from "../../../src/http/pages/views.ts";
import type { FactorView } from "../../../src/http/pages/factor.ts";

/** The page that asks for a second step, in each of its states; and what the account page shows of factors. */

const user = personOf({
  username: "alice",
  displayName: "Alice Adams",
  email: "alice@example.com",
  status: "active",
  avatar: { baseUrl: "", path: "", color: "#4f46e5" },
  claims: {},
  note: null,
});

const otp: FactorView = {
  lang: "en",
  theme: "system",
  keptQuery: "",
  base: "",
  brand: unbranded,
  state: "otp",
  action: "/interaction/f7Q2/factor",
  csrf: "c5rf",
  client: { id: "demo-app", name: "Demo App" },
  user,
  asked: "otp",
  instead: null,
  insteadHref: null,
  cancelHref: null,
  elsewhere: null,
  code: { code: "287082", expiresIn: 42 },
  button: false,
  options: null,
  insecure: false,
  details: [{ name: "acr_values", value: "urn:mfa" }],
  notes: [],
};
const passkey: FactorView = { ...otp, state: "passkey", asked: "passkey", code: null, options: '{"challenge":"Y2g"}' };

export const factorViews = {
  "factor-otp": otp,
  "factor-otp-typed": {
    ...otp,
    code: null,
    client: null,
    cancelHref: "/account",
    details: [],
    instead: "passkey",
    insteadHref: "?instead=passkey",
  },
  "factor-otp-used": { ...otp, code: { code: null, wait: 12 } },
  "factor-error-otp": { ...otp, state: "error-otp" },
  "factor-passkey": { ...passkey, instead: "otp", insteadHref: "?instead=otp" },
  "factor-passkey-button": { ...passkey, options: null, button: true },
  "factor-passkey-both": { ...passkey, button: true },
  "factor-passkey-insecure": { ...passkey, options: null, button: true, insecure: true },
  "factor-passkey-elsewhere": { ...passkey, options: null, elsewhere: "http://localhost:4370" },
  "factor-error-passkey": { ...passkey, state: "error-passkey" },
} satisfies Record<string, FactorView>;

type Factors = Pick<AccountView, "factors" | "passkeys" | "passkeyOptions" | "passkeysWork" | "outcome">;

/** What each shows of factors, beside the rest of the page. */
export const ownFactors = {
  "account-passkey-added": {
    factors: ["otp", "passkey"],
    passkeys: [{ id: "cred-1", since: "2026-11-20T12:04:00.000Z" }],
    passkeyOptions: '{"challenge":"Y2g"}',
    passkeysWork: true,
    outcome: { kind: "passkey-added" },
  },
  "account-passkey-refused": {
    factors: ["otp"],
    passkeys: [],
    passkeyOptions: null,
    passkeysWork: true,
    outcome: { kind: "passkey-refused" },
  },
  "account-passkey-removed": {
    factors: [],
    passkeys: [],
    passkeyOptions: null,
    passkeysWork: false,
    outcome: { kind: "passkey-removed" },
  },
} satisfies Record<string, Factors>;
