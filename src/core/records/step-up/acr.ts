/*
 * core/records/step-up: how strongly a sign-in proves who somebody is. proofs.ts lists the factors and says where passkeys work, acr.ts says
 * which `acr` and `amr` a sign-in reached, and otp.ts computes and takes one-time codes.
 */
import { singleFactor, worksAt, type Factor, type Met, type Proof } from "./proofs.ts";
import type { Client, Interaction, Session, User } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { OAuthError } from "../../base/errors.ts";
import { splitScope } from "../scopes/scopes.ts";

/** `acr` reports what happened, never what was requested. A session keeps the factors that it met, each with its time. */

/** The claims `acr`, `auth_time` and `amr` that tokens say about a sign-in. */
export interface AuthenticationInfo {
  readonly acr: string;
  /** Seconds since 1970: of the oldest factor that `acr` rests on. */
  readonly authTime: number;
  /** RFC 8176. */
  readonly amr: readonly string[];
}

/** The factors that meet a value; undefined: nobody defined it. */
export function factorsOfAcr({ settings }: Pick<Context, "settings">, value: string): readonly Factor[] | undefined {
  if (Object.hasOwn(settings.acr, value)) return settings.acr[value];
  return value === singleFactor ? [] : undefined;
}

/** Whether a sign-in can reach this value. */
export function isReachableAcr(ctx: Pick<Context, "settings" | "address" | "offersPicker">, value: string): boolean {
  const factors = factorsOfAcr(ctx, value);
  return factors !== undefined && (!factors.includes("passkey") || ctx.offersPicker || worksAt(ctx.address));
}

/** `acr_values_supported` of the metadata: the values that a sign-in can reach. */
export const reachableAcr = (ctx: Pick<Context, "settings" | "address" | "offersPicker">): readonly string[] =>
  [...new Set([...Object.keys(ctx.settings.acr), singleFactor])].filter((value) => isReachableAcr(ctx, value));

/**
 * Checks an essential `acr` of the `claims` parameter. Without values, any sign-in meets it.
 * @throws {OAuthError} unmet_authentication_requirements (OpenID Connect Core 5.5.1.1, RFC 9470 5)
 */
export function checkEssentialAcr(
  ctx: Pick<Context, "settings" | "address" | "offersPicker">,
  values: readonly string[],
): void {
  if (values.length === 0 || values.some((value) => isReachableAcr(ctx, value))) return;
  const reachable = reachableAcr(ctx);
  throw new OAuthError("unmet_authentication_requirements", unreachable(values, reachable), {
    rule: "OpenID Connect Core 5.5.1.1",
    fix: askReachable(reachable),
  });
}

/** The values of `acr_values`; without that parameter, those that the client asks for by default (OpenID Connect Registration 2). */
export const acrValuesOf = (
  { default_acr_values: byDefault = [] }: Pick<Client, "default_acr_values">,
  sent: string | undefined,
): readonly string[] => (sent === undefined ? byDefault : splitScope(sent));

export const unreachable = (values: readonly string[], reachable: readonly string[]): string =>
  `no sign-in here reaches acr '${values.join(" ")}'; it can be '${reachable.join(" ")}'`;

export const askReachable = (reachable: readonly string[]): string =>
  `ask for one of: ${reachable.join(" ")}, or define the value under "acr" in the settings of a fixture file`;

/** The factors that a user has beside the password: those of the record, and a passkey once one is registered. */
export function factorsOf({ factors = [], passkeys = [] }: User): readonly ("otp" | "passkey")[] {
  return passkeys.length === 0 || factors.includes("passkey") ? factors : [...factors, "passkey"];
}

/** Whether a user can meet a factor on the pages as they are now. */
export function canMeet(ctx: Pick<Context, "address" | "offersPicker">, user: User, factor: Factor): boolean {
  if (factor === "pwd") return user.passwordHash !== null || user.passwordPending;
  if (factor === "otp") return factorsOf(user).includes("otp");
  return offersButton(ctx, user) || ((user.passkeys ?? []).length > 0 && worksAt(ctx.address));
}

/** The button in place of a passkey is for test users, and only where the picker would be shown. */
export const offersButton = ({ offersPicker }: Pick<Context, "offersPicker">, { factors = [] }: User): boolean =>
  offersPicker && factors.includes("passkey");

/** The proofs that a session has, and when each was given. */
export const metOf = ({ factors, amr, authTime }: Session): Met => ({
  ...factors,
  [amr[0] === "pwd" ? "pwd" : "user"]: authTime,
});

/** The proofs that were given in this interaction, by the user of this session. */
export const givenIn = ({ login }: Pick<Interaction, "login">, user: User): readonly Proof[] =>
  login !== null && login !== "canceled" && login.userId === user.id ? (login.met as readonly Proof[]) : [];

const timeOf = (met: Met, factor: Factor): number | undefined =>
  met[factor] ?? (factor === "passkey" ? met.button : undefined);

export const missing = (met: Met, factors: readonly Factor[]): readonly Factor[] =>
  factors.filter((factor) => timeOf(met, factor) === undefined);

function isMet(ctx: Pick<Context, "settings">, met: Met, value: string): boolean {
  const factors = factorsOfAcr(ctx, value);
  return factors !== undefined && missing(met, factors).length === 0;
}

/** The `acr` values that were met, those of the most factors first. */
function metValues(ctx: Pick<Context, "settings">, met: Met): readonly string[] {
  const values = Object.keys(ctx.settings.acr).filter((value) => isMet(ctx, met, value));
  const size = (value: string): number => factorsOfAcr(ctx, value)?.length ?? 0;
  return values.sort((one, other) => size(other) - size(one));
}

/**
 * @param met what counts: of a session, or what is fresh enough of it
 * @param wanted the values that were asked for, best first: the first one that was met is reported
 */
export function authenticationInfoOf(
  ctx: Pick<Context, "settings">,
  met: Met,
  wanted: readonly string[] = [],
): AuthenticationInfo {
  const acr = wanted.find((value) => isMet(ctx, met, value)) ?? metValues(ctx, met)[0] ?? singleFactor;
  const times = (factorsOfAcr(ctx, acr) ?? []).flatMap((factor) => timeOf(met, factor) ?? []);
  const base = Math.max(...[met.user, met.pwd].filter((time) => time !== undefined));
  const any = Number.isFinite(base) ? base : Math.max(...Object.values(met));
  return { acr, authTime: times.length > 0 ? Math.min(...times) : any, amr: amrOf(met) };
}

/** RFC 8176. The button proves nothing, so it adds nothing. */
export function amrOf(met: Met): readonly string[] {
  const real = [
    ...(met.pwd === undefined ? [] : ["pwd"]),
    ...(met.otp === undefined ? [] : ["otp"]),
    ...(met.passkey === undefined ? [] : ["hwk"]),
  ];
  const all = real.length === 0 || (met.pwd === undefined && met.user !== undefined) ? ["user", ...real] : real;
  return real.length > 1 ? [...all, "mfa"] : all;
}
