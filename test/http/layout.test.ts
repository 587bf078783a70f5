import * as client from "openid-client";
import { describe, expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { approve, Browser, type Visit } from "../helpers/browser.ts";
import { callback, jwtPart } from "../helpers/client.ts";
import type { Idp, IdpOptions } from "../../src/index.ts";

/** The setting `endpoints`: a vendor's paths, or custom ones. */

type Setting = NonNullable<NonNullable<IdpOptions["settings"]>["endpoints"]>;

const baseOf = ({ issuer }: Idp): string => new URL(issuer).origin;
const start = (endpoints: Setting) => serve({ settings: { endpoints, access_token_alg: "RS256" } });

const discover = (issuer: string, algorithm: "oidc" | "oauth2" = "oidc") =>
  client.discovery(new URL(issuer), "demo-app", undefined, client.ClientSecretPost("demo-secret"), {
    algorithm,
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- marked so to be noticed; http to the loopback is what is meant
    execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks],
  });

interface SignedIn {
  readonly config: client.Configuration;
  readonly browser: Browser;
  readonly tokens: Awaited<ReturnType<typeof client.authorizationCodeGrant>>;
}

/** With everything that openid-client checks: `iss` of the response, state, PKCE, the ID token by the published keys. */
async function signIn(issuer: string): Promise<SignedIn> {
  const config = await discover(issuer);
  const checks = { pkceCodeVerifier: client.randomPKCECodeVerifier(), expectedState: client.randomState() };
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: callback,
    scope: "openid profile email offline_access",
    state: checks.expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: "S256",
  });
  const browser = new Browser(issuer);
  const { left } = await approve(browser, await browser.open(url.href));
  return { config, browser, tokens: await client.authorizationCodeGrant(config, left ?? new URL(callback), checks) };
}

const userinfoStatus = async (config: client.Configuration, token: string): Promise<number> =>
  (await fetch(config.serverMetadata().userinfo_endpoint ?? "", { headers: { authorization: `Bearer ${token}` } }))
    .status;

const keycloak = "/realms/idp/protocol/openid-connect";
const spec = "/api/v2/oauth";
const endpoints: readonly (readonly [Setting, string, Readonly<Record<string, string>>])[] = [
  [
    "auth0",
    "/",
    {
      authorization: "/authorize",
      token: "/oauth/token",
      userinfo: "/userinfo",
      revocation: "/oauth/revoke",
      end_session: "/v2/logout",
    },
  ],
  ["okta", "/oauth2/default", ofOkta("/oauth2/default/v1")],
  [
    "keycloak",
    "/realms/idp",
    {
      authorization: `${keycloak}/auth`,
      token: `${keycloak}/token`,
      userinfo: `${keycloak}/userinfo`,
      revocation: `${keycloak}/revoke`,
      introspection: `${keycloak}/token/introspect`,
      end_session: `${keycloak}/logout`,
    },
  ],
  [
    "cognito",
    "",
    {
      authorization: "/oauth2/authorize",
      token: "/oauth2/token",
      userinfo: "/oauth2/userInfo",
      revocation: "/oauth2/revoke",
      end_session: "/logout",
    },
  ],
  [
    "entra",
    "/common/v2.0",
    {
      authorization: "/common/oauth2/v2.0/authorize",
      token: "/common/oauth2/v2.0/token",
      end_session: "/common/oauth2/v2.0/logout",
      device_authorization: "/common/oauth2/v2.0/devicecode",
    },
  ],
  [
    { authorize: "/authorize", jwks: "/keys.json" },
    "",
    { authorization: "/authorize", token: `${spec}/token`, end_session: `${spec}/logout` },
  ],
];

function ofOkta(server: string): Readonly<Record<string, string>> {
  return {
    authorization: `${server}/authorize`,
    token: `${server}/token`,
    userinfo: `${server}/userinfo`,
    revocation: `${server}/revoke`,
    introspection: `${server}/introspect`,
    end_session: `${server}/logout`,
  };
}

const keys: Readonly<Record<string, string>> = {
  auth0: "/.well-known/jwks.json",
  okta: "/oauth2/default/v1/keys",
  keycloak: `${keycloak}/certs`,
  entra: "/common/discovery/v2.0/keys",
};

