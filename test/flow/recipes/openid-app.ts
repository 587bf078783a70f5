import * as client from "openid-client";
import { approve, Browser } from "../../helpers/browser.ts";

/** An app with openid-client 6, and the browser of its user. */

// eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to be noticed; http to the loopback is what is meant
const plainHttp = { execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks] };
const callback = "http://localhost:3000/callback";

type Redeem = () => ReturnType<typeof client.authorizationCodeGrant>;

export interface OpenidApp {
  readonly config: client.Configuration;
  /**
   * Sends the browser through the login and consent pages.
   * @param change parameters of the request
   * @returns redeems the code, or throws what came back
   */
  readonly signIn: (change?: Record<string, string>) => Promise<Redeem>;
  /** Signs in and redeems the code. */
  readonly tokens: () => ReturnType<Redeem>;
}

export async function openidApp(issuer: string): Promise<OpenidApp> {
  const auth = client.ClientSecretPost("demo-secret");
  const config = await client.discovery(new URL(issuer), "demo-app", undefined, auth, plainHttp);
  const browser = new Browser(issuer);
  const signIn: OpenidApp["signIn"] = async (change = {}) => {
    const checks = {
      pkceCodeVerifier: client.randomPKCECodeVerifier(),
      expectedState: client.randomState(),
      expectedNonce: client.randomNonce(),
    };
    const url = client.buildAuthorizationUrl(config, {
      ...{ redirect_uri: callback, scope: "openid email" },
      ...{ state: checks.expectedState, nonce: checks.expectedNonce, ...change },
      code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
      code_challenge_method: "S256",
    });
    const { left } = await approve(browser, await browser.open(url.href));
    return () => client.authorizationCodeGrant(config, left ?? new URL(callback), checks);
  };
  return { config, signIn, tokens: async () => (await signIn())() };
}
