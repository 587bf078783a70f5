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

test("a registration of more than 16 kB is refused, and so is an update", async () => {
  const long = { ...good, client_name: "x".repeat(20_000) };
  const refusal = { status: 400, json: { error: "invalid_client_metadata" } };
  expect(await send(long)).toMatchObject(refusal);
  const { json } = await send({ ...good, client_name: "x".repeat(10_000) });
  const answer = await fetch(String(json["registration_client_uri"]), {
    method: "PUT",
    headers: {
      authorization: `Bearer ${String(json["registration_access_token"])}`,
      "content-type": "application/json",
    },
    body: JSON.stringify({ ...long, client_id: json["client_id"] }),
  });
  expect({ status: answer.status, json: await answer.json() }).toMatchObject(refusal);
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

/** What Windows, macOS, Linux desktops and phones open themselves, whatever an app registers for. */
const ofSystems = [
  ...[
    "ms-msdt:/id PCWDiagnostic".replace(" ", "%20"),
    "ms-settings:display",
    "search-ms:query=x",
    "search:x",
    "shell:startup",
    "MS-Excel:ofe",
  ],
  ...[
    "microsoft-edge:https://evil.test",
    "microsoft.powershellscript.1:x",
    "ldap://evil.test/x",
    "smb://evil.test/x",
    "htafile:x",
    "callto:x",
  ],
  ...[
    "x-help-script://com.apple.machelp/x",
    "x-apple.systempreferences:x",
    "itms-services://?x",
    "applescript://x",
    "shortcuts://run",
    "vnc://x",
  ],
  ...[
    "apt:x",
    "snap://x",
    "ssh://-oProxyCommand=x",
    "sftp://x",
    "ghelp:x",
    "market://details",
    "android-app://x",
    "content://x",
  ],
];

test.each(ofSystems)(
  "%s, which an operating system opens itself, is refused as the redirect URI of a registration",
  async (uri) => {
    const { status, json } = await send({ redirect_uris: [uri] });
    expect([status, json.error]).toEqual([400, "invalid_redirect_uri"]);
    const after = await send({ ...good, post_logout_redirect_uris: [uri] });
    expect([after.status, after.json.error]).toEqual([400, "invalid_client_metadata"]);
  },
);

test("a registration that is changed may not lead there either", async () => {
  const { json } = await send(good);
  const body = JSON.stringify({ client_id: json["client_id"], redirect_uris: ["ms-msdt:/x"] });
  const headers = {
    "content-type": "application/json",
    authorization: `Bearer ${String(json["registration_access_token"])}`,
  };
  const changed = await fetch(String(json["registration_client_uri"]), { method: "PUT", headers, body });
  expect(changed.status).toBe(400);
});

test.each([
  "cursor://anysphere.cursor-mcp/oauth/callback",
  "vscode://vscode.microsoft-authentication/cb",
  "vscode-insiders://x/cb",
  "com.example.app:/callback",
  "myapp://cb",
  "msauth.com.example.app://auth",
  "shellapp://cb",
  "searching://cb",
])("%s, of an app, is registered", async (uri) => {
  expect((await send({ redirect_uris: [uri] })).status).toBe(201);
});

test("no command is proposed that registers such an address for a request of anybody", async () => {
  await idp.call("clients.add", { client_id: "known", redirect_uris: ["http://localhost:3000/cb"] });
  const query = new URLSearchParams({ response_type: "code", client_id: "known", redirect_uri: "ms-msdt:/x" });
  const page = await fetch(`${idp.issuer}/api/v2/oauth/authorize?${query.toString()}`, {
    headers: { accept: "text/html" },
  });
  const text = await page.text();
  expect(text).toContain("clients show known");
  expect(text).not.toContain("--add-redirect-uri");
});
