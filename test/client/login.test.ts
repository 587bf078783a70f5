import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { attempt, newReport, type Check } from "../../src/client/check.ts";
import { clientCredentialsFlow } from "../../src/client/client-credentials.ts";
import type { OAuthClient } from "../../src/client/client.ts";
import { codeFlow } from "../../src/client/code-flow.ts";
import { deviceFlow } from "../../src/client/device-flow.ts";
import { discover } from "../../src/client/provider.ts";
import type { SignIn } from "../../src/client/tokens.ts";
import { startStubProvider, type Bends, type StubProvider } from "../helpers/stub-provider.ts";
import { ExactNumber } from "../../src/json-digits.ts";

/** Each check of a sign-in, and what a provider has to do to fail it: a sentence every time, never a stack trace. */

const app: OAuthClient = { id: "app", secret: "s", method: null };

interface Ended {
  readonly checks: readonly Check[];
  readonly failed: readonly string[];
  /** The detail of the first check that failed. */
  readonly why: string;
  readonly provider: StubProvider;
}

/** What came back to the redirect URI, from what was asked for. */
type Back = (asked: URLSearchParams) => Readonly<Record<string, string>>;

const usualBack: Back = (asked) => ({ code: asked.get("nonce") ?? "", state: asked.get("state") ?? "" });

interface Setting {
  readonly bends?: Bends;
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly client?: OAuthClient;
  readonly issuer?: (issuer: string) => string;
}

async function prepare(setting: Setting, flow: (run: SignIn) => Promise<unknown>): Promise<Ended> {
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

const request = { scope: "openid", redirectUri: "http://127.0.0.1:1/callback", maxAge: null, acr: [], parameters: {} };

const signIn = (setting: Setting = {}, back: Back = usualBack, change: Partial<typeof request> | object = {}) =>
  prepare(setting, (run) =>
    codeFlow(run, { ...request, ...change }, async (address) => {
      return new URLSearchParams(back(new URL(address).searchParams));
    }),
  );

test("a provider that does right passes", async () => {
  const { failed, checks, provider } = await signIn();
  expect(failed).toEqual([]);
  expect(checks.map(({ name }) => name)).toContain("userinfo.sub");
  const token = provider.asked.find(({ path }) => path === "/token");
  expect(token?.headers.get("authorization")).toBe(`Basic ${Buffer.from("app:s").toString("base64")}`);
  expect(token?.form.has("client_secret")).toBe(false);
  expect(token?.form.get("code_verifier")).toBe("32-random");
});

const metadata = (change: object): Bends => ({
  "/.well-known/openid-configuration": (usual) => ({ body: { ...usual, ...change } }),
});
const at = (path: string, answer: Bends[string]): Bends => ({ [path]: answer });

describe("discovery fails", () => {
  test.each<[string, Setting, RegExp]>([
    [
      "on another issuer",
      { bends: metadata({ issuer: "https://other.test" }) },
      /names issuer "https:\/\/other\.test"; it must be exactly/,
    ],
    ["on a slash too many", { issuer: (own) => `${own}/` }, /must be exactly "http:\/\/127\.0\.0\.1:\d+\/"/],
    [
      "without metadata",
      { bends: at("/.well-known/openid-configuration", { status: 404, body: {} }) },
      /there is no metadata/,
    ],
    [
      "on a page of HTML",
      { bends: at("/.well-known/openid-configuration", { type: "text/html", body: "<p>" }) },
      /answers 200 with text\/html instead of JSON/,
    ],
    [
      "on broken JSON",
      { bends: at("/.well-known/openid-configuration", { body: "{" }) },
      /is not the JSON it claims to be/,
    ],
    ["on a list", { bends: at("/.well-known/openid-configuration", { body: [] }) }, /JSON that is not an object/],
    ["on an error", { bends: at("/.well-known/openid-configuration", { status: 500, body: {} }) }, /answers 500/],
    [
      "on a redirect",
      { bends: at("/.well-known/openid-configuration", { status: 302, location: "https://x.test/" }) },
      /redirects are not followed/,
    ],
    [
      "on more than a megabyte",
      { bends: at("/.well-known/openid-configuration", { body: "x".repeat(1_100_000) }) },
      /more than 1 MB/,
    ],
    [
      "on an invalid address",
      { bends: metadata({ token_endpoint: "file:///etc/passwd" }) },
      /token_endpoint in the metadata is not an address/,
    ],
    [
      "on a wrong list",
      { bends: metadata({ id_token_signing_alg_values_supported: "ES256" }) },
      /is not a list of strings/,
    ],
    ["where nobody listens", { issuer: () => "http://127.0.0.1:1" }, /nothing listens at 127\.0\.0\.1:1/],
    [
      "where the name leads nowhere",
      { issuer: () => "http://nowhere.invalid" },
      /name of nowhere\.invalid cannot be resolved/,
    ],
    ["where https is not spoken", { issuer: (own) => own.replace("http:", "https:") }, /does not speak TLS/],
  ])("%s", async (_what, setting, why) => {
    const ended = await signIn(setting);
    expect(ended.failed).toEqual(["discovery"]);
    expect(ended.why).toMatch(why);
  });

  test("on bytes that are no HTTP, and on a connection that is cut", async () => {
    for (const [bytes, why] of [
      ["no HTTP at all\r\n\r\n", /does not speak HTTP/],
      ["", /closed the connection/],
      [
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
        /before its response was complete/,
      ],
    ] as const) {
      const server = createServer((socket) => {
        socket.on("error", () => undefined);
        socket.once("data", () => socket.end(bytes));
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void server.close());
      const { port } = server.address() as AddressInfo;
      const ended = await signIn({ issuer: () => `http://127.0.0.1:${port}` });
      expect(ended.failed).toEqual(["discovery"]);
      expect(ended.why).toMatch(why);
    }
  });
});

test("a provider that takes a request and gives no answer is not waited for", async () => {
  const arrived = new Promise<void>((resolve) => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => {
        resolve();
      });
    });
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      ended = signIn({ issuer: () => `http://127.0.0.1:${port}` });
    });
    onTestFinished(() => void server.close());
  });
  let ended: Promise<Ended> | undefined;
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  await arrived;
  vi.advanceTimersByTime(10_000);
  const { failed, why } = (await ended) ?? {};
  expect(failed).toEqual(["discovery"]);
  expect(why).toMatch(/sent no complete response within 10 s/);
});

