import { delimiter } from "node:path";
import type { Settings } from "../../core/context.ts";
import { findFixtures, type FoundFixtures } from "../../fixture-files.ts";
import type { Invocation } from "../invocation.ts";

/** What the commands that run a server have in common: fixtures, and settings that win over those of fixtures. */

/** As commander reads them. */
export interface SettingsFlags {
  readonly fixtures?: readonly string[];
  readonly login?: string;
  readonly consent?: Settings["consent"];
  readonly codeTtl?: number;
  readonly accessTokenTtl?: number;
  readonly refreshTokenTtl?: number;
  readonly sessionTtl?: number;
  readonly refreshRotation?: Settings["refresh_rotation"];
  readonly refreshGrace?: number;
  readonly accessTokenAlg?: Settings["access_token_alg"];
  readonly accessTokenTyp?: Settings["access_token_typ"];
  readonly userinfoFormat?: Settings["userinfo_format"];
  readonly idTokenClaims?: Settings["id_token_claims"];
  readonly httpRedirectHosts?: readonly string[];
  readonly anyLoopbackPort?: boolean;
  readonly registrationLoopback?: boolean;
}

/** The flags that are settings, under the names of fixtures. */
export function settingsOf(flags: SettingsFlags): Partial<Settings> {
  const given: Partial<{ -readonly [K in keyof Settings]: Settings[K] | undefined }> = {
    login: flags.login,
    consent: flags.consent,
    code_ttl: flags.codeTtl,
    access_token_ttl: flags.accessTokenTtl,
    refresh_token_ttl: flags.refreshTokenTtl,
    session_ttl: flags.sessionTtl,
    refresh_rotation: flags.refreshRotation,
    refresh_grace: flags.refreshGrace,
    access_token_alg: flags.accessTokenAlg,
    access_token_typ: flags.accessTokenTyp,
    userinfo_format: flags.userinfoFormat,
    id_token_claims: flags.idTokenClaims,
    http_redirect_hosts: flags.httpRedirectHosts,
    any_loopback_port: flags.anyLoopbackPort,
    registration_loopback: flags.registrationLoopback,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

/** The paths that `--fixtures` or IDP_FIXTURES name (several with the separator of PATH between them). */
export const fixturePaths = (cli: Invocation, flags: SettingsFlags): readonly string[] =>
  flags.fixtures ?? cli.env.IDP_FIXTURES?.split(delimiter) ?? [];

/** The fixtures that are named, else those of the working folder, else the demo. */
export function fixturesOf(cli: Invocation, flags: SettingsFlags): FoundFixtures {
  return findFixtures(fixturePaths(cli, flags), process.cwd());
}
