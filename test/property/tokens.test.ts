import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeToken } from "../../src/core/protocol/tokens/read/decode.ts";
import { OperationError } from "../../src/core/base/errors.ts";
import { underAttack } from "../helpers/attack.ts";
import { longRuns, timeLimit } from "../helpers/runs.ts";
import { userinfo } from "../helpers/client.ts";

/** Texts that are nearly tokens: none is accepted, and none breaks a command. */

const idp = await underAttack();
const held = await idp.issueTokens({ user: "alice", client: "demo-app", scope: "openid email" });
const genuine = [held.access_token, held.refresh_token ?? "", held.id_token];

const b64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
/** What a text says, however it is spelt: the bytes of its three parts. */
const meaning = (token: string): string =>
  token
    .split(".")
    .map((part) => Buffer.from(part, "base64url").toString("hex"))
    .join(".");

const part = fc.oneof(
  fc.constantFrom(...genuine.flatMap((token) => token.split("."))),
  fc.jsonValue({ maxDepth: 2 }).map(b64),
  fc
    .dictionary(
      fc.constantFrom("alg", "typ", "kid", "crit", "jwk", "exp", "iss", "sub", "jti"),
      fc.jsonValue({ maxDepth: 1 }),
    )
    .map(b64),
  fc.string({ maxLength: 20 }),
);
const token = fc.oneof(
  fc.array(part, { maxLength: 6 }).map((parts) => parts.join(".")),
  // One letter of a genuine one is another.
  fc
    .tuple(
      fc.constantFrom(...genuine),
      fc.nat(2000),
      fc.constantFrom(..."A B C x y z 0 1 9 - _ . = + / \0 é".split(" ")),
    )
    .map(([whole, at, letter]) => whole.slice(0, at % whole.length) + letter + whole.slice((at % whole.length) + 1)),
  fc.tuple(fc.constantFrom(...genuine), fc.string({ maxLength: 3 })).map(([whole, more]) => whole + more),
  fc.string({ unit: "binary", maxLength: 60 }),
);

test(
  "random tokens and damaged ones at decode, verify, introspect, revoke and UserInfo",
  { timeout: timeLimit },
  async () => {
    const meant = new Set(genuine.map(meaning));
    await fc.assert(
      fc.asyncProperty(token, async (text) => {
        try {
          decodeToken(text, 0);
        } catch (error) {
          expect(error).toBeInstanceOf(OperationError);
        }
        if (meant.has(meaning(text))) return;
        const refused = (error: unknown): null => {
          expect(error).toBeInstanceOf(OperationError);
          return null;
        };
        expect((await idp.call("token.verify", { token: text }).catch(refused))?.valid ?? false).toBe(false);
        expect((await idp.call("token.introspect", { token: text })).active).toBe(false);
        expect((await idp.call("token.revoke", { token: text })).revoked).toBe(null);
        if (!/^[\x21-\x7e]+$/.test(text)) return;
        expect([400, 401]).toContain((await userinfo(idp, text)).status);
      }),
      { numRuns: longRuns(300) },
    );
    expect((await userinfo(idp, held.access_token)).status).toBe(200);
  },
);
