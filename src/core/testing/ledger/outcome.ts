import { cut } from "../../../text/redacted.ts";

/** What happened to a request that was not refused. Whoever shows it makes the text. */

/** By its kind: the words of the log and of the JSON. The values stand in place of their names. */
const words = {
  "login-page": "login page",
  "factor-page": "factor page",
  "consent-page": "consent page",
  "account-page": "account page",
  "sign-out-page": "sign-out page",
  "back-to-the-client-with-a-code": "back to the client with a code",
  "back-to-the-service-provider": "back to the service provider with an assertion",
  "kept-for-cookies": "kept until the browser comes with its cookies",
  "to-authorization": "to the authorization endpoint",
  refused: "refused",
  "signed-in": "signed in",
  "signed-out": "signed out",
  "signed-out-by-token": "signed out by refresh token",
  "signed-out-everywhere": "signed out everywhere: {sessions}",
  "stays-signed-in": "stays signed in",
  "no-session-ended": "no session ended",
  "session-ended": "session ended",
  "request-pushed": "request pushed",
  "client-registered": "client registered",
  tokens: '{grant}: {tokens} for "{scope}"',
  "tokens-without-scope": "{grant}: {tokens}",
  active: "active",
  inactive: "inactive",
  revoked: "revoked: {what}",
  "nothing-to-revoke": "nothing to revoke",
  "userinfo-called": "UserInfo called",
  "device-waits-for-its-user": "device waits for its user",
  "device-allowed": "device allowed",
  "device-denied": "device denied",
  "access-removed": "access removed",
  "had-no-access": "had no access",
  "preferences-kept": "language and theme kept",
  "passkey-added": "passkey added",
  "passkey-removed": "passkey removed",
  "passkey-refused": "passkey refused",
  "logout-token-delivered": "logout token delivered",
  "revocation-delivered": "revocation delivered",
  "scim-answered": "{method} answered",
  "snapshot-restored": "restored the snapshot {name}",
  operation: "{name}",
  "cut-off": "the connection was closed before the response",
} as const;

export type OutcomeKind = keyof typeof words;

export interface Outcome {
  readonly kind: OutcomeKind;
  readonly values?: Readonly<Record<string, string>>;
  /** What the user proved first: "code". */
  readonly proof?: string;
  readonly remarks?: readonly string[];
}

/** Characters: the sender of a request chooses how long some values are. */
const maxLength = 500;

export function outcomeText({ kind, values = {}, proof, remarks = [] }: Outcome): string {
  const what = words[kind].replaceAll(/\{(\w+)\}/g, (_, name: string) => values[name] ?? "");
  return cut([proof === undefined ? what : `${proof}, then ${what}`, ...remarks].join("; "), maxLength);
}

/** The outcome with its texts as a function changes them. */
export const outcomeIn = ({ kind, values, proof, remarks }: Outcome, text: (text: string) => string): Outcome => ({
  kind,
  ...(values !== undefined && {
    values: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, text(value)])),
  }),
  ...(proof !== undefined && { proof }),
  ...(remarks !== undefined && { remarks: remarks.map(text) }),
});
