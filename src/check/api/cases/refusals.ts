import { notReached, notRequired, type Case, type Finding } from "../../frame/verdict.ts";
import type { Attempt } from "../attempt.ts";
import { headerOf, requireJwt } from "../../shared/tokens.ts";
import { confused, unsigned, withEmptyFile, withoutSignature, withOtherPayload, withOwnKey } from "../forge.ts";
import { judged, letsIn, unauthorized } from "../judge.ts";

/** A token that is wrong in one respect, and must get 401 (RFC 6750 3.1 `invalid_token`). All are judged here. */

interface Row {
  readonly name: string;
  /** What must not let anybody in: "a token that has expired". */
  readonly token: string;
  readonly paragraph: string;
  readonly fix: string;
  /** Each of them must be refused. */
  readonly make: (attempt: Attempt) => Promise<readonly string[]>;
  /** Why the API may let it in, by the good token; null: it may not. */
  readonly mayPass?: (good: string) => Finding | null;
  /** The case that finds the same hole: where it went unnoticed, this one says nothing. */
  readonly within?: string;
}

const flawed =
  (change: Readonly<Record<string, unknown>>): Row["make"] =>
  async (attempt) => {
    const token = await attempt.token(change);
    // What is wrong with an opaque token is known where it was issued; only its end can be seen.
    if (!("expired" in change || "expired_10m" in change)) requireJwt(token);
    return [token];
  };
const forged =
  (bend: (good: string) => string | readonly string[]): Row["make"] =>
  async (attempt) =>
    [bend(await attempt.token())].flat();

const library = "verify with a library that is given issuer, audience and algorithms";
const algorithms = "name the algorithms that you accept, and never take them from the token: RS256";

