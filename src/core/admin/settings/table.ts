/*
 * core/admin/settings: what fixtures, flags of `idp start` and programs may set. Each setting is one row here: the type, the JSON Schema, the flags
 * and docs/fields.md come from it. schema.ts checks the values that fixtures give, in-force.ts joins defaults, fixtures and flags.
 */
import { factorNames, type Factor } from "../../records/step-up/proofs.ts";
import type { BrandSetting } from "../../base/brand/schema.ts";
import { httpHostForm, httpHostProblem } from "../../records/redirect-uri.ts";
import type { EndpointsSetting } from "../../base/layout/layout.ts";
import { idTokenClaimSets, userinfoFormats } from "../../records/scopes/claim-table.ts";
import type { TrustedIssuerSetting } from "../../protocol/trust/trust.ts";
import { usernameForm } from "../../base/identifiers.ts";
import type { WorkloadSetting } from "../../protocol/workloads/kinds.ts";

interface Row<T> {
  readonly default: T;
  /** Begins in lower case, as the help of a flag does. */
  readonly help: string;
  /** A value for docs/fields.md, where the form does not give one. */
  readonly example?: string;
  /** The placeholder of the flag's value in the help; empty for a flag without a value; absent: the setting has no flag. */
  readonly flag?: string;
}

/** How a value is written. Those of `own` are in schema.ts, by the name of the setting. */
export type Form =
  | { readonly kind: "seconds"; readonly min: number }
  | { readonly kind: "choice"; readonly values: readonly string[] }
  | { readonly kind: "choices"; readonly values: readonly string[] }
  | { readonly kind: "on-off" | "switch" | "own" }
  /** Some words, or a text by the pattern. */
  | { readonly kind: "text"; readonly pattern: RegExp; readonly words: readonly string[]; readonly rule: string }
  | { readonly kind: "texts"; readonly pattern: RegExp; readonly wrong: (given: string) => string }
  | { readonly kind: "count"; readonly min: number; readonly max: number };

type Setting<T> = Row<T> & { readonly form: Form };

/** A length of time in seconds, which may be written as `5m`. */
const seconds = (min: 0 | 1, row: Row<number>): Setting<number> => ({
  ...row,
  flag: "<seconds>",
  form: { kind: "seconds", min },
});
const choice = <V extends string>(values: readonly V[], row: Row<NoInfer<V>>): Setting<V> => ({
  ...row,
  form: { kind: "choice", values },
});
const choices = <V extends string>(values: readonly V[], row: Row<readonly NoInfer<V>[]>): Setting<readonly V[]> => ({
  ...row,
  form: { kind: "choices", values },
});
/** YAML 1.2 reads `on` as text, YAML 1.1 as true; both are accepted. */
const onOff = (row: Row<"on" | "off">): Setting<"on" | "off"> => ({ ...row, form: { kind: "on-off" } });
const yesNo = (row: Row<boolean>): Setting<boolean> => ({ ...row, form: { kind: "switch" } });
const own = <T>(row: Row<T>): Setting<T> => ({ ...row, form: { kind: "own" } });

