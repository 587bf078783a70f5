import { describe, expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { callback, paths } from "../helpers/client.ts";
import { notAnObject } from "../helpers/malformed-bodies.ts";

/** Bodies: how large, of which type, and what is in them. */

const idp = await serve();
const app = await register(idp);

const send = (path: string, init: RequestInit = {}) => fetch(idp.issuer + path, { redirect: "manual", ...init });
const json = { "content-type": "application/json" };
const form = { "content-type": "application/x-www-form-urlencoded" };

/** Endpoints whose bodies are read as JSON or as a form, and as a form only. */
const either = [paths.token, paths.revoke, "/api/v2/oauth/introspect", paths.userinfo];
const formOnly = [
  paths.authorize,
  "/api/v2/oauth/logout",
  "/api/v2/oauth/par",
  "/api/v2/oauth/device_authorization",
  "/device",
];

const large = "x".repeat(102_401);

test.each([...either, ...formOnly])("%s: over 102,400 bytes 413", async (path) => {
  const response = await send(path, {
    method: "POST",
    body: `a=${large}`,
    headers: { ...form, accept: "application/json" },
  });
  expect(response.status).toBe(413);
  expect(await response.json()).toMatchObject({
    error_description: expect.stringContaining("102,400 bytes") as string,
  });
});

test.each(either)("%s: JSON too, also without a Content-Length", async (path) => {
  const body = JSON.stringify({ a: large });
  expect((await send(path, { method: "POST", body, headers: json })).status).toBe(413);
  const stream = new Blob([body]).stream();
  const chunked = await send(path, { method: "POST", body: stream, headers: json, duplex: "half" } as RequestInit);
  expect(chunked.status).toBe(413);
});

test("more than a thousand fields: 400, which says so", async () => {
  const response = await send(paths.token, { method: "POST", body: "a=1&".repeat(1001), headers: form });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: "invalid_request",
    error_description: "the body holds more than 1,000 parameters",
  });
});

test("exactly 102,400 bytes are read", async () => {
  const body = `a=${"x".repeat(102_398)}`;
  expect((await send(paths.token, { method: "POST", body, headers: form })).status).toBe(401);
});

test.each(notAnObject)("JSON that cannot be read, or is no object: 400: %s", async (body) => {
  for (const path of [paths.token, paths.revoke, "/api/v2/oauth/introspect"]) {
    const response = await send(path, { method: "POST", body, headers: json });
    const text = await response.text();
    expect(response.status).toBe(400);
    expect(JSON.parse(text)).toMatchObject({ error: "invalid_request" });
    expect(text).not.toMatch(/\n\s+at |SyntaxError/);
  }
});

test.each([
  ["a list", "[]", /must be an object/],
  ["a number", '{"client_id":5}', /client_id must be a string/],
  ["an object", '{"client_id":{"$ne":""}}', /client_id must be a string/],
  ["a list of one", '{"client_id":["a"]}', /client_id was sent as a list; send text/],
  ["a list of numbers", '{"client_secret":[1]}', /client_secret must be a string/],
  ["an empty list", '{"client_id":[]}', /client_id must be a string/],
])("JSON with %s in place of text: 400", async (_name, body, description) => {
  const response = await send(paths.token, { method: "POST", body, headers: json });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: "invalid_request",
    error_description: expect.stringMatching(description) as string,
  });
});

test.each([paths.token, paths.revoke, "introspect", "par", "device_authorization", "register", paths.userinfo])(
  "%s: the description has only the characters of RFC 6749 5.2",
  async (path) => {
    const odd = 'a"b\\c\u00e4\u{1f600}';
    const open = await serve({ dynamicRegistration: true });
    const at = open.issuer + (path.startsWith("/") ? path : `/api/v2/oauth/${path}`);
    const sent: readonly RequestInit[] = [
      { method: "POST", body: new URLSearchParams({ client_id: odd, token: odd, grant_type: odd, code: odd }) },
      { method: "POST", body: JSON.stringify({ redirect_uris: [`${odd}:x`], client_id: odd }), headers: json },
      { method: "POST", body: '{"a', headers: json },
      { method: "PUT" },
    ];
    for (const init of sent) {
      const response = await fetch(at, init);
      const { error_description } = (await response.json()) as { readonly error_description: string };
      expect(response.status).toBeGreaterThanOrEqual(400);
      expect(error_description).toMatch(/^[\x20\x21\x23-\x5b\x5d-\x7e]+$/);
    }
  },
);

test("a description holds printable ASCII without quotes and backslashes, whatever was sent (RFC 6749 5.2)", async () => {
  const body = new URLSearchParams({ ...app.credentials, grant_type: "p\u00e4\n\u0001\u{1f600}" } as Record<
    string,
    string
  >);
  const response = await send(paths.token, { method: "POST", body: body.toString(), headers: form });
  expect(await response.json()).toMatchObject({
    error: "unsupported_grant_type",
    error_description: expect.stringMatching(
      /^[\x20-\x21\x23-\x5b\x5d-\x7e]*'p\?\?\?\?'[\x20-\x21\x23-\x5b\x5d-\x7e]*$/,
    ) as string,
  });
});

