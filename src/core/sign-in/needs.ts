import type { Factor, Met, Proof } from "../records/step-up/proofs.ts";
import type { Interaction, User } from "../../store/store.ts";
import type { Context } from "../context.ts";
import type { LiveSession } from "./sessions/sessions.ts";
import { OAuthError } from "../base/errors.ts";
import { ownPagePurpose, type Needs, type Purpose } from "./purpose.ts";
import { seconds } from "../../text/time.ts";
import {
  askReachable,
  canMeet,
  factorsOf,
  factorsOfAcr,
  givenIn,
  metOf,
  missing,
  isReachableAcr,
  reachableAcr,
  authenticationInfoOf,
  unreachable,
  type AuthenticationInfo,
} from "../records/step-up/acr.ts";

/** The proofs that a sign-in still needs: the user again, or another factor. `nextStep` asks here, and nothing else decides it. */

type Facts = Pick<Interaction, "login">;

/** What is missing, in the order in which it is asked for. */
interface Missing {
  /** The user has to sign in. */
  readonly login: boolean;
  /** The factors of the first `acr` that the user can meet. */
  readonly factors: readonly Factor[];
  /** The first missing factors of the other values that would do. */
  readonly instead: readonly Factor[];
}

/** The values of `acr` that were asked for and that can be reached here; others are ignored (OpenID Connect Core 3.1.2.1). */
const knownValues = (ctx: Context, { acr }: Needs): readonly string[] =>
  acr === "factor" ? [] : acr.filter((value) => isReachableAcr(ctx, value));

/**
 * The ways in which this user can give what is asked for, best first: each is a list of factors. One empty way: nothing is asked for.
 * @throws what the purpose refuses with, where the user has no way (OpenID Connect Core 5.5.1.1, RFC 9470 5)
 */
function waysOf(ctx: Context, purpose: Purpose, user: User): readonly (readonly Factor[])[] {
  const { needs } = purpose;
  if (needs.acr === "factor") {
    const own = factorsOf(user).filter((factor) => canMeet(ctx, user, factor));
    if (own.length > 0) return own.map((factor) => [factor]);
    // Nothing to prove, or a factor that was only allowed so far.
    if (user.passkeys === undefined) return [[]];
    throw purpose.refuse(
      "unmet_authentication_requirements",
      `${user.username} has a passkey, and browsers allow none at this address`,
      { rule: "RFC 9470 5", fix: "open the server as http://localhost or with https (idp start --https)" },
    );
  }
  const known = knownValues(ctx, needs);
  if (known.length === 0 && (needs.acr.length === 0 || !needs.acrIsEssential)) return [[]];
  const ways = known
    .map((value) => factorsOfAcr(ctx, value) ?? [])
    .filter((factors) => factors.every((factor) => canMeet(ctx, user, factor)));
  if (ways.length > 0) return ways;
  const asked = needs.acr.join(" ");
  throw purpose.refuse(
    "unmet_authentication_requirements",
    known.length === 0
      ? unreachable(needs.acr, reachableAcr(ctx))
      : `${user.username} cannot meet acr '${asked}': it needs ${known.map((value) => factorsOfAcr(ctx, value)?.join(" and ")).join(", or ")}`,
    known.length === 0
      ? { rule: "OpenID Connect Core 5.5.1.1", fix: askReachable(reachableAcr(ctx)) }
      : {
          rule: "RFC 9470 5",
          fix: { text: "To see what the user has", command: ["idp", "users", "show", user.username] },
        },
  );
}

/** `prompt=login`; `max_age=0` means the same (OpenID Connect Core 3.1.2.1). */
const isAgain = ({ login, maxAge }: Needs): boolean => login === "again" || maxAge === 0;

/** The proofs of a session that count: those that are recent enough, and those given in this interaction. */
function countedOf(ctx: Context, needs: Needs, interaction: Facts, { session, user }: LiveSession): Met {
  const given = givenIn(interaction, user);
  const counts = (proof: Proof, at: number): boolean =>
    given.includes(proof) || (!isAgain(needs) && (needs.maxAge === null || seconds(ctx) - at <= needs.maxAge));
  return Object.fromEntries(Object.entries(metOf(session)).filter(([proof, at]) => counts(proof as Proof, at)));
}

/** @throws what the purpose refuses with, where the user cannot meet what is asked for */
export function missingOf(ctx: Context, purpose: Purpose, interaction: Facts, live: LiveSession): Missing {
  const { needs } = purpose;
  const { user } = live;
  const given = givenIn(interaction, user);
  const hasSignedIn = given.includes("user") || given.includes("pwd");
  const mustSignIn = needs.login !== "once" || (needs.userId !== null && needs.userId !== user.id);
  if (!hasSignedIn && mustSignIn) return signInFirst;
  const counted = countedOf(ctx, needs, interaction, live);
  const ways = waysOf(ctx, purpose, user);
  // The first way is asked for, unless the user has chosen another one on the page.
  const chosen = ways.find((way) => way.some((factor) => hasGiven(given, factor))) ?? ways[0] ?? [];
  // Where a factor is asked for, it is what has to be recent; else the sign-in.
  if (chosen.length === 0 && counted.user === undefined && counted.pwd === undefined) return signInFirst;
  const factors = missing(counted, chosen);
  const others = ways
    .filter((way) => way !== chosen)
    .flatMap((way) => missing(counted, way).filter(onPage).slice(0, 1));
  const instead = others.filter((factor) => factor !== factors.find(onPage));
  return { login: factors.includes("pwd"), factors, instead: [...new Set(instead)] };
}

const signInFirst: Missing = { login: true, factors: [], instead: [] };

/** The factors that the page `factor` asks for; the login page asks for passwords. */
export type AskedFactor = Exclude<Factor, "pwd">;
export const onPage = (factor: Factor): factor is AskedFactor => factor !== "pwd";

const hasGiven = (given: readonly Proof[], factor: Factor): boolean =>
  onPage(factor) && (given.includes(factor) || (factor === "passkey" && given.includes("button")));

/** Whether a session is enough for one of our own pages, or for a device; `unmet`: the user has no way to give what is asked for. */
export function sessionStrength(ctx: Context, acr: Needs["acr"], live: LiveSession): "enough" | "factor" | "unmet" {
  try {
    const { login, factors } = missingOf(ctx, ownPagePurpose("", acr), { login: null }, live);
    return login || factors.length > 0 ? "factor" : "enough";
  } catch (error) {
    if (error instanceof OAuthError && error.code === "unmet_authentication_requirements") return "unmet";
    throw error;
  }
}

/** The claims about a sign-in that has proved all it needs. */
export function currentAuthenticationInfo(
  ctx: Context,
  needs: Needs,
  interaction: Facts,
  live: LiveSession,
): AuthenticationInfo {
  return authenticationInfoOf(ctx, countedOf(ctx, needs, interaction, live), knownValues(ctx, needs));
}
