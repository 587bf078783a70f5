import { notReached, unnoticed, type Case } from "../../frame/verdict.ts";
import { notAtLoopback } from "../../frame/listener.ts";
import type { Attempt } from "../attempt.ts";
import { withKeyAt } from "../forge.ts";
import { answered, judged, letsIn, unauthorized } from "../judge.ts";

/** A header that names an address of keys (RFC 7515 4.1.2). Whoever fetches it trusts anybody, or can be sent anywhere. */
export const jkuFetched: Case<Attempt> = {
  name: "jku-fetched",
  mustNot: "a token signed with a key at an address that its own header names lets a request in",
  should: "answer 401, and fetch nothing",
  paragraph: "RFC 8725 3.10, RFC 7515 4.1.2",
  fix: "take keys from the issuer's jwks_uri alone, never from jwk, jku or x5u of a token",
  async run(attempt) {
    const forged = withKeyAt(await attempt.token());
    const { url, seen } = await attempt.listen(() => forged.keys);
    let found = notReached("nothing was sent");
    for (const token of forged.tokens(url)) {
      const reply = await attempt.send(token);
      found = judged(reply, unauthorized);
      if (letsIn(reply)) return found;
      if (seen.length > 0) {
        return unnoticed(`${answered(reply)}, and fetched the address in the header`, {
          mustNot: "the API fetches whatever address the header of a token names",
        });
      }
      if (found.verdict !== "noticed") return found;
    }
    return attempt.isAtLoopback ? found : notReached(`${found.did}; ${notAtLoopback}`);
  },
};
