import { describe, expect, test } from "vitest";
import { register, serve, type App } from "../helpers/app.ts";
import { callback, paths, type Body } from "../helpers/client.ts";

/** Client authentication by post, basic and none, in form and JSON bodies (RFC 6749 2.3). */

const idp = await serve();
const either = await register(idp);
const post = await register(idp, { token_endpoint_auth_method: "client_secret_post" });
const basic = await register(idp, { token_endpoint_auth_method: "client_secret_basic" });
const spa = await register(idp, { token_endpoint_auth_method: "none", redirect_uris: [callback] });
const odd = await register(idp, { client_id: "https://odd.test/a:b+c", client_secret: "ü p:q%2B+&=/?" });
const spaced = await register(idp, { client_id: "my web app" });

interface Sent {
  readonly body?: Readonly<Record<string, string>>;
  readonly authorization?: string;
}
type Encoding = "form" | "json";

async function send(sent: Sent, encoding: Encoding = "form", path: string = paths.token) {
  const body = { grant_type: "authorization_code", code: "no-such-code", redirect_uri: callback, ...sent.body };
  const response = await fetch(idp.issuer + path, {
    method: "POST",
    body: encoding === "json" ? JSON.stringify(body) : new URLSearchParams(body).toString(),
    headers: {
      "content-type": encoding === "json" ? "application/json" : "application/x-www-form-urlencoded",
      ...(sent.authorization !== undefined && { authorization: sent.authorization }),
    },
  });
  return { status: response.status, headers: response.headers, json: (await response.json()) as Body };
}

/** RFC 6749 2.3.1: both values are form-encoded before they are joined. */
const formEncode = (text: string): string => new URLSearchParams({ x: text }).toString().slice(2);
const header = (id: string, secret: string): string => `Basic ${Buffer.from(`${id}:${secret}`).toString("base64")}`;
const withoutColon = (id: string): string => `Basic ${Buffer.from(id).toString("base64")}`;
const byBasic = ({ credentials: { client_id: id, client_secret: secret } }: App): Sent => ({
  authorization: header(formEncode(id), formEncode(secret ?? "")),
});
const byPost = ({ credentials: { client_id, client_secret } }: App): Sent => ({
  body: { client_id, client_secret: client_secret ?? "" },
});
const byNone = ({ credentials: { client_id } }: App): Sent => ({ body: { client_id } });

/** A client that authenticates gets the answer that the code is unknown. */
const letIn = [400, "invalid_grant"];
const outcome = ({ status, json }: Awaited<ReturnType<typeof send>>) => [status, json.error];
const encodings: Encoding[] = ["form", "json"];