test("metadata of RFC 8414 alone will do, where its path goes behind the well-known one", async () => {
  const none = { status: 404, body: {} };
  const known = "/.well-known/oauth-authorization-server/tenant";
  const ended = await signIn({
    issuer: (own) => `${own}/tenant`,
    bends: { "/tenant/.well-known/openid-configuration": none, [known]: { status: 500, body: {} } },
  });
  expect(ended.why).toContain(`${known} answers 500`);
});

describe("the pushed request", () => {
  const required = metadata({ require_pushed_authorization_requests: true });
  const offered = { pushed_authorization_request_endpoint: "http://127.0.0.1:1/par" };
  test.each<[string, Bends, RegExp]>([
    ["is required, and nobody says where", required, /names no pushed_authorization_request_endpoint/],
    ["cannot be made", metadata(offered), /nothing listens/],
  ])("%s", async (_what, bends, why) => {
    const ended = await signIn({ bends });
    expect([ended.failed, ended.checks.length]).toEqual([["par"], 1]);
    expect(ended.why).toMatch(why);
  });
});

describe("the response", () => {
  const right = (asked: URLSearchParams) => ({ state: asked.get("state") ?? "" });
  test.each<[string, Back, string, RegExp]>([
    ["has no code", right, "response", /neither code nor error/],
    [
      "is an error",
      (asked) => ({ ...right(asked), error: "server_error", error_description: "it broke" }),
      "response",
      /server_error: it broke/,
    ],
    ["has no state", () => ({ code: "c" }), "response.state", /expected "16-random", the response has nothing/],
    [
      "has another iss",
      (asked) => ({ ...usualBack(asked), iss: "https://other.test" }),
      "response.iss",
      /"https:\/\/other\.test" \(RFC 9207 2\.4\)/,
    ],
  ])("%s", async (_what, back, name, why) => {
    const { failed, why: detail, provider } = await signIn({}, back);
    expect(failed).toEqual([name]);
    expect(detail).toMatch(why);
    expect(provider.asked.map(({ path }) => path)).not.toContain("/token");
  });

  test("has a parameter twice", async () => {
    const ended = await prepare({}, (run) =>
      codeFlow(run, request, async () => new URLSearchParams("code=a&code=b&state=16-random")),
    );
    expect(ended.failed).toEqual(["response"]);
    expect(ended.why).toMatch(/code was sent more than once/);
  });

  test("every problem is reported", async () => {
    const { failed } = await signIn({}, () => ({ error: "access_denied", state: "x", iss: "y" }));
    expect(failed).toEqual(["response", "response.state", "response.iss"]);
  });

  test("lacks the iss that the metadata promises", async () => {
    const bends = metadata({ authorization_response_iss_parameter_supported: true });
    expect((await signIn({ bends })).failed).toEqual(["response.iss"]);
  });
});

