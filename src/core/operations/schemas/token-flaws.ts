import type { z } from "zod";
import { atMostOne } from "./rules.ts";

/** What may be wrong with a token that is issued on purpose: the same for tokens of users, clients and workloads. */

/** At most one of each group: two would contradict each other. */
const groups = [
  ["expired", "not_yet_valid", "missing_expiry"],
  ["wrong_issuer", "missing_issuer", "issuer_prefix", "issuer_slash"],
  ["wrong_audience", "missing_audience", "audience_contains"],
  ["bad_signature", "unknown_kid", "alg_none"],
] as const;

export const tokenFlawFields = (zod: Pick<typeof z, "boolean">) => {
  const flag = zod.boolean().optional();
  return {
    expired: flag,
    not_yet_valid: flag,
    wrong_issuer: flag,
    wrong_audience: flag,
    missing_issuer: flag,
    missing_audience: flag,
    missing_expiry: flag,
    issuer_prefix: flag,
    issuer_slash: flag,
    audience_contains: flag,
    wrong_type: flag,
    crit: flag,
    bad_signature: flag,
    unknown_kid: flag,
    alg_none: flag,
  };
};

/** Two flaws of one group would contradict each other. */
export const noFlawsTogether = groups.map((flaws) =>
  atMostOne(flaws, ([, ...others]) => `excludes ${others.join(" and ")}. Make a token for each`),
);
