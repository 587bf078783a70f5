import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { paths, post } from "../helpers/client.ts";
import { testClock } from "../helpers/clock.ts";
import { newProofKey } from "../helpers/dpop.ts";

/** The clock is far ahead, so that what lives shorter is hidden, and goes back (CONTRACT 10). */

const base = testClock();
const idp = await serve({ now: base.now });

/** A client's assertion, made now and for a minute (RFC 7523 3). */
async function assertionOf(id: string, secret: string): Promise<string> {
  const iat = Math.floor(base.now() / 1000);
  return new SignJWT({ iss: id, sub: id, aud: idp.issuer, iat, exp: iat + 60, jti: crypto.randomUUID() })
    .setProtectedHeader({ alg: "HS256" })
    .sign(new TextEncoder().encode(secret));
}

/** Far ahead, where enough happens for every expired record to be removed if it may be; and back again. */
async function aheadAndBack(): Promise<void> {
  await idp.clock.advance("2d");
  for (let i = 0; i < 20; i++) await idp.call("users.edit", { username: "bob", entry: { displayName: `B${i}` } });
  await idp.clock.reset();
}

test("a client assertion and a DPoP proof that were used pass no second time after it was far ahead", async () => {
  const secret = "a secret of 32 bytes or more, for HS256 and the like";
  const method = { token_endpoint_auth_method: "client_secret_jwt", client_secret: secret } as const;
  const service = await register(idp, { ...method, grant_types: ["client_credentials"] });
  const id = service.credentials.client_id;
  const key = await newProofKey("ES256", base.now);
  const proof = async () => key.prove(idp.issuer + paths.token);
  const ask = async (assertion: string, dpop: string) => {
    const form = {
      grant_type: "client_credentials",
      client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      client_assertion: assertion,
      client_id: null,
      client_secret: null,
    };
    const { status, json } = await post(idp, paths.token, form, {
      headers: { "content-type": "application/json", dpop },
    });
    return status === 200 ? "passed" : json.error_description;
  };
  const [usedAssertion, usedProof] = [await assertionOf(id, secret), await proof()];
  expect(await ask(usedAssertion, usedProof)).toBe("passed");
  await aheadAndBack();
  expect(await ask(usedAssertion, await proof())).toContain('its "jti" was used before');
  expect(await ask(await assertionOf(id, secret), usedProof)).toContain("used before");
  expect(await ask(await assertionOf(id, secret), await proof())).toBe("passed");
});