describe.each(endpoints)("%j", (setting, issuerPath, paths) => {
  test("discovery lists the paths, at both places of the metadata", async () => {
    const idp = await start(setting);
    expect(idp.issuer).toBe(baseOf(idp) + issuerPath);
    const metadata = (await discover(idp.issuer)).serverMetadata();
    expect(metadata.issuer).toBe(idp.issuer);
    for (const [name, path] of Object.entries(paths)) expect(metadata[`${name}_endpoint`]).toBe(baseOf(idp) + path);
    const jwks = typeof setting === "string" ? keys[setting] : setting.jwks;
    if (jwks !== undefined) expect(metadata.jwks_uri).toBe(baseOf(idp) + jwks);
    expect((await discover(idp.issuer, "oauth2")).serverMetadata()).toEqual(metadata);
  });

  test("a whole sign-in, UserInfo, refresh and revocation", async () => {
    const idp = await start(setting);
    const { config, tokens } = await signIn(idp.issuer);
    const { sub = "" } = tokens.claims() ?? {};
    expect(await client.fetchUserInfo(config, tokens.access_token, sub)).toMatchObject(
      typeof setting === "string"
        ? { preferred_username: "alice", email: "alice@example.com" }
        : { user: { username: "alice" } },
    );
    const next = await client.refreshTokenGrant(config, tokens.refresh_token ?? "");
    expect(jwtPart(next.access_token, 1)).toMatchObject({ iss: idp.issuer });
    await client.tokenRevocation(config, next.access_token);
    expect(await client.tokenIntrospection(config, next.access_token)).toMatchObject({ active: false });
  });

  test("the path of the specification is not served, and the 404 names the one that is", async () => {
    const idp = await start(setting);
    const response = await fetch(`${baseOf(idp)}${spec}/authorize`);
    expect(response.status).toBe(404);
    expect(await response.text()).toContain(paths["authorization"]);
  });

  test("the other paths are below the issuer too: health, control API and account page", async () => {
    const idp = await start(setting);
    for (const base of [baseOf(idp), idp.issuer.replace(/\/$/, "")]) {
      expect(await (await fetch(`${base}/_idp/health`)).json()).toMatchObject({ issuer: idp.issuer });
      expect((await fetch(`${base}/_idp/api/status`)).status).toBe(401);
      expect(await new Browser(base).open(`${base}/account`)).toMatchObject({ page: "login" });
    }
  });
});

test("okta: the organization's own issuer has its endpoints too, and no token of the other", async () => {
  const idp = await start("okta");
  const own = await signIn(baseOf(idp));
  const metadata = own.config.serverMetadata();
  expect(metadata.issuer).toBe(baseOf(idp));
  for (const [name, path] of Object.entries(ofOkta("/oauth2/v1"))) {
    expect(metadata[`${name}_endpoint`]).toBe(baseOf(idp) + path);
  }
  const other = await signIn(idp.issuer);
  expect(await client.tokenIntrospection(own.config, own.tokens.access_token)).toMatchObject({ active: true });
  expect(await client.tokenIntrospection(other.config, own.tokens.access_token)).toMatchObject({ active: false });
  expect(await userinfoStatus(own.config, own.tokens.access_token)).toBe(200);
  expect(await userinfoStatus(own.config, other.tokens.access_token)).toBe(401);
});

describe("logout", () => {
  const back = "http://localhost:3000/";
  const logout = (browser: Browser, address: string, parameters: Readonly<Record<string, string>>): Promise<Visit> =>
    browser.open(`${address}?${new URLSearchParams({ client_id: "demo-app", ...parameters }).toString()}`);

  test.each([
    ["auth0", "returnTo"],
    ["cognito", "logout_uri"],
  ] as const)("%s: %s leads back to a registered address, once the person has agreed", async (setting, parameter) => {
    const idp = await start(setting);
    const { browser, config } = await signIn(idp.issuer);
    const address = config.serverMetadata().end_session_endpoint ?? "";
    const asked = await logout(browser, address, { [parameter]: back });
    expect(asked.page).toBe("logout");
    expect((await browser.press(asked, "logout-confirm")).left?.href).toBe(back);
  });

  test.each(["http://localhost:3000", "http://localhost:3000/x", "http://LOCALHOST:3000/"])(
    "returnTo %s is not registered: 400, and nobody is signed out",
    async (address) => {
      const idp = await start("auth0");
      const { browser } = await signIn(idp.issuer);
      expect((await logout(browser, `${baseOf(idp)}/v2/logout`, { returnTo: address })).status).toBe(400);
      expect(await idp.call("sessions.list", {})).toHaveLength(1);
    },
  );

  test.each([
    ["auth0", "returnTo"],
    ["cognito", "logout_uri"],
  ] as const)(
    "%s: the page and the ledger show the address in %s that is not registered",
    async (setting, parameter) => {
      const idp = await start(setting);
      const { browser, config } = await signIn(idp.issuer);
      const elsewhere = "http://localhost:3000/elsewhere";
      const refused = await logout(browser, config.serverMetadata().end_session_endpoint ?? "", {
        [parameter]: elsewhere,
      });
      expect([refused.status, refused.body]).toEqual([
        400,
        expect.stringContaining(`${elsewhere}&#34; is not registered`),
      ]);
      const [request] = await idp.call("requests.list", { endpoint: "logout", status: 400 });
      expect(request?.parameters).toMatchObject({ [parameter]: elsewhere });
    },
  );

  test("without the preset returnTo is ignored", async () => {
    const idp = await start({ logout: "/v2/logout" });
    const { browser } = await signIn(idp.issuer);
    const asked = await logout(browser, `${idp.issuer}/v2/logout`, { returnTo: back });
    expect((await browser.press(asked, "logout-confirm")).left).toBeNull();
  });
});

