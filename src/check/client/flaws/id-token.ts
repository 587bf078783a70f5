import { notReached, notRequired } from "../../frame/verdict.ts";
import { flawCases, type FlawRow } from "./flaw-case.ts";

/** Flaws of the ID token. */

const refuse = "refuse the ID token, and sign nobody in";
const check = (what: string): string => `verify the ID token with the library's own check, and ${what}`;

const row = (
  flaw: string,
  must: FlawRow["must"],
  mustNot: string,
  paragraph: string,
  fix: string,
  should = refuse,
): FlawRow => ({
  flaw,
  must,
  mustNot: `${mustNot} signs a user in`,
  should,
  paragraph: `OpenID Connect Core ${paragraph}`,
  fix,
});

const nonceFix = "keep nonce in the session before the redirect, and compare it with that of the ID token";
const signatureFix = check("give it the provider's keys (jwks_uri)");

export const idTokenCases = flawCases(
  {
    prefix: "id-token",
    endpoint: "token",
    ofClient: true,
    grantType: "authorization_code",
    restarts: false,
    absent: (_attempt, { flaw }, visit) => {
      const asked = visit.request?.searchParams;
      if (flaw.startsWith("nonce-") && asked?.has("client_id") === true && !asked.has("nonce")) {
        return notRequired(
          "sends no nonce, so there is none to check",
          "OpenID Connect Core 3.1.2.1 (optional in the code flow)",
        );
      }
      return notReached(`no ID token with this flaw was fetched: the response had none, or not what ${flaw} spoils`);
    },
  },
  [
    row(
      "id-token-missing",
      "refuse",
      "a token response without an ID token",
      "3.1.3.3",
      "require id_token in the token response",
      "refuse the response, and sign nobody in",
    ),
    row(
      "signature-wrong",
      "optional",
      "an ID token with a wrong signature",
      "3.1.3.7 (6): TLS may take its place",
      signatureFix,
    ),
    row(
      "alg-none",
      "refuse",
      "an ID token that is not signed",
      "3.1.3.7 (7), RFC 8725 3.2",
      check('name the algorithms you accept, such as RS256, never "none"'),
    ),
    row(
      "kid-unknown",
      "optional",
      "an ID token of an unknown key",
      "3.1.3.7 (6): TLS may take its place",
      signatureFix,
    ),
    row(
      "kid-missing",
      "optional",
      "an ID token without kid",
      "10.1",
      signatureFix,
      "use the only key that fits, or refuse",
    ),
    row("iss-wrong", "refuse", "an ID token of another issuer", "3.1.3.7 (2)", check("compare iss with the issuer")),
    row(
      "aud-wrong",
      "refuse",
      "an ID token for another client",
      "3.1.3.7 (3)",
      check("compare aud with your client_id"),
    ),
    row(
      "aud-extra",
      "refuse",
      "an ID token that names a second, unknown client",
      "3.1.3.7 (3)",
      "compare aud with your client_id at the callback: most libraries accept a list where azp is your client",
    ),
    row(
      "azp-wrong",
      "optional",
      "an ID token whose azp is another client",
      "3.1.3.7 (5)",
      check("compare azp with your client_id"),
    ),
    row(
      "exp-past",
      "refuse",
      "an ID token that expired an hour ago",
      "3.1.3.7 (9)",
      check("compare exp with the time"),
    ),
    row("iat-future", "optional", "an ID token from an hour ahead", "3.1.3.7 (10)", check("compare iat with the time")),
    row("iat-missing", "refuse", "an ID token without iat", "2", check("require iat")),
    row("sub-missing", "refuse", "an ID token without sub", "2", check("require sub")),
    row("nonce-wrong", "refuse", "an ID token with another nonce", "3.1.3.7 (11)", nonceFix),
    row("nonce-missing", "refuse", "an ID token without the nonce that was sent", "3.1.3.7 (11)", nonceFix),
    row(
      "at-hash-wrong",
      "optional",
      "an ID token for another access token",
      "3.1.3.8",
      check("compare at_hash with the access token"),
    ),
    row(
      "crit",
      "refuse",
      "an ID token with an extension that nobody knows",
      "3.1.3.7 (6), RFC 7515 4.1.11",
      check("refuse a header whose crit names what you do not know"),
    ),
    row(
      "iss-prefix",
      "refuse",
      "an ID token whose iss only begins as the issuer does",
      "3.1.3.7 (2)",
      check("compare all of iss with the issuer, not only its start"),
    ),
    row(
      "aud-contains",
      "refuse",
      "an ID token whose aud only contains your client_id",
      "3.1.3.7 (3)",
      check("compare all of aud with your client_id, not only a part"),
    ),
  ],
);
