import type { Attempt } from "../attempt.ts";
import { notReached, notRequired, type Finding } from "../../frame/verdict.ts";
import { flawCases } from "./flaw-case.ts";

/** Flaws of the documents that an app keeps: the keys and the metadata. */

const cached = ({ canRestart }: Attempt, what: string): Finding | null =>
  canRestart ? null : notReached(`the app did not fetch ${what}: it has them already. With -- CMD it is started again`);

export const keysCases = flawCases(
  {
    prefix: "keys",
    endpoint: "jwks",
    ofClient: false,
    restarts: true,
    absent: (attempt) =>
      cached(attempt, "the keys") ??
      notRequired("never fetched the keys", "OpenID Connect Core 3.1.3.7 (6): TLS may take the place of the signature"),
  },
  [
    {
      flaw: "keys-rotated",
      must: "work",
      mustNot: "a key that the set lacked at first ends all sign-ins",
      should: "read the keys again, then accept",
      paragraph: "OpenID Connect Core 10.1.1",
      fix: "let the library fetch the keys where a kid is unknown, and do not keep a copy of them",
    },
    {
      flaw: "keys-empty",
      must: "refuse",
      mustNot: "an ID token is accepted although no key is published",
      should: "refuse the ID token",
      paragraph: "OpenID Connect Core 10.1, RFC 7517 5",
      fix: "end the sign-in where no key fits, do not skip the signature",
    },
    {
      flaw: "keys-duplicate-kid",
      must: "either",
      mustNot: "two keys with one kid end the app",
      should: "try both, or refuse the ID token",
      paragraph: "RFC 7517 4.5",
      fix: "try each key that fits",
    },
  ],
);

export const discoveryCases = flawCases(
  {
    prefix: "discovery",
    endpoint: "discovery",
    ofClient: false,
    restarts: true,
    absent: (attempt) =>
      cached(attempt, "the metadata") ?? notReached("the app never fetched the metadata: its addresses are configured"),
  },
  [
    {
      flaw: "issuer-mismatch",
      must: "refuse",
      mustNot: "the metadata of another issuer is used",
      should: "refuse the document",
      paragraph: "OpenID Connect Discovery 4.3, RFC 8414 3.3",
      fix: "compare issuer of the metadata with the issuer that you asked",
    },
  ],
);
