import { noticed, notReached, unnoticed, works, type Case } from "../../frame/verdict.ts";
import type { Attempt } from "../attempt.ts";
import { answered, letsIn, wrongRefusal } from "../judge.ts";

/** What an API does when its provider is down, or signs with a new key. Only where this command started the server. */

const others = "it would reach everybody who uses this server: use -- CMD";

export const issuerDown: Case<Attempt> = {
  name: "issuer-down",
  mustNot: "an expired token is let in while introspection and JWKS answer 503",
  should: "refuse what it cannot verify",
  paragraph: "RFC 9068 4, RFC 7662 4",
  fix: "end the request where the token cannot be verified: no default of true, no empty catch",
  restarts: true,
  async run(attempt) {
    if (!attempt.control.isOwn) return notReached(others);
    const [expired, good] = [await attempt.token({ expired: true }), await attempt.token()];
    await attempt.takeDown(["introspect", "userinfo", "jwks"]);
    if (attempt.startFailure !== null) return noticed("did not start while the provider was down");
    const reply = await attempt.send(expired);
    if (letsIn(reply)) return unnoticed(`let it in: ${answered(reply)}`);
    const isRefused = [401, 403].includes(reply.status) || reply.status >= 500;
    if (!isRefused) return wrongRefusal(reply, "401, 403 or 5xx");
    return noticed(`${answered(reply)}; to a good token it ${answered(await attempt.send(good))}`);
  },
};

/** Milliseconds between two tries: 65 s in all, since libraries limit how often they fetch keys. */
const pauses = [0, 1000, 4000, 10_000, 15_000, 15_000, 20_000];

export const keysRotated: Case<Attempt> = {
  name: "keys-rotated",
  mustNot: "a token of the new key is refused after a rotation",
  should: "fetch the keys again where a kid is unknown, then let it in",
  paragraph: "OpenID Connect Core 10.1.1, RFC 9068 4",
  fix: "let the library fetch the keys where a kid is unknown, and do not keep a copy of them",
  // So that the next control works.
  restarts: true,
  waits: pauses.reduce((sum, pause) => sum + pause),
  async run(attempt) {
    if (!attempt.control.isOwn) return notReached(others);
    const old = await attempt.token();
    await attempt.control.rotateKeys();
    const fresh = await attempt.token();
    let reply = await attempt.send(fresh);
    for (const pause of pauses) {
      if (letsIn(reply)) break;
      await attempt.wait(pause);
      reply = await attempt.send(fresh);
    }
    if (!letsIn(reply)) return unnoticed(`${answered(reply)} to a token of the new key, for 65 s`);
    const other = await attempt.send(old);
    if (letsIn(other)) return works("let both in");
    return unnoticed(`${answered(other)} to a good token of the old key`, {
      mustNot: "a good token of the old key is refused after a rotation",
      fix: "keep every key that jwks_uri lists, and choose by kid",
    });
  },
};