/** The settings, in the order of the help and of docs/fields.md. */
export const settings = {
  code_ttl: seconds(1, { default: 60, help: "lifetime of an authorization code", example: "5m" }),
  access_token_ttl: seconds(1, { default: 1800, help: "lifetime of an access token", example: "1h" }),
  refresh_token_ttl: seconds(1, { default: 604_800, help: "lifetime of a refresh token", example: "30d" }),
  session_ttl: seconds(1, { default: 86_400, help: "lifetime of a browser session", example: "8h" }),
  refresh_rotation: onOff({ default: "on", flag: "<on|off>", help: "issue a new refresh token at each refresh" }),
  /** For apps that refresh in parallel. */
  refresh_grace: seconds(0, { default: 0, help: "how long a rotated refresh token still works", example: "10" }),
  refresh_requires_offline_access: yesNo({
    default: false,
    flag: "",
    help: "issue a refresh token only where offline_access was granted",
  }),
  /** RS256: signed with the published key, for resource servers that verify by JWKS. */
  access_token_alg: choice(["HS256", "RS256"], {
    default: "HS256",
    flag: "<alg>",
    help: "RS256: for resource servers that verify by JWKS",
  }),
  /** `JWT`: for resource servers that do not accept `at+jwt` (RFC 9068 2.1). */
  access_token_typ: choice(["at+jwt", "JWT"], {
    default: "at+jwt",
    flag: "<typ>",
    help: "JWT: for resource servers that do not accept at+jwt",
  }),
  /** `required`: a DPoP proof needs a nonce of this server (RFC 9449 8, 9). */
  dpop_nonce: choice(["off", "required"], {
    default: "off",
    flag: "<how>",
    help: "required: DPoP proofs need a nonce of the server",
  }),
  userinfo_format: choice(userinfoFormats, {
    default: "combined",
    flag: "<form>",
    help: "the UserInfo format of clients that set none",
  }),
  id_token_claims: choice(idTokenClaimSets, {
    default: "all",
    flag: "<set>",
    help: "the claims in ID tokens of clients that set none",
  }),
  login: {
    default: "picker",
    flag: "<how>",
    help: "picker, password, or auto:<username> to sign in without a page",
    example: "auto:alice",
    form: {
      kind: "text",
      pattern: new RegExp(`^(?:picker|password|auto:${usernameForm.source.slice(1, -1)})$`),
      words: ["picker", "password"],
      rule: "must be one of picker, password, auto:<username>",
    },
  } satisfies Setting<string> as Setting<string>,
  consent: choice(["ask", "skip"], { default: "ask", flag: "<how>", help: "ask, or skip to approve without a page" }),
  acr: own<Readonly<Record<string, readonly Factor[]>>>({
    default: {},
    help: "values of acr, and the factors that meet each",
    example: "{ urn:mfa: [pwd, otp], phr: [passkey] }",
  }),
  factors: choices<Factor>(factorNames, {
    default: [],
    flag: "<factors>",
    help: "what the user of login auto: proves without a page, such as pwd,otp",
    example: "[pwd, otp]",
  }),
  /** Beyond loopback. */
  http_redirect_hosts: {
    default: [],
    flag: "<hosts>",
    help: "hosts that may use plain http, such as names in a container network",
    example: '[app, "*.app.internal"]',
    form: { kind: "texts", pattern: httpHostForm, wrong: (given: string) => httpHostProblem(given) ?? "" },
  } satisfies Setting<readonly string[]> as Setting<readonly string[]>,
  any_loopback_port: yesNo({
    default: false,
    flag: "",
    help: "let confidential clients register loopback redirect URIs with any port",
  }),
  registration_loopback: yesNo({
    default: false,
    flag: "",
    help: "let clients that register themselves use loopback addresses (jwks_uri, …)",
  }),
  mcp: yesNo({
    default: false,
    flag: "",
    help: "for MCP servers and clients: metadata documents, registration, RS256 access tokens",
  }),
  client_metadata_documents: yesNo({
    default: false,
    flag: "",
    help: "accept a client_id that is the https URL of its metadata document",
  }),
  client_metadata_loopback: yesNo({
    default: false,
    flag: "",
    help: "allow metadata documents on this machine, on plain http too",
  }),
  try_it: yesNo({ default: false, help: "the start page offers a sign-in to the built-in app" }),
  /** The picture is a data URL. */
  brand: own<BrandSetting>({
    default: {},
    help: "how the pages look: a name, an accent color, and a logo, which is a file beside the fixtures",
    example: '{ name: Acme, color: "#0f766e", logo: logo.svg }',
  }),
  ledger: {
    default: 1000,
    help: "how many requests idp requests and idp expect look at",
    example: "5000",
    form: { kind: "count", min: 1, max: 100_000 },
  } satisfies Setting<number> as Setting<number>,
  /** A vendor's name, or paths by their names. */
  endpoints: own<EndpointsSetting>({
    default: {},
    flag: "<paths>",
    help: 'the paths of auth0, okta, keycloak, cognito, entra, google, github or apple; or your own as JSON: {"token":"/token"}',
    example: "auth0",
  }),
  trusted_issuers: own<readonly TrustedIssuerSetting[]>({
    default: [],
    help: "other issuers whose ID-JAGs or workload tokens this issuer accepts",
    example: '[{ issuer: "https://idp.example.test", jwks_uri: "https://idp.example.test/jwks" }]',
  }),
  id_jag_reuse: onOff({ default: "off", help: "on: an ID-JAG passes again until it expires" }),
};

export type SettingName = keyof typeof settings;

type Values = { readonly [K in SettingName]: (typeof settings)[K] extends Setting<infer T> ? T : never };

/** What is in force; times are seconds. Flags win over fixtures. */
export interface Settings extends Values {
  /** The workloads by their names. Fixtures have them in a section of their own, and the data keeps them here. */
  readonly workloads: Readonly<Record<string, WorkloadSetting>>;
}

/** Each row with its name. */
export const settingRows = Object.entries(settings) as readonly (readonly [SettingName, Setting<unknown>])[];

/** What applies where neither fixtures nor flags say otherwise. */
export const defaultSettings = {
  ...Object.fromEntries(settingRows.map(([name, row]) => [name, row.default])),
  workloads: {},
} as unknown as Settings;
