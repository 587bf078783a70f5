import { describe, expect, test } from "vitest";
import { clientCredentialsFlow } from "../../src/client/client-credentials.ts";
import { codeFlow } from "../../src/client/code-flow.ts";
import type { Bends } from "../helpers/stub-provider.ts";
import {
  app,
  at,
  metadata,
  prepare,
  request,
  signIn,
  type Back,
  type Setting,
  usualBack,
} from "../helpers/checked-sign-in.ts";

/** A sign-in to a provider: each check of the responses, and what a provider has to do to fail it. */

test("a correct provider passes", async () => {
  const { failed, checks, provider } = await signIn();
  expect(failed).toEqual([]);
  expect(checks.map(({ name }) => name)).toContain("userinfo.sub");
  const token = provider.asked.find(({ path }) => path === "/token");
  expect(token?.headers.get("authorization")).toBe(`Basic ${Buffer.from("app:s").toString("base64")}`);
  expect(token?.form.has("client_secret")).toBe(false);
  expect(token?.form.get("code_verifier")).toBe("32-random");
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

test("client credentials are sent by the method that the metadata lists", async () => {
  const bends = metadata({ token_endpoint_auth_methods_supported: ["client_secret_post"] });
  const { failed, provider } = await prepare({ bends }, (run) => clientCredentialsFlow(run, "read"));
  expect(failed).toEqual([]);
  const asked = provider.asked.at(-1);
  expect(Object.fromEntries(asked?.form ?? [])).toEqual({
    ...{ grant_type: "client_credentials", scope: "read", client_id: "app", client_secret: "s" },
  });
});
