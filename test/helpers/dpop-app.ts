import type { IdpOptions } from "../../src/index.ts";
import { register, serve, type App } from "./app.ts";
import { callback, paths, pkce, post, type Answer, type Body } from "./client.ts";
import { testClock } from "./clock.ts";
import { newProofKey, type ProofKey } from "./dpop.ts";

/** A request with this proof. @param proof null: no DPoP header */
export const withProof = (proof: string | null): RequestInit => ({
  headers: { "content-type": "application/json", ...(proof === null ? {} : { dpop: proof }) },
});

/** A server, an app that uses it, and two keys for proofs. The clock is set by hand. */
export async function dpopApp(settings: IdpOptions["settings"] = {}) {
  const clock = testClock();
  const idp = await serve({ now: clock.now, settings });
  const newKey = (alg?: string): Promise<ProofKey> => newProofKey(alg, clock.now);
  const key = await newKey();
  const another = await newKey();
  const app = await register(idp);
  const tokenUrl = idp.issuer + paths.token;

  /** The answer of the token endpoint for a new code of an app. @param proof null: no DPoP header */
  async function redeem(of: App, proof: string | null, code?: string): Promise<Answer> {
    const { verifier, challenge } = pkce();
    const { client_id } = of.credentials;
    const issued =
      code ??
      (await idp.issueCode({ user: "alice", client: client_id, scope: "openid email", code_challenge: challenge }))
        .code;
    const body = { grant_type: "authorization_code", code: issued, redirect_uri: callback, ...of.credentials };
    return post(idp, paths.token, code === undefined ? { ...body, code_verifier: verifier } : body, withProof(proof));
  }

  return {
    clock,
    idp,
    newKey,
    key,
    another,
    app,
    tokenUrl,
    userinfoUrl: idp.issuer + paths.userinfo,
    redeem,
    renew: (of: App, token: string, proof: string | null): Promise<Answer> =>
      post(
        idp,
        paths.token,
        { grant_type: "refresh_token", refresh_token: token, ...of.credentials },
        withProof(proof),
      ),
    /** Tokens bound to the key. */
    bound: async (of: App = app): Promise<Body> => (await redeem(of, await key.prove(tokenUrl))).json,
  };
}
