import { describe, expect, test } from "vitest";
import { startRelyingParty } from "../../helpers/relying-party.ts";
import { addressOf, postForm } from "../../helpers/vendor-app.ts";
import { answerOf, vendorGuide } from "../../helpers/vendor-guide.ts";

/** aws-jwt-verify, unmodified, with the lines of docs/vendors.md. The keys are handed to it, because it fetches them over https alone. */

const { url } = await startRelyingParty();
const { example, serveFor } = vendorGuide();

describe("aws-jwt-verify", async () => {
  const idp = await serveFor("cognito", `${url}/callback`);
  interface Verifier {
    cacheJwks: (jwks: unknown) => void;
    verify: (token: string) => Promise<Readonly<Record<string, unknown>>>;
  }
  const { verifierFor } = await example<{ verifierFor: (use: string) => Verifier }>("Cognito", "aws-jwt-verify");
  const verify = async (use: string, token: string) => {
    const verifier = verifierFor(use);
    verifier.cacheJwks(await (await fetch(`${idp.issuer}/.well-known/jwks.json`)).json());
    return verifier.verify(token);
  };
  const request = { response_type: "code", client_id: "shop", redirect_uri: `${url}/callback`, scope: "openid email" };
  const { code = "" } = await answerOf(addressOf(`${idp.issuer}/oauth2/authorize`, request));
  const { json } = await postForm(`${idp.issuer}/oauth2/token`, {
    ...{ client_id: "shop", client_secret: "the-secret-of-the-shop", grant_type: "authorization_code" },
    ...{ code, redirect_uri: `${url}/callback` },
  });

  test("verifies both tokens, and tells them apart", async () => {
    expect(await verify("id", json.id_token)).toMatchObject({ "cognito:username": "alice" });
    expect(await verify("access", json.access_token)).toMatchObject({ username: "alice" });
    await expect(verify("access", json.id_token)).rejects.toThrow(/Token use not allowed/);
    await expect(verify("id", json.access_token)).rejects.toThrow(/Audience/i);
  });
});
