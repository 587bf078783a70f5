import { delimiter } from "node:path";
import type { Settings } from "../core/context.ts";
import { OperationError } from "../core/errors.ts";
import { nearest } from "../core/nearest.ts";
import { findFixtures, type FoundFixtures } from "../fixture-files.ts";
import type { Idp } from "../index.ts";
import type { Invocation } from "./invocation.ts";

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

/**
 * `--login auto:alice` means somebody: a user that is not there would be a login page where none is expected.
 * @throws {OperationError} not_found
 */
export async function checkAutomaticLogin(idp: Idp, { login }: SettingsFlags): Promise<void> {
  const username = /^auto:(.+)$/.exec(login ?? "")?.[1];
  if (username === undefined) return;
  await idp.call("users.show", { username }).catch(async (error: unknown) => {
    const known = await idp.call("users.list", { limit: lookedAt });
    throw unknownHere(
      error,
      username,
      known.map((user) => user.username),
    );
  });
}

/** So many names are looked at, and so many are told. */
const lookedAt = 200;
const told = 10;

/** The refusal of a name, with those that this server knows: no other command sees it, so none can list them. */
export function unknownHere(error: unknown, given: string, known: readonly string[]): unknown {
  if (!(error instanceof OperationError) || error.code !== "not_found") return error;
  const meant = nearest(given, known);
  const names = known.slice(0, told).join(", ");
  const all = known.length === 0 ? "there are none" : `there are ${names}${known.length > told ? ", …" : ""}`;
  return new OperationError("not_found", `${error.message}: ${all}`, {
    ...(meant !== undefined && { hint: `Did you mean ${meant}?` }),
  });
}