describe("the token response", () => {
  const token = (answer: Bends[string]): Setting => ({ bends: at("/token", answer) });
  test.each<[string, Setting, RegExp]>([
    [
      "is a refusal",
      token({ status: 400, body: { error: "invalid_grant", error_description: "used" } }),
      /answers 400 invalid_grant: used/,
    ],
    [
      "is HTML",
      token({ status: 502, type: "text/html", body: "<h1>Bad gateway</h1>" }),
      /502 with text\/html instead of JSON/,
    ],
    ["has no access token", token({ body: { token_type: "Bearer" } }), /no access_token/],
    ["has another token_type", token({ body: { access_token: "a", token_type: "mac" } }), /token_type is "mac"/],
    [
      "has a life in words",
      token((usual) => ({ body: { ...usual, expires_in: "60" } })),
      /expires_in of the token response is not a number/,
    ],
    [
      "comes to a client of another kind",
      { client: { ...app, method: "private_key_jwt" } },
      /may authenticate with private_key_jwt/,
    ],
  ])("%s", async (_what, setting, why) => {
    const ended = await signIn(setting);
    expect(ended.failed).toEqual(["token"]);
    expect(ended.why).toMatch(why);
  });
});

const seconds = () => Math.floor(Date.now() / 1000);

describe("the ID token", () => {
  test.each<[string, Readonly<Record<string, unknown>>, string, RegExp]>([
    ["iss", { iss: "https://other.test" }, "iss", /expected "http:.*has "https:\/\/other\.test"/],
    ["aud", { aud: "other" }, "aud", /expected "app"/],
    ["azp", { azp: "other" }, "azp", /expected "app"/],
    ["azp where there are several audiences", { aud: ["app", "other"] }, "azp", /aud names several/],
    ["sub", { sub: "" }, "sub", /1 to 255/],
    ["sub of a number", { sub: 7 }, "sub", /it is 7/],
    ["exp", { exp: 1_700_000_000 }, "exp", /expired .* ago/],
    ["exp that is no time", { exp: "tomorrow" }, "exp", /not a time: "tomorrow"/],
    ["iat", { iat: seconds() + 600 }, "iat", /a clock that is ahead/],
    ["nonce", { nonce: "other" }, "nonce", /expected "16-random", the token has "other"/],
    ["nonce, none", { nonce: undefined }, "nonce", /the token has nothing/],
    ["at_hash", { at_hash: "other" }, "at_hash", /the token has "other"/],
    ["key", { header: { kid: "other" } }, "signature", /the provider has no key for/],
  ])("with a wrong %s fails that check", async (_what, claims, name, why) => {
    const ended = await signIn({ claims });
    const consequence = name === "sub" ? ["userinfo.sub"] : [];
    expect(ended.failed).toEqual([`id_token.${name}`, ...consequence]);
    expect(ended.why).toMatch(why);
  });

  test("a clock that is a little off, no at_hash, no azp: all pass", async () => {
    const claims = { iat: seconds() + 20, exp: seconds() - 10, at_hash: undefined, aud: ["app"] };
    expect((await signIn({ claims })).failed).toEqual([]);
  });

  test("max_age and acr that were asked for are held against it", async () => {
    const asked = { maxAge: 10, acr: ["gold", "silver"] };
    const none = await signIn({}, usualBack, asked);
    expect(none.failed).toEqual(["id_token.auth_time", "id_token.acr"]);
    const old = await signIn({ claims: { auth_time: seconds() - 100, acr: "lead" } }, usualBack, asked);
    expect(old.failed).toEqual(["id_token.auth_time", "id_token.acr"]);
    const good = await signIn({ claims: { auth_time: seconds() - 9, acr: "silver" } }, usualBack, asked);
    expect(good.failed).toEqual([]);
  });

  const idToken = (id_token: unknown): Setting => ({
    bends: at("/token", (usual) => ({ body: { ...usual, id_token } })),
  });
  const unsigned = `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from("{}").toString("base64url")}.`;
  test.each<[string, Setting, string, RegExp]>([
    ["is missing", idToken(undefined), "id_token", /no id_token, although scope has openid/],
    ["is no JWT", idToken("nonsense"), "id_token", /is not a JWT/],
    ["is encrypted", idToken("a.b.c.d.e"), "id_token", /encrypted/],
    ["is not signed", idToken(unsigned), "id_token.signature", /alg is "none"; the metadata lists ES256/],
    [
      "has keys that cannot be read",
      { bends: at("/jwks", { status: 503, body: {} }) },
      "id_token.signature",
      /jwks answers 503/,
    ],
    [
      "has keys that are none",
      { bends: at("/jwks", { body: { keys: "x" } }) },
      "id_token.signature",
      /is not a JWK Set/,
    ],
    ["has keys nowhere", { bends: metadata({ jwks_uri: undefined }) }, "id_token.signature", /names no jwks_uri/],
    [
      "is signed in a way that is not listed",
      { bends: metadata({ id_token_signing_alg_values_supported: ["RS256"] }) },
      "id_token.signature",
      /alg is "ES256"; the metadata lists RS256/,
    ],
  ])("%s", async (_what, setting, name, why) => {
    const ended = await signIn(setting);
    expect(ended.failed[0]).toBe(name);
    expect(ended.why).toMatch(why);
  });

  test("of other keys fails its signature alone, and everything else is checked all the same", async () => {
    const other = await startStubProvider();
    const keys: unknown = await (await fetch(`${other.issuer}/jwks`)).json();
    const ended = await signIn({ bends: at("/jwks", { body: keys }) });
    expect(ended.failed).toEqual(["id_token.signature"]);
    expect(ended.checks.at(-1)?.name).toBe("userinfo.sub");
  });

  test("that a metadata of none would let pass proves nothing", async () => {
    const bends = {
      ...metadata({ id_token_signing_alg_values_supported: ["none", "HS256"] }),
      ...at("/token", (usual) => ({ body: { ...usual, id_token: unsigned } })),
    };
    const ended = await signIn({ bends, client: { id: "app", secret: null, method: null } });
    expect(ended.failed[0]).toBe("id_token.signature");
    expect(ended.why).toMatch(/proves nothing/);
  });
});

describe("UserInfo", () => {
  test.each<[string, Bends[string], readonly string[], RegExp]>([
    ["is of somebody else", { body: { sub: "other" } }, ["userinfo.sub"], /expected "someone" as in the ID token/],
    ["has no sub", { body: {} }, ["userinfo.sub"], /UserInfo has nothing/],
    ["refuses", { status: 403, body: { error: "access_revoked" } }, ["userinfo"], /answers 403 access_revoked/],
    ["is a page", { type: "text/html", body: "<p>" }, ["userinfo"], /text\/html instead of JSON/],
    ["is a JWT that cannot be read", { type: "application/jwt", body: "x" }, ["userinfo"], /a JWT that cannot be read/],
  ])("%s", async (_what, answer, failed, why) => {
    const ended = await signIn({ bends: at("/userinfo", answer) });
    expect(ended.failed).toEqual(failed);
    expect(ended.why).toMatch(why);
  });

  test("is handed on with the digits of its numbers", async () => {
    let said: unknown;
    const bends = at("/userinfo", { body: '{"sub":"someone","tenant":7123456789012345678}' });
    await prepare({ bends }, async (run) => {
      said = (await codeFlow(run, request, async (url) => new URLSearchParams(usualBack(new URL(url).searchParams))))
        .userinfo;
    });
    expect(said).toEqual({ sub: "someone", tenant: new ExactNumber("7123456789012345678") });
  });

  test("is not asked without openid, nor where there is none", async () => {
    const bends = at("/token", { body: { access_token: "a", token_type: "bearer" } });
    const plain = await signIn({ bends }, usualBack, { scope: "read" });
    expect([plain.failed, plain.checks.at(-1)?.name]).toEqual([[], "token"]);
    const none = await signIn({ bends: metadata({ userinfo_endpoint: undefined }) });
    expect([none.failed, none.checks.at(-1)?.name]).toEqual([[], "id_token.at_hash"]);
  });
});

describe("the device flow", () => {
  const device = (bends: Bends, show: () => Promise<void> = () => Promise.resolve()) =>
    prepare({ bends }, (run) => deviceFlow(run, { scope: "openid", timeout: 5 }, show));
  test("waits for as long as the user has not decided, and longer where it is asked to", async () => {
    const answers = ["authorization_pending", "slow_down", "authorization_pending"];
    const stub = await startStubProvider({
      "/token": (usual) => (answers.length > 0 ? { status: 400, body: { error: answers.shift() } } : { body: usual }),
    });
    const waits: number[] = [];
    const wait = async (milliseconds: number) => waits.push(milliseconds);
    const report = newReport();
    const run = { provider: await discover(stub.issuer), client: app, report, random: String, now: Date.now, wait };
    const { claims } = await deviceFlow(run, { scope: "openid", timeout: 60 }, () => Promise.resolve());
    expect(report.checks.filter(({ ok }) => !ok)).toEqual([]);
    expect([claims?.["sub"], waits]).toEqual(["someone", [1000, 6000, 6000]]);
  });

  test.each<[string, Bends, string, RegExp]>([
    [
      "is not offered",
      metadata({ device_authorization_endpoint: undefined }),
      "device",
      /names no device_authorization_endpoint/,
    ],
    [
      "has no user code",
      at("/device", (usual) => ({ body: { ...usual, user_code: undefined } })),
      "device",
      /no user_code/,
    ],
    [
      "has no life",
      at("/device", (usual) => ({ body: { ...usual, expires_in: "soon" } })),
      "device",
      /numbers of seconds/,
    ],
    [
      "leads to no address",
      at("/device", (usual) => ({ body: { ...usual, verification_uri: "javascript:alert(1)" } })),
      "device",
      /not an address that a user can open/,
    ],
    ["is denied", at("/token", { status: 400, body: { error: "access_denied" } }), "token", /access_denied/],
    ["expires", at("/token", { status: 400, body: { error: "expired_token" } }), "token", /expired_token/],
  ])("%s", async (_what, bends, name, why) => {
    const ended = await device(bends);
    expect(ended.failed).toEqual([name]);
    expect(ended.why).toMatch(why);
  });
});

test("client credentials go by the method that the metadata lists", async () => {
  const bends = metadata({ token_endpoint_auth_methods_supported: ["client_secret_post"] });
  const { failed, provider } = await prepare({ bends }, (run) => clientCredentialsFlow(run, "read"));
  expect(failed).toEqual([]);
  const asked = provider.asked.at(-1);
  expect(Object.fromEntries(asked?.form ?? [])).toEqual({
    ...{ grant_type: "client_credentials", scope: "read", client_id: "app", client_secret: "s" },
  });
});
