import { expect, test } from "vitest";
import { underAttack } from "../helpers/attack.ts";
import { post, type Answer } from "../helpers/client.ts";

/** A client that registers itself gets nothing that only the operator may give, and nothing of another client. */

const idp = await underAttack({ dynamicRegistration: true });

const path = "/api/v2/oauth/register";
const send = (metadata: object): Promise<Answer> => post(idp, path, {}, { body: JSON.stringify(metadata) });
const good = { redirect_uris: ["https://app.example.test/cb"] };

test("metadata that only the operator may set is ignored in a registration", async () => {
  const { json } = await send({
    ...good,
    client_id: "demo-app",
    client_secret: "chosen by me",
    skip_consent: true,
    allowed_origins: ["https://evil.test"],
    audience: "x",
    id_token_claims: "all",
    createdAt: "x",
    registrationTokenHash: "x",
    ["__proto__"]: { x: 1 },
    constructor: 1,
  });
  expect(json["client_id"]).not.toBe("demo-app");
  expect(json["client_secret"]).not.toBe("chosen by me");
  for (const name of ["skip_consent", "audience", "registrationTokenHash"]) expect(json).not.toHaveProperty(name);
  const spare = await send(good);
  const foreign = await fetch(String(json["registration_client_uri"]), {
    headers: { authorization: `Bearer ${String(spare.json["registration_access_token"])}` },
  });
  expect(foreign.status).toBe(401);
  expect((await fetch(`${idp.issuer}${path}/demo-app`, { headers: { authorization: "Bearer x" } })).status).toBe(401);
  expect((await fetch(`${idp.issuer}${path}/__proto__`, { headers: { authorization: "Bearer x" } })).status).toBe(401);
});

test.each(["contacts", "unknown"])(
  "endlessly nested metadata is refused, also of a name that nobody registered: %s",
  async (name) => {
    const body = `{"redirect_uris":["https://app.example.test/cb"],"${name}":${"[".repeat(20_000)}${"]".repeat(20_000)}}`;
    const { status, json } = await post(idp, path, {}, { body });
    expect({ status, error: json["error"] }).toEqual({ status: 400, error: "invalid_request" });
  },
);

test.each([
  "javascript:alert(1)",
  "data:text/html,x",
  "http://evil.test/",
  "https://a@b.test/",
  "https://a.test/#x",
  "https://a.test/\r\nX: y",
  "https://a.test/../x",
  "file:///etc/passwd",
  "https://*.test/",
  "https://a.test:*/",
  "//evil.test/",
  "",
])("redirect URI %j is refused", async (uri) => {
  const { status, json } = await send({ redirect_uris: [uri] });
  expect([status, json.error]).toEqual([400, "invalid_redirect_uri"]);
});

test.each([
  [{ post_logout_redirect_uris: ["javascript:alert(1)"] }],
  [{ jwks_uri: "file:///etc/passwd" }],
  [{ backchannel_logout_uri: "javascript:x" }],
  [{ client_uri: "javascript:x" }],
  [{ logo_uri: "javascript:x" }],
  [{ grant_types: ["password"] }],
  [{ scope: 'a"b' }],
  [{ jwks: { keys: [{ kty: "oct", k: "x" }] } }],
  [{ client_name: {} }],
  [{ redirect_uris: { length: 1 } }],
])("%j is refused", async (metadata) => {
  const { status } = await send({ ...good, ...metadata });
  expect(status).toBe(400);
});
