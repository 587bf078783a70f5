import { singleFactor } from "../records/step-up/proofs.ts";
import type { Context } from "../context.ts";
import { factorsOfAcr, isReachableAcr, reachableAcr } from "../records/step-up/acr.ts";

/** What an AuthnRequest asks a sign-in to prove (RequestedAuthnContext, SAML Core 3.3.2.2.1). A class is a value of `acr`. */

export const comparisons = ["exact", "minimum", "maximum", "better"] as const;

export interface AskedContext {
  readonly comparison: (typeof comparisons)[number];
  /** In the order of the request. */
  readonly classes: readonly string[];
}

/** A class that would do, and the value of `acr` that stands for it here. */
export interface ContextChoice {
  readonly name: string;
  readonly acr: string;
}

const classes = "urn:oasis:names:tc:SAML:2.0:ac:classes:";
const byDefault = `${classes}PasswordProtectedTransport`;
/**
 * Libraries ask for these by default, so any sign-in meets them: with a password, or by the picker. `unspecified` means by whatever means
 * (SAML Authentication Context 3.4.25).
 */
const usual = [byDefault, `${classes}Password`, `${classes}unspecified`];

export const isUsualClass = (name: string): boolean => usual.includes(name);

const acrOf = (name: string): string => (isUsualClass(name) ? singleFactor : name);

/** How many factors a class stands for; undefined: nobody defined it. */
function strength(ctx: Context, name: string): number | undefined {
  const factors = factorsOfAcr(ctx, acrOf(name));
  return factors === undefined ? undefined : Math.max(1, factors.length);
}

/** The classes that would do, best first; empty: none can be reached here. */
export function choicesOf(ctx: Context, { comparison, classes: asked }: AskedContext): readonly ContextChoice[] {
  const reachable = reachableAcr(ctx);
  const isReachable = (name: string): boolean => isReachableAcr(ctx, acrOf(name));
  const choice = (name: string): ContextChoice => ({ name, acr: acrOf(name) });
  if (comparison === "exact") return asked.filter(isReachable).map(choice);
  const strengths = asked.map((name) => strength(ctx, name)).filter((one) => one !== undefined);
  if (strengths.length === 0) return [];
  const [least, most] = [Math.min(...strengths), Math.max(...strengths)];
  const fits = (name: string): boolean => {
    const own = strength(ctx, name) ?? 0;
    return comparison === "minimum" ? own >= least : comparison === "better" ? own > most : own <= most;
  };
  // Those of the request come first among the equally strong.
  const all = [...new Set([...asked, ...reachable])].filter((name) => isReachable(name) && fits(name));
  const sign = comparison === "maximum" ? -1 : 1;
  return all
    .map(choice)
    .sort((one, other) => sign * ((strength(ctx, one.name) ?? 0) - (strength(ctx, other.name) ?? 0)));
}

/**
 * The class that an assertion reports: the one of the request that was met, else the value of the setting `acr` that was.
 * @param acr what the sign-in reached, the value of the most factors where nobody asked
 */
export const reportedClass = (choices: readonly ContextChoice[], acr: string): string =>
  choices.find((choice) => choice.acr === acr)?.name ?? (acr === singleFactor ? byDefault : acr);