const rows: readonly Row[] = [
  {
    name: "expired",
    token: "a token that expired an hour ago",
    paragraph: "RFC 9068 4, RFC 7519 4.1.4",
    fix: library,
    make: flawed({ expired: true }),
  },
  {
    name: "expired-10m",
    token: "a token that expired ten minutes ago",
    paragraph: "RFC 7519 4.1.4",
    fix: "allow clocks to be apart by a minute at most: clockTolerance, leeway or skew of the library",
    make: flawed({ expired_10m: true }),
  },
  {
    name: "not-yet",
    token: "a token whose nbf is an hour ahead",
    paragraph: "RFC 7519 4.1.5",
    fix: "compare nbf with the time, where a token has it",
    make: flawed({ not_yet_valid: true }),
  },
  {
    name: "signature-wrong",
    token: "a token with one wrong bit in its signature",
    paragraph: "RFC 9068 4, RFC 7515 5.2",
    fix: "verify the token, do not only decode it",
    make: flawed({ bad_signature: true }),
  },
  {
    name: "payload-changed",
    token: "a token whose sub was changed after it was signed",
    paragraph: "RFC 9068 4, RFC 7515 5.2",
    fix: "verify the token, do not only decode it",
    make: forged(withOtherPayload),
  },
  {
    name: "signature-missing",
    token: "a token without its signature",
    paragraph: "RFC 9068 4, RFC 7515 5.2",
    fix: "verify the token, do not only decode it",
    make: forged(withoutSignature),
  },
  {
    name: "alg-none",
    token: "a token that is not signed (alg none)",
    paragraph: "RFC 9068 4, RFC 8725 3.2",
    fix: algorithms,
    make: forged((good) => unsigned(good, "none")),
  },
  {
    name: "alg-none-mixed-case",
    token: "a token that is not signed (alg nOnE)",
    paragraph: "RFC 8725 3.2, RFC 7515 4.1.1",
    fix: algorithms,
    make: forged((good) => unsigned(good, "nOnE")),
  },
  {
    name: "alg-confusion",
    token: "a token signed by HS256 with the public key as the secret",
    paragraph: "RFC 8725 2.1, 3.1",
    fix: algorithms,
    make: async (attempt) => confused(await attempt.token(), await attempt.control.keys()),
  },
  {
    name: "key-embedded",
    token: "a token signed with a key that only its own header names",
    paragraph: "RFC 8725 3.10, RFC 7515 4.1.3",
    fix: "take keys from the issuer's jwks_uri alone, never from jwk, jku or x5u of a token",
    make: forged(withOwnKey),
  },
  {
    name: "kid-path",
    token: "a token whose kid is the path of an empty file, signed by HS256 with an empty key",
    paragraph: "RFC 8725 3.10, 3.1",
    fix: "look kid up among the keys of the issuer's jwks_uri, never as the name of a file or in a database",
    make: forged(withEmptyFile),
  },
  {
    name: "kid-unknown",
    token: "a token signed with a key that is not published",
    paragraph: "RFC 9068 4, RFC 7515 5.2",
    fix: "refuse where no published key has the kid",
    make: flawed({ unknown_kid: true }),
  },
  {
    name: "crit",
    token: "a token whose header crit names an extension that nobody knows",
    paragraph: "RFC 7515 4.1.11",
    fix: "verify with a library that refuses an unknown crit, or refuse a header that has crit",
    make: flawed({ crit: true }),
  },
  {
    name: "iss-wrong",
    token: "a token with another iss",
    paragraph: "RFC 9068 4, RFC 8725 3.8",
    fix: library,
    make: flawed({ wrong_issuer: true }),
  },
  {
    name: "iss-missing",
    token: "a token without iss",
    paragraph: "RFC 9068 2.2, 4",
    fix: library,
    make: flawed({ missing_issuer: true }),
  },
  {
    name: "iss-prefix",
    token: "a token whose iss is the issuer with more behind it",
    paragraph: "RFC 9068 4, RFC 8725 3.8",
    fix: "compare the whole iss with the issuer: ===, not startsWith or a pattern",
    make: flawed({ issuer_prefix: true }),
  },
  {
    name: "iss-slash",
    token: "a token whose iss has a slash at its end that the issuer has not",
    paragraph: "RFC 9068 4, RFC 8414 3.3",
    fix: "compare iss with the issuer to the letter, and remove no slash before",
    make: flawed({ issuer_slash: true }),
    within: "iss-prefix",
  },
  {
    name: "aud-wrong",
    token: "a token for another API",
    paragraph: "RFC 9068 4, RFC 8725 3.9",
    fix: library,
    make: flawed({ wrong_audience: true }),
  },
  {
    name: "aud-missing",
    token: "a token without aud",
    paragraph: "RFC 9068 2.2, 4",
    fix: library,
    make: flawed({ missing_audience: true }),
  },
  {
    name: "aud-contains",
    token: "a token whose aud is the audience with more behind it",
    paragraph: "RFC 9068 4, RFC 7519 4.1.3",
    fix: "compare whole values: aud may be a text or a list, and includes of a text finds parts",
    make: flawed({ audience_contains: true }),
  },
  {
    name: "exp-missing",
    token: "a token without exp, which never expires",
    paragraph: "RFC 9068 2.2, 4",
    fix: "require exp: most libraries compare it only where a token has one",
    make: flawed({ missing_expiry: true }),
  },
  {
    name: "id-token",
    token: "an ID token",
    paragraph: "RFC 9068 4, 5; RFC 8725 3.11",
    fix: "compare typ with at+jwt, and aud with the API",
    make: flawed({ type: "id" }),
  },
  {
    name: "refresh-token",
    token: "a refresh token",
    paragraph: "RFC 9068 4, RFC 8725 3.11",
    fix: "compare typ with at+jwt; with introspection, compare token_type with Bearer or DPoP",
    make: flawed({ type: "refresh" }),
  },
  {
    name: "other-issuer",
    token: "a token of another issuer, whose keys can be fetched",
    paragraph: "RFC 9068 4, RFC 8725 3.8",
    fix: "name the issuer that you trust, and do not fetch keys by the iss of a token",
    make: async ({ control, api, key }) => [await control.issueElsewhere(api.dpop ? { dpop_jkt: key.jkt } : {})],
  },
  {
    name: "typ-wrong",
    token: "a token whose typ is rt+jwt, signed with the key of access tokens",
    paragraph: "RFC 9068 4, RFC 8725 3.11",
    fix: "compare typ with at+jwt",
    make: flawed({ wrong_type: true }),
    mayPass: (good) =>
      headerOf(good)["typ"] === "at+jwt"
        ? null
        : notRequired("let it in, but good tokens have no typ of their own", "RFC 9068 2.1 (typ at+jwt)"),
  },
];

async function run({ make, mayPass, within }: Row, attempt: Attempt): Promise<Finding> {
  if (within !== undefined && attempt.verdicts.get(within) === "unnoticed") {
    return notReached(`it is the same hole as ${within}`);
  }
  let found: Finding = notReached("no such token can be made: no public key is published");
  for (const token of await make(attempt)) {
    const reply = await attempt.send(token);
    found = judged(reply, unauthorized);
    if (letsIn(reply)) return mayPass?.(await attempt.token()) ?? found;
    if (found.verdict !== "noticed") return found;
  }
  return found;
}

export const refusalCases: readonly Case<Attempt>[] = rows.map((row) => ({
  name: row.name,
  mustNot: `${row.token} lets a request in`,
  should: "answer 401",
  paragraph: row.paragraph,
  fix: row.fix,
  ...(row.within !== undefined && { reads: [row.within] }),
  run: (attempt) => run(row, attempt),
}));