// RFC 6749 3.1, 3.2: unknown parameters are ignored, and one without a value counts as not sent.
test("unknown members of JSON, and null, are ignored", async () => {
  const { code } = await app.signIn();
  const { status, json: answer } = await app.exchange(code);
  expect(status).toBe(200);
  const body = {
    grant_type: "refresh_token",
    refresh_token: answer.refresh_token,
    ...app.credentials,
    scope: null,
    foo: 5,
    bar: { a: [1] },
    ["__proto__"]: { client_id: "demo-app" },
  };
  const response = await send(paths.token, { method: "POST", body: JSON.stringify(body), headers: json });
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ scope: answer.scope });
});

test.each([
  "grant_type",
  "client_id",
  "client_secret",
  "code",
  "redirect_uri",
  "code_verifier",
  "refresh_token",
  "scope",
])("a form with %s twice: 400", async (name) => {
  const fields = {
    grant_type: "authorization_code",
    ...app.credentials,
    code: "x",
    redirect_uri: callback,
  };
  const body = `${new URLSearchParams(fields as Record<string, string>).toString()}&${name}=a&${name}=b`;
  const response = await send(paths.token, { method: "POST", body, headers: form });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({
    error: "invalid_request",
    error_description: expect.stringContaining(name) as string,
  });
});

test.each(["text/plain", "multipart/form-data; boundary=x", "application/xml", ""])(
  "another media type: 415: %j",
  async (type) => {
    for (const path of [...either, ...formOnly]) {
      const headers = { "content-type": type, accept: "application/json" };
      const response = await send(path, { method: "POST", body: new Blob(["a=b"]), headers });
      expect([path, response.status]).toEqual([path, 415]);
      expect(await response.json()).toMatchObject({
        error: "invalid_request",
        error_description: expect.stringContaining("Content-Type") as string,
      });
    }
  },
);

test.each([
  ["a charset nobody reads", { "content-type": "application/json; charset=klingon" }],
  ["an encoding nobody reads", { ...json, "content-encoding": "rot13" }],
])("%s: 415", async (_name, headers) => {
  expect((await send(paths.token, { method: "POST", body: "{}", headers })).status).toBe(415);
});

test.each<[name: string, body: string | Buffer<ArrayBuffer>, headers: Record<string, string>, description: RegExp]>([
  ["a space in either spelling", "grant_type=a+b%20c&client_id=demo-spa", form, /'a b c'/],
  ["a percent sign that begins nothing", "grant_type=100%&client_id=demo-spa", form, /'100%'/],
  ["brackets", "grant_type[]=a&grant_type[x]=b&client_id=demo-spa", form, /grant_type is missing/],
  ["names that every object has", "__proto__=a&constructor=b&grant_type=c&client_id=demo-spa", form, /'c'/],
  ["a byte order mark", '\ufeff{"grant_type":"a","client_id":"demo-spa"}', json, /'a'/],
  ["members that every object has", '{"__proto__":{"grant_type":"a"},"client_id":"demo-spa"}', json, /is missing/],
])("%s: read as intended", async (_name, body, headers, description) => {
  const response = await send(paths.token, { method: "POST", body: new Blob([body]), headers });
  expect(await response.json()).toMatchObject({ error_description: expect.stringMatching(description) as string });
});

describe("bytes that are not UTF-8 get 400", () => {
  const latin = (text: string) => Buffer.from(text, "latin1");

  test.each([...either, ...formOnly])("%s, in a form", async (path) => {
    for (const value of ["%FF", "a%C3%28", "%ED%A0%80", "%C0%AF", "%E4"]) {
      for (const body of [`state=${value}`, `${value}=x`, `state=${value}&nonce=%EF%BF%BD`]) {
        const response = await send(path, { method: "POST", body, headers: { ...form, accept: "application/json" } });
        expect([response.status, await response.json()], body.slice(0, 40)).toEqual([
          400,
          expect.objectContaining({
            error: "invalid_request",
            error_description: "the form is not UTF-8: percent-encode it as such",
          }),
        ]);
      }
    }
  });

  test("as bytes, in a form or in JSON", async () => {
    const bodies: [BodyInit, Record<string, string>][] = [
      [latin("state=\u00e4"), form],
      [latin('{"state":"\u00e4"}'), json],
    ];
    for (const [body, headers] of bodies) {
      const response = await send(paths.token, { method: "POST", body, headers });
      expect([response.status, await response.json()]).toMatchObject([
        400,
        { error: "invalid_request", error_description: "the body is not UTF-8" },
      ]);
    }
  });

  test("UTF-8 is taken unchanged, including the replacement character", async () => {
    for (const state of ["\u00e4 \u{1f600}", "\ufffd", "100%"]) {
      const asked = new URL(app.url({ prompt: "none" }));
      asked.searchParams.delete("state");
      const body = `${asked.search.slice(1)}&state=${state.replace(/[^%]/gu, encodeURIComponent)}`;
      const { headers } = await send(paths.authorize, { method: "POST", body, headers: form });
      const left = new URL(headers.get("location") ?? "", idp.issuer);
      expect(left.searchParams.get("state")).toBe(state);
    }
  });
});