describe("device_code as a grant type", () => {
  const poll = (address: string): Promise<Response> =>
    fetch(address, {
      method: "POST",
      body: new URLSearchParams({ client_id: "idp-cli", grant_type: "device_code", device_code: "x" }),
    });

  test("is known to entra", async () => {
    const idp = await start("entra");
    expect(await (await poll(`${baseOf(idp)}/common/oauth2/v2.0/token`)).json()).toMatchObject({
      error: "invalid_grant",
    });
  });

  test("is unknown to the others", async () => {
    const idp = await start("auth0");
    const answer = { error: "unsupported_grant_type" };
    expect(await (await poll(`${baseOf(idp)}/oauth/token`)).json()).toMatchObject(answer);
  });
});

test("the setting changes while the server runs: routes and issuer follow, and tokens end", async () => {
  const idp = await serve();
  const base = idp.issuer;
  const { tokens } = await signIn(base);
  const fixtures = { clients: [{ client_id: "demo-app", client_secret: "demo-secret", redirect_uris: [callback] }] };
  const changed = { ...fixtures, users: [{ username: "alice" }], settings: { endpoints: "keycloak" } };
  await idp.call("reset", { fixtures: changed });
  expect(idp.issuer).toBe(`${base}/realms/idp`);
  expect((await fetch(`${base}${spec}/jwks`)).status).toBe(404);
  const now = await signIn(idp.issuer);
  expect(await userinfoStatus(now.config, now.tokens.access_token)).toBe(200);
  expect(await userinfoStatus(now.config, tokens.access_token)).toBe(401);
  await idp.call("reset", { fixtures: { ...changed, settings: {} } });
  expect(idp.issuer).toBe(base);
  await signIn(base);
});

describe("a given issuer", () => {
  test.each([
    ["what the vendor's path follows", "https://idp.test/tenant", "https://idp.test/tenant/realms/idp"],
    ["the whole issuer", "https://idp.test/tenant/realms/idp", "https://idp.test/tenant/realms/idp"],
  ])("%s", async (_what, issuer, whole) => {
    const idp = await serve({ issuer, settings: { endpoints: "keycloak" } });
    expect(idp.issuer).toBe(whole);
    const address = `http://localhost:${idp.port}/tenant`;
    expect((await fetch(`${address}${keycloak}/certs`)).status).toBe(200);
    expect(await idp.call("issuer.set", { issuer: "https://127.0.0.1:1/tenant/realms/idp" })).toEqual({
      issuer: "https://127.0.0.1:1/tenant/realms/idp",
    });
    await expect(idp.call("issuer.set", { issuer: "https://127.0.0.1:1/realms/idp" })).rejects.toThrow("another path");
  });
});

test.each([
  ["keycloak", "/realms/kc", "/realms/kc/protocol/openid-connect/token"],
  ["entra", "/kc/v2.0", "/kc/oauth2/v2.0/token"],
  ["auth0", "/", "/oauth/token"],
] as const)(
  "%s: an issuer beside the first one has the paths below its own, by its name",
  async (vendor, path, token) => {
    const idp = await serve();
    const other = await idp.call("issuers.add", {
      name: "kc",
      fixtures: {
        users: [{ username: "alice" }],
        clients: [{ client_id: "demo-app", client_secret: "demo-secret", redirect_uris: [callback] }],
        settings: { endpoints: vendor },
      },
    });
    expect(other.issuer).toBe(`${idp.issuer}/i/kc${path}`);
    const { config } = await signIn(other.issuer);
    expect(config.serverMetadata().token_endpoint).toBe(`${idp.issuer}/i/kc${token}`);
    expect((await discover(other.issuer, "oauth2")).serverMetadata().issuer).toBe(other.issuer);
    expect((await fetch(`${idp.issuer}${token}`, { method: "POST" })).status).toBe(404);
  },
);
