import { describe, expect, test } from "vitest";
import { register } from "../helpers/app.ts";
import { innards, underAttack } from "../helpers/attack.ts";
import { Browser } from "../helpers/browser.ts";
import { callback, paths, type Answer } from "../helpers/client.ts";
import { harmfulJson, notAnObject, wrongValues } from "../helpers/malformed-bodies.ts";

/** Parameters sent twice, mixed, under similar names, or of another type. */

const idp = await underAttack({ dynamicRegistration: true });
const app = await register(idp, { token_endpoint_auth_method: undefined });
const { client_id: clientId, client_secret: secret } = app.credentials;
const clientSecret = secret ?? "";
const other = await register(idp);
const endpoints = [
  paths.token,
  paths.revoke,
  paths.userinfo,
  "/api/v2/oauth/introspect",
  "/api/v2/oauth/par",
  "/api/v2/oauth/device_authorization",
  "/api/v2/oauth/register",
];

async function send(
  path: string,
  body: BodyInit,
  headers: Record<string, string> = {},
): Promise<Answer & { text: string }> {
  const response = await fetch(idp.issuer + path, { method: "POST", headers, body });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: JSON.parse(text) as Answer["json"] };
}
const jsonHeaders = { "content-type": "application/json" };
const basic = (id: string, password: string): Record<string, string> => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(password)}`).toString("base64")}`,
});

describe("JSON of another type is refused at every endpoint", () => {
  const names = [
    ...["grant_type", "client_id", "client_secret", "code", "refresh_token", "token"],
    ...["scope", "resource", "redirect_uris", "access_token"],
  ];
  const valid = { grant_type: "authorization_code", client_id: clientId, client_secret: clientSecret };

  async function isRefused(path: string, body: string): Promise<void> {
    const { status, text } = await send(path, body, jsonHeaders);
    expect([path, body.slice(0, 200), status]).toEqual([
      path,
      body.slice(0, 200),
      expect.toSatisfy((one: number) => one < 500),
    ]);
    expect(text).not.toMatch(innards);
    expect(text).not.toContain(clientSecret);
  }

  // All pairs are tried at one endpoint, because one reader reads the bodies of all: elsewhere each name and each value comes once at least.
  test.each(endpoints)("%s", async (path) => {
    const pairs = names.flatMap((name, at) =>
      wrongValues
        .filter((_, number) => path === paths.token || number % names.length === at)
        .map((value) => ({ ...valid, [name]: value })),
    );
    for (const pair of pairs) await isRefused(path, JSON.stringify(pair));
    for (const body of [...notAnObject, ...harmfulJson]) await isRefused(path, body);
    expect((await send(path, `{"a":"${"a".repeat(102_400)}"}`, jsonHeaders)).status).toBeGreaterThanOrEqual(413);
  });
});

describe("a parameter that is sent twice", () => {
  test.each(["grant_type", "code", "redirect_uri", "client_id", "client_secret", "code_verifier"])(
    "%s at the token endpoint",
    async (name) => {
      const { code } = await app.signIn();
      const once = {
        grant_type: "authorization_code",
        code,
        redirect_uri: callback,
        client_id: clientId,
        client_secret: clientSecret,
      };
      const body = new URLSearchParams(once);
      body.append(name, Object.hasOwn(once, name) ? once[name as keyof typeof once] : "a");
      body.append(name, "a");
      expect((await send(paths.token, body)).json.error).toBe("invalid_request");
      expect((await app.exchange(code)).status).toBe(200);
    },
  );

  test.each([
    "response_type",
    "scope",
    "state",
    "nonce",
    "code_challenge",
    "prompt",
    "response_mode",
    "request_uri",
    "claims",
  ])("%s at the authorization endpoint", async (name) => {
    const url = new URL(app.url({ prompt: "none" }));
    url.searchParams.append(name, "x");
    url.searchParams.append(name, "y");
    const { left } = await new Browser(idp.issuer).open(url.href);
    expect(left?.searchParams.get("error")).toBe("invalid_request");
  });

  test.each(["client_id", "redirect_uri"])("%s there: no redirect", async (name) => {
    const url = new URL(app.url({ prompt: "none" }));
    url.searchParams.append(name, "https://evil.test/");
    expect(await new Browser(idp.issuer).open(url.href)).toMatchObject({ status: 400, page: "error", left: null });
  });

  test("names that a parser could mistake for another parameter", async () => {
    const names = [
      "client_id[]",
      "client_id[0]",
      "client_id.x",
      "Client_Id",
      " client_id",
      "client_id\0",
      "__proto__[client_id]",
    ];
    for (const name of names) {
      const query = new URLSearchParams({ response_type: "code", redirect_uri: callback, [name]: clientId });
      const visit = await new Browser(idp.issuer).open(`${paths.authorize}?${query.toString()}`);
      expect(visit).toMatchObject({ status: 400, page: "error", left: null });
    }
  });
});

describe("client authentication", () => {
  const grant = { grant_type: "refresh_token", refresh_token: "x" };
  test.each<[name: string, body: Record<string, string>, headers: Record<string, string>, error: string]>([
    [
      "Basic and a secret",
      { client_id: clientId, client_secret: clientSecret },
      basic(clientId, clientSecret),
      "invalid_request",
    ],
    [
      "Basic of one client, client_id of another",
      { client_id: other.credentials.client_id },
      basic(clientId, clientSecret),
      "invalid_request",
    ],
    [
      "a secret and an assertion",
      {
        client_id: clientId,
        client_secret: clientSecret,
        client_assertion: "x",
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      },
      {},
      "invalid_request",
    ],
    [
      "another client's secret",
      { client_id: other.credentials.client_id, client_secret: clientSecret },
      {},
      "invalid_client",
    ],
    ["no secret", { client_id: clientId }, {}, "invalid_client"],
    ["an empty secret", { client_id: clientId, client_secret: "" }, {}, "invalid_client"],
    ["Basic with an empty secret", {}, basic(clientId, ""), "invalid_client"],
    ["a secret for a public client", { client_id: "demo-spa", client_secret: "x" }, {}, "invalid_client"],
    ["Basic with a secret for a public client", {}, basic("demo-spa", "x"), "invalid_client"],
    [
      "the beginning of the secret",
      { client_id: clientId, client_secret: clientSecret.slice(0, -1) },
      {},
      "invalid_client",
    ],
    ["the secret and a zero byte", { client_id: clientId, client_secret: `${clientSecret}\0` }, {}, "invalid_client"],
    [
      "an assertion of no signature",
      {
        client_assertion: `${Buffer.from('{"alg":"none"}').toString("base64url")}.${Buffer.from(JSON.stringify({ sub: clientId, iss: clientId })).toString("base64url")}.`,
        client_assertion_type: "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
      },
      {},
      "invalid_client",
    ],
  ])("%s", async (_name, body, headers, error) => {
    for (const path of [paths.token, paths.revoke, "/api/v2/oauth/introspect", "/api/v2/oauth/par"]) {
      const answer = await send(path, new URLSearchParams({ ...grant, token: "x", ...body }), headers);
      expect([path, answer.json.error]).toEqual([path, error]);
      expect(answer.text).not.toContain(clientSecret);
    }
  });
});
