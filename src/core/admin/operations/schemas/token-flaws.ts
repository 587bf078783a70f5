import * as z from "zod";
import { excludingFlaws, tokenFlaws, type TokenFlaw } from "../../../testing/controls/faults/flaws/access-token.ts";
import { atMostOne } from "./rules.ts";

/** What may be wrong with a token that is issued on purpose: the same for tokens of users, clients and workloads. */

const flag = z.boolean().optional();

export const tokenFlawFields = Object.fromEntries(tokenFlaws.map((flaw) => [flaw, flag])) as Record<
  TokenFlaw,
  typeof flag
>;

/** Two flaws of one group would contradict each other. */
export const noFlawsTogether = excludingFlaws.map((flaws) =>
  atMostOne(flaws, ([, ...others]) => `excludes ${others.join(" and ")}. Make a token for each`),
);
