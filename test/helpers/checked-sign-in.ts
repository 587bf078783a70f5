import { attempt, newReport } from "../../src/client/check.ts";
import type { Check } from "../../src/jwt/checks.ts";
import type { OAuthClient } from "../../src/client/client.ts";
import { codeFlow } from "../../src/client/code-flow.ts";
import { discover } from "../../src/client/provider.ts";
import type { SignIn } from "../../src/client/tokens.ts";
import { startStubProvider, type Bends, type StubProvider } from "./stub-provider.ts";

/** A sign-in to a stub provider, whose answers can be bent, and the checks that failed. */

export const app: OAuthClient = { id: "app", secret: "s", method: null };

export interface Ended {
  readonly checks: readonly Check[];
  readonly failed: readonly string[];
  /** The detail of the first check that failed. */
  readonly why: string;
  readonly provider: StubProvider;
}

/** What came back to the redirect URI, from what was asked for. */
export type Back = (asked: URLSearchParams) => Readonly<Record<string, string>>;

export const usualBack: Back = (asked) => ({ code: asked.get("nonce") ?? "", state: asked.get("state") ?? "" });

export interface Setting {
  readonly bends?: Bends;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly client?: OAuthClient;
  readonly issuer?: (issuer: string) => string;
}

export async function prepare(setting: Setting, flow: (run: SignIn) => Promise<unknown>): Promise<Ended> {
  const { bends, claims, client = app, issuer = (own: string) => own } = setting;
  const stub = await startStubProvider(bends, claims);
  const report = newReport();
  const provider = await attempt(report, "discovery", () => discover(issuer(stub.issuer)));
  const random = (bytes: number) => `${bytes}-random`;
  if (provider !== null) {
    await flow({ provider, client, report, random, now: Date.now, wait: () => Promise.resolve() });
  }
  const failed = report.checks.filter(({ ok }) => !ok);
  return {
    checks: report.checks,
    failed: failed.map(({ name }) => name),
    why: failed[0]?.detail ?? "",
    provider: stub,
  };
}

export const request = {
  scope: "openid",
  redirectUri: "http://127.0.0.1:1/callback",
  maxAge: null,
  acr: [],
  parameters: {},
};

export const signIn = (setting: Setting = {}, back: Back = usualBack, change: Partial<typeof request> | object = {}) =>
  prepare(setting, (run) =>
    codeFlow(run, { ...request, ...change }, async (address) => {
      return new URLSearchParams(back(new URL(address).searchParams));
    }),
  );

export const metadata = (change: object): Bends => ({
  "/.well-known/openid-configuration": (usual) => ({ body: { ...usual, ...change } }),
});
export const at = (path: string, answer: Bends[string]): Bends => ({ [path]: answer });