describe.each(encodings)("with a %s body", (encoding) => {
  test.each([
    ["no method registered, post", byPost(either)],
    ["no method registered, basic", byBasic(either)],
    ["post registered, post", byPost(post)],
    ["basic registered, basic", byBasic(basic)],
    ["none registered, none", byNone(spa)],
    ["none registered, basic with an empty secret", { authorization: header(spa.credentials.client_id, "") }],
    ["none registered, basic without a colon", { authorization: withoutColon(spa.credentials.client_id) }],
    ["post, an id and a secret of every kind of character", byPost(odd)],
    ["basic, form-encoded", byBasic(odd)],
    ["post, an id with spaces (RFC 6749 A.1)", byPost(spaced)],
    ["basic, an id with spaces", byBasic(spaced)],
    ["basic, and an equal client_id in the body", { ...byBasic(either), ...byNone(either) }],
    ["the scheme in small letters", { authorization: byBasic(basic).authorization?.replace("Basic", "basic") ?? "" }],
  ])("passes: %s", async (_name, sent) => {
    expect(outcome(await send(sent, encoding))).toEqual(letIn);
  });

  test.each([
    [
      "no method registered, no secret",
      byNone(either),
      /has to authenticate with client_secret_post .* or client_secret_basic/,
    ],
    [
      "post registered, basic",
      byBasic(post),
      /has to authenticate with client_secret_post .*; the request used client_secret_basic/,
    ],
    ["basic registered, post", byPost(basic), /has to authenticate with client_secret_basic/],
    [
      "none registered, a secret",
      { body: { ...byNone(spa).body, client_secret: "x" } },
      /has to authenticate with none/,
    ],
    [
      "a wrong secret by post",
      { body: { ...byPost(either).body, client_secret: "wrong" } },
      /client_secret is wrong for/,
    ],
    [
      "a wrong secret by basic",
      { authorization: header(either.credentials.client_id, "wrong") },
      /client_secret is wrong for/,
    ],
    [
      "a secret in capitals",
      { body: { ...byPost(either).body, client_secret: "SECRET" } },
      /client_secret is wrong for/,
    ],
    [
      "an unknown client",
      { body: { client_id: "nobody", client_secret: "x" } },
      /client_id 'nobody' is not registered/,
    ],
    ["an unknown client by basic", { authorization: header("nobody", "x") }, /client_id 'nobody' is not registered/],
    ["no client at all", {}, /client_id is missing/],
    [
      "a confidential client, basic without a colon",
      { authorization: withoutColon(either.credentials.client_id) },
      /client_secret is wrong for/,
    ],
    ["basic without anything", { authorization: "Basic" }, /must contain client_id:client_secret/],
    ["basic that is not base64", { authorization: "Basic ???" }, /must contain client_id:client_secret/],
    ["basic that is badly encoded", { authorization: header("%", "x") }, /not form-encoded/],
    [
      "basic, an empty secret",
      { authorization: header(either.credentials.client_id, "") },
      /client_secret is wrong for/,
    ],
    ["none registered, basic with a secret", { authorization: header(spa.credentials.client_id, "x") }, /with none/],
    [
      "basic, a + that was not encoded",
      { authorization: header(either.credentials.client_id, "a+b") },
      /send '\+' as %2B/,
    ],
    [
      "basic, a % that was not encoded but can be decoded",
      { authorization: header(either.credentials.client_id, "a%41b") },
      /send '\+' as %2B and '%' as %25, or use client_secret_post/,
    ],
    [
      "basic, a % that cannot be decoded",
      { authorization: header(either.credentials.client_id, "a%zb") },
      /send a '%' of id or secret as %25, or use client_secret_post/,
    ],
    ["another scheme", { authorization: "Bearer x" }, /client_id is missing/],
  ])("is refused as invalid_client: %s", async (_name, sent: Sent, description) => {
    const answer = await send(sent, encoding);
    expect(outcome(answer)).toEqual([401, "invalid_client"]);
    expect(answer.json.error_description).toMatch(description);
    expect(answer.json.error_description).not.toContain("secret of");
    const triedBasic = sent.authorization?.startsWith("Basic") === true;
    expect(answer.headers.get("www-authenticate")).toBe(triedBasic ? 'Basic realm="idp", charset="UTF-8"' : null);
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  test.each([
    ["basic and a secret in the body", { ...byBasic(either), ...byPost(either) }, /two ways of client authentication/],
    [
      "basic and another client_id in the body",
      { ...byBasic(either), ...byNone(post) },
      /is not the '.*' of the Authorization header/,
    ],
    ["a secret and an assertion", { body: { ...byPost(either).body, client_assertion: "x" } }, /two ways/],
    ["basic and an assertion", { ...byBasic(either), body: { client_assertion: "x" } }, /two ways/],
  ])("is refused as invalid_request: %s", async (_name, sent, description) => {
    const answer = await send(sent, encoding);
    expect(outcome(answer)).toEqual([400, "invalid_request"]);
    expect(answer.json.error_description).toMatch(description);
  });
});

describe("at the other endpoints of clients the same holds", () => {
  test.each([paths.revoke, "/api/v2/oauth/introspect", "/api/v2/oauth/par", "/api/v2/oauth/device_authorization"])(
    "%s",
    async (path) => {
      const wrong = await send({ authorization: header(either.credentials.client_id, "wrong") }, "form", path);
      expect(outcome(wrong)).toEqual([401, "invalid_client"]);
      expect(wrong.headers.get("www-authenticate")).toMatch(/^Basic /);
      expect(outcome(await send({}, "form", path))).toEqual([401, "invalid_client"]);
      expect(outcome(await send({ ...byBasic(either), ...byPost(either) }, "form", path))).toEqual([
        400,
        "invalid_request",
      ]);
      expect(outcome(await send({ ...byBasic(basic), body: { token: "x" } }, "form", path))[1]).not.toBe(
        "invalid_client",
      );
    },
  );
});

test("a wrong secret leaves the code to its client", async () => {
  const { code } = await either.signIn();
  expect((await either.exchange(code, { client_secret: "wrong" })).status).toBe(401);
  expect((await either.exchange(code)).status).toBe(200);
});
