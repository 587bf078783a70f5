import { notReached, type Case, type Finding } from "../../frame/verdict.ts";
import type { Attempt, Change } from "../attempt.ts";
import { newProofKey } from "../dpop.ts";
import { answered, judged, letsIn, unauthorized } from "../judge.ts";

/** Only with `--dpop`: a proof that does not fit (RFC 9449 4.3, 7). */

interface Row {
  readonly name: string;
  readonly mustNot: string;
  readonly paragraph: string;
  readonly fix: string;
  readonly change: (attempt: Attempt) => Change;
}

const check = "check the proof by RFC 9449 4.3: htm, htu, ath, iat, jti, and the thumbprint of its key against cnf.jkt";

const rows: readonly Row[] = [
  {
    name: "dpop-as-bearer",
    mustNot: "a bound token is let in as Bearer, without a proof",
    paragraph: "RFC 9449 7.2, 6",
    fix: "refuse a token with cnf.jkt in any other scheme than DPoP",
    change: () => ({ scheme: "Bearer", proof: null }),
  },
  {
    name: "dpop-method",
    mustNot: "a proof for another method is accepted",
    paragraph: "RFC 9449 4.3 (8)",
    fix: check,
    change: ({ api }) => ({ proof: { htm: api.method === "DELETE" ? "GET" : "DELETE" } }),
  },
  {
    name: "dpop-url",
    mustNot: "a proof for another address is accepted",
    paragraph: "RFC 9449 4.3 (9)",
    fix: check,
    change: () => ({ proof: { htu: "https://elsewhere.invalid/" } }),
  },
  {
    name: "dpop-token",
    mustNot: "a proof for another token is accepted",
    paragraph: "RFC 9449 4.3 (12), 7.1",
    fix: check,
    change: () => ({ proof: { ath: "fUHyO2r2Z3DZ53EsNrWBb0xWXoaNy59IiKCAqksmQEo" } }),
  },
  {
    name: "dpop-key",
    mustNot: "a proof of another key is accepted",
    paragraph: "RFC 9449 4.3 (12), 6.1",
    fix: check,
    change: () => ({ key: newProofKey() }),
  },
];

const should = "answer 401";

const dpopReplayed: Case<Attempt> = {
  name: "dpop-replayed",
  mustNot: "a proof is accepted twice",
  should,
  paragraph: "RFC 9449 4.3, 11.1",
  fix: "keep each jti as long as its iat is accepted, and refuse it the second time",
  async run(attempt): Promise<Finding> {
    const token = await attempt.token();
    const first = await attempt.send(token);
    if (!letsIn(first)) return notReached(`the first request was refused: ${answered(first)}`);
    const sameProof = attempt.prove(token);
    const used = await attempt.send(token, { sameProof });
    if (!letsIn(used)) return notReached(`the first request with this proof was refused: ${answered(used)}`);
    return judged(await attempt.send(token, { sameProof }), unauthorized);
  },
};

export const dpopCases: readonly Case<Attempt>[] = [
  ...rows.map(({ name, mustNot, paragraph, fix, change }) => ({
    ...{ name, mustNot, should, paragraph, fix },
    run: async (attempt: Attempt) => judged(await attempt.send(await attempt.token(), change(attempt)), unauthorized),
  })),
  dpopReplayed,
];
