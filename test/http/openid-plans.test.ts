import { createPublicKey, type JsonWebKey } from "node:crypto";
import { expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { Browser, type Visit } from "../helpers/browser.ts";

/** What the modules of two plans of the OpenID conformance suite ask: Config (Discovery 3), and RP-Initiated Logout 1.0. */

const idp = await serve();
const bye = "http://localhost:3900/a/plan/post_logout_redirect";
const app = await register(idp, { post_logout_redirect_uris: [bye] });
const metadata = (await (await fetch(`${idp.issuer}/.well-known/openid-configuration`)).json()) as Readonly<
  Record<string, unknown>
>;
const at = (name: string): string => String(metadata[name]);

test("Config: the metadata has what Discovery 3 requires, at this issuer", () => {
  expect(at("issuer")).toBe(idp.issuer);
  const endpoints = Object.keys(metadata).filter((name) => /_endpoint$|_uri$/.test(name));
  for (const name of endpoints) expect(at(name).startsWith(`${idp.issuer}/`), name).toBe(true);
  expect(endpoints).toEqual(
    expect.arrayContaining(["authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri"]),
  );
  expect(metadata).toMatchObject({
    response_types_supported: expect.arrayContaining(["code"]) as unknown,
    scopes_supported: expect.arrayContaining(["openid"]) as unknown,
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: expect.arrayContaining(["RS256"]) as unknown,
    claims_supported: expect.arrayContaining(["sub"]) as unknown,
    claims_parameter_supported: true,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  });
  expect(metadata["id_token_signing_alg_values_supported"]).not.toContain("none");
});

test("Config: the keys are public, each with a kid of its own, an alg and a use, and can be read", async () => {
  const response = await fetch(at("jwks_uri"));
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  const { keys } = (await response.json()) as { keys: readonly JsonWebKey[] };
  expect(new Set(keys.map((key) => key["kid"])).size).toBe(keys.length);
  for (const key of keys) {
    expect(key).toMatchObject({
      kid: expect.stringMatching(/./) as string,
      use: "sig",
      alg: expect.any(String) as string,
    });
    for (const member of ["d", "p", "q", "dp", "dq", "qi", "k"]) expect(key).not.toHaveProperty(member);
    const { modulusLength = 0 } = createPublicKey({ key, format: "jwk" }).asymmetricKeyDetails ?? {};
    if (key.kty === "RSA") expect(modulusLength).toBeGreaterThanOrEqual(2048);
  }
});

interface Module {
  readonly sends: (hint: string) => Readonly<Record<string, string>>;
  /** Where the browser goes; null: it stays at a page. */
  readonly goesTo: string | null;
  readonly page?: string;
  /** Whether the session is over: the next request with `prompt=none` says so. */
  readonly ends: boolean;
}

const modified = (token: string): string => `${token.slice(0, -8)}AAAAAAAA`;

const modules: Readonly<Record<string, Module>> = {
  "rp-initiated-logout": {
    sends: (hint) => ({ id_token_hint: hint, post_logout_redirect_uri: bye, state: "s7" }),
    ...{ goesTo: `${bye}?state=s7`, ends: true },
  },
  "no-state": {
    sends: (hint) => ({ id_token_hint: hint, post_logout_redirect_uri: bye }),
    ...{ goesTo: bye, ends: true },
  },
  "no-post-logout-redirect-uri": {
    sends: (hint) => ({ id_token_hint: hint, state: "s7" }),
    ...{ goesTo: null, page: "signed-out", ends: true },
  },
  "bad-post-logout-redirect-uri": {
    sends: (hint) => ({ id_token_hint: hint, post_logout_redirect_uri: `${bye}/bad`, state: "s7" }),
    ...{ goesTo: null, page: "error", ends: false },
  },
  "query-added-to-post-logout-redirect-uri": {
    sends: (hint) => ({ id_token_hint: hint, post_logout_redirect_uri: `${bye}?x=1`, state: "s7" }),
    ...{ goesTo: null, page: "error", ends: false },
  },
  "modified-id-token-hint": {
    sends: (hint) => ({ id_token_hint: modified(hint), post_logout_redirect_uri: bye, state: "s7" }),
    ...{ goesTo: null, page: "error", ends: false },
  },
  "bad-id-token-hint": {
    sends: () => ({ id_token_hint: "bad", post_logout_redirect_uri: bye, state: "s7" }),
    ...{ goesTo: null, page: "error", ends: false },
  },
  "no-params": { sends: () => ({}), goesTo: null, page: "logout", ends: false },
  "only-state": { sends: () => ({ state: "s7" }), goesTo: null, page: "logout", ends: false },
};

const logout = (browser: Browser, parameters: Readonly<Record<string, string>>): Promise<Visit> =>
  browser.open(`${at("end_session_endpoint")}?${new URLSearchParams(parameters).toString()}`);

const isOver = async (browser: Browser): Promise<boolean> => {
  const { left } = await browser.open(app.url({ prompt: "none" }));
  return left?.searchParams.get("error") === "login_required";
};

test.each(Object.entries(modules))("RP-Initiated Logout: %s", async (_name, { sends, goesTo, page, ends }) => {
  const { browser, code } = await app.signIn();
  const { id_token: hint } = (await app.exchange(code)).json;
  expect(await isOver(browser)).toBe(false);
  const visit = await logout(browser, sends(hint));
  expect(visit.left?.href ?? null).toBe(goesTo);
  if (page !== undefined) expect(visit.page).toBe(page);
  expect(await isOver(browser)).toBe(ends);
  // The person who is asked can sign out.
  if (page === "logout") {
    expect((await browser.press(visit, "logout-confirm")).page).toBe("signed-out");
    expect(await isOver(browser)).toBe(true);
  }
});
