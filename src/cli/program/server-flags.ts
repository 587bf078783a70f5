import type { Settings } from "../../core/context.ts";
import { decodeFixture } from "../../core/fixture-files/source.ts";
import { findFixtures, type FoundFixtures, type NamedFixture } from "../../serve/fixture-files.ts";
import { readBytes } from "../input/stdin.ts";
import type { Invocation } from "../invocation.ts";
import { valuesOf } from "./variables.ts";

/** What the commands that run a server share: fixtures, and settings that replace those of fixtures. */

/** As commander reads them. */
export interface SettingsFlags {
  readonly fixtures?: readonly string[];
  readonly login?: string;
  readonly consent?: Settings["consent"];
  readonly factors?: Settings["factors"];
  readonly codeTtl?: number;
  readonly accessTokenTtl?: number;
  readonly refreshTokenTtl?: number;
  readonly sessionTtl?: number;
  readonly refreshRotation?: Settings["refresh_rotation"];
  readonly refreshGrace?: number;
  readonly accessTokenAlg?: Settings["access_token_alg"];
  readonly accessTokenTyp?: Settings["access_token_typ"];
  readonly dpopNonce?: Settings["dpop_nonce"];
  readonly userinfoFormat?: Settings["userinfo_format"];
  readonly idTokenClaims?: Settings["id_token_claims"];
  readonly httpRedirectHosts?: readonly string[];
  readonly anyLoopbackPort?: boolean;
  readonly registrationLoopback?: boolean;
  readonly mcp?: boolean;
  readonly clientMetadataDocuments?: boolean;
  readonly clientMetadataLoopback?: boolean;
  readonly endpoints?: Settings["endpoints"];
}

/** The flags that are settings, by their names in fixtures. */
export function settingsOf(flags: SettingsFlags): Partial<Settings> {
  const given: Partial<{ -readonly [K in keyof Settings]: Settings[K] | undefined }> = {
    login: flags.login,
    consent: flags.consent,
    factors: flags.factors,
    code_ttl: flags.codeTtl,
    access_token_ttl: flags.accessTokenTtl,
    refresh_token_ttl: flags.refreshTokenTtl,
    session_ttl: flags.sessionTtl,
    refresh_rotation: flags.refreshRotation,
    refresh_grace: flags.refreshGrace,
    access_token_alg: flags.accessTokenAlg,
    access_token_typ: flags.accessTokenTyp,
    dpop_nonce: flags.dpopNonce,
    userinfo_format: flags.userinfoFormat,
    id_token_claims: flags.idTokenClaims,
    http_redirect_hosts: flags.httpRedirectHosts,
    any_loopback_port: flags.anyLoopbackPort,
    registration_loopback: flags.registrationLoopback,
    mcp: flags.mcp,
    client_metadata_documents: flags.clientMetadataDocuments,
    client_metadata_loopback: flags.clientMetadataLoopback,
    endpoints: flags.endpoints,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** The values of `--fixtures` or IDP_FIXTURES: paths, `-`, or the text of a file. */
export const fixturePaths = (cli: Invocation, flags: SettingsFlags): readonly string[] =>
  flags.fixtures ?? (cli.env.IDP_FIXTURES === undefined ? [] : valuesOf(cli.env.IDP_FIXTURES));

/** Reads standard input for `-`. It can be read only once. */
export async function withStdin(cli: Invocation, paths: readonly string[]): Promise<readonly NamedFixture[]> {
  if (!paths.includes("-")) return paths;
  const stdin = { name: "stdin", text: decodeFixture("stdin", await readBytes(cli.stdin)) };
  return paths.map((path) => (path === "-" ? stdin : path));
}

/** The named fixtures, else those of the working folder, else the demo. */
export function fixturesOf(cli: Invocation, flags: SettingsFlags): FoundFixtures {
  return findFixtures(fixturePaths(cli, flags), process.cwd());
}
