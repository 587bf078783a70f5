import type { OperationName } from "../../src/core/admin/operations/routes.ts";

/** Bodies for the operations of the control API, on the data of the demo. */

const long = "x".repeat(1025);
export const keys = { keys: [{ kty: "OKP", crv: "Ed25519", x: "eA" }] };
export const cb = { redirect_uris: ["https://app.test/cb"] };

/** Bodies that fit the schema, and bodies that do not, by the field or the rule that they are about. */
export const samples: Readonly<Partial<Record<OperationName, { good: readonly object[]; bad: readonly unknown[] }>>> = {
  "users.add": {
    good: [
      { username: "u1", email: "ü@bücher.example", website: "https://bücher.example/ü?q#f", birthDate: "2024-02-29" },
      {
        username: "u2",
        createdAt: "2024-02-29T23:59:59.123456789+14:00",
        claims: { deep: [{ n: 2 ** 53 - 1 }, null] },
      },
      { username: "u3", password: "x".repeat(1024), phone: "+905551112233", avatar: { path: "", color: "#fff" } },
      { username: "u4", theme: null, socialLinks: [{ platform: "x", url: "http://[::1]:65535/", label: "X" }] },
    ],
    bad: [
      ...[{}, { username: "" }, { username: "b", unknown: 1 }, { username: "b", claims: { sub: "x" } }],
      ...[
        { username: "b", claims: { n: 2 ** 53 } },
        { username: "b", password: long },
        { username: "b", status: "x" },
      ],
      ...["2023-02-29", "2024-13-01", "24-01-01", "2024-01-01T00:00:00Z"].map((birthDate) => ({
        username: "b",
        birthDate,
      })),
      ...["2023-02-29T00:00Z", "2024-01-01T24:00Z", "2024-01-01T00:00", ""].map((createdAt) => ({
        username: "b",
        createdAt,
      })),
      ...["a@b c", "@x", "a@-b", "a b@c.test", `a@${"b.".repeat(127)}test`].map((email) => ({ username: "b", email })),
      ...["ftp://x", "https://", "https://a b/", "https://x:65536/", "https://a@b/"].map((website) => ({
        username: "b",
        website,
      })),
    ],
  },
  "users.edit": {
    good: [{}, { displayName: "Bob" }, { website: null }, { language: "tr" }],
    bad: [{ nickname: "x" }, { displayName: null }, { displayName: "" }, { username: "a b" }],
  },
  "clients.add": {
    good: [
      { client_id: "c1", grant_types: ["client_credentials"] },
      { client_id: "c2", ...cb, token_endpoint_auth_method: "none", "client_name#tr": "Uygulama", public: true },
      { client_id: "c3", ...cb, token_endpoint_auth_method: "private_key_jwt", jwks: keys },
      {
        client_id: "c4",
        redirect_uris: ["http://localhost/cb", "com.example:/cb", "HTTPS://Example.test:8443/a?b=%20"],
      },
      {
        client_id: "c5",
        ...cb,
        allowed_origins: ["http://localhost:5173", "https://app.test", "capacitor://localhost"],
      },
      { client_id: "c6", ...cb, jwks_uri: "https://app.test/jwks?x", backchannel_logout_uri: "https://app.test/out" },
      {
        client_id: "c7",
        ...cb,
        id_token_signed_response_alg: "HS256",
        token_endpoint_auth_method: "client_secret_jwt",
      },
      { client_id: "c8", redirect_uris: ["http://127.0.0.1:*/cb"], token_endpoint_auth_method: "none" },
    ],
    bad: [
      ...[{}, { client_id: "b" }, { client_id: ".", ...cb }, { client_id: "b", ...cb, nope: true }],
      ...[
        ...["", "/cb", "https://app.test/#f", "https://*.app.test/", "https://app.test/a/../b", "https://app.test:0/"],
        ...["javascript:x", "JavaScript:x", "localhost:3000", "myapp:", "https://user@app.test/", "http://app.test:*/"],
        ...[
          "https://256.1.1.1/",
          "https://1.2.3/",
          "https://a.0x1/",
          "https://[::1::]/",
          "https://app.test/ü",
          "https://a/%zz",
        ],
      ].map((uri) => ({ client_id: "b", redirect_uris: [uri] })),
      ...[
        "null",
        "http://localhost:80",
        "https://app.test/",
        "HTTP://localhost",
        "https://app.test:443",
        "data://x",
      ].map((origin) => ({ client_id: "b", ...cb, allowed_origins: [origin] })),
      ...["http://localhost:*/out", "com.example:/out"].map((uri) => ({
        client_id: "b",
        ...cb,
        backchannel_logout_uri: uri,
      })),
      ...["https://app.test/#f", "https://1.2/x"].map((uri) => ({ client_id: "b", ...cb, jwks_uri: uri })),
      ...["", 5].map((name) => ({ client_id: "b", ...cb, "client_name#tr": name })),
      { client_id: "b", ...cb, "logo_uri#tr": "x" },
      { client_id: "b", ...cb, jwks: { keys: [{ kty: "oct", k: "x" }] } },
      { client_id: "b", ...cb, token_endpoint_auth_method: "private_key_jwt" },
      { client_id: "b", ...cb, token_endpoint_auth_method: "none", client_secret: "x" },
    ],
  },
  "clients.edit": {
    good: [{}, { client_name: "Demo", "client_name#tr": null }, { logo_uri: null }],
    bad: [
      { clientName: "x" },
      { clientName: null },
      { "": null },
      { client_name: "" },
      { "client_name#tr": "" },
      { redirect_uris: ["x"] },
    ],
  },
  "clients.rotate-secret": { good: [{}, { client_secret: "x" }], bad: [{ client_secret: "" }, { secret: "x" }] },
  "grants.add": { good: [{ user: "alice", client: "demo-app" }], bad: [{ user: "alice" }, {}] },
  "issue.grant": {
    good: [{ user: "alice", client: "demo-app", scope: "" }],
    bad: [
      { user: 1, client: "demo-app" },
      { user: "alice", client: "demo-app", scopes: "openid" },
    ],
  },
  "issue.code": {
    good: [
      { user: "alice", client: "demo-app" },
      { user: "alice", client: "demo-app", code_challenge: "c".repeat(43), code_challenge_method: "S256" },
    ],
    bad: [
      { user: "alice", client: "demo-app", code_challenge_method: "S256" },
      { user: "alice", client: "demo-app", code_challenge: "c".repeat(42) },
      { user: "alice", client: "demo-app", code_challenge: "c".repeat(43), code_challenge_method: "plain" },
    ],
  },
  "issue.saml": {
    good: [
      { user: "alice", client: "urn:sp", acs: "http://localhost:3000/acs", in_response_to: "_1", relay_state: "s" },
    ],
    bad: [{ user: "alice" }, { user: "alice", client: "urn:sp", in_response_to: "" }],
  },
  "issue.tokens": { good: [{ user: "alice", client: "demo-app", nonce: "n" }], bad: [{ user: "alice" }] },
  "workloads.issue": {
    good: [{}, { audience: "x", claims: { sub: "me", a: [1] } }, { expires_in: 1, expired: true, wrong_issuer: true }],
    bad: [
      ...[
        { claims: { iss: "x" } },
        { claims: { exp: 1 } },
        { claims: [] },
        { claims: { n: 1e300 } },
        { expires_in: 0 },
      ],
      ...[{ expired: true, not_yet_valid: true }, { audience: 1 }, { workload: "gitlab" }],
    ],
  },
  "token.issue": {
    good: [
      ...[{}, { type: "id" }, { type: "refresh" }, { expires_in: 1 }, { audience: "x", claims: { a: [1] } }],
      { expired: true, wrong_issuer: true, alg_none: true, bad_signature: false },
    ].map((change) => ({ user: "alice", client: "demo-app", ...change })),
    bad: [
      ...[{ type: "opaque" }, { type: "refresh", audience: "x" }, { type: "refresh", claims: { a: 1 } }],
      ...[{ type: "refresh", wrong_audience: true }, { expired: true, not_yet_valid: true }, { claims: { sub: "x" } }],
      ...[{ unknown_kid: true, alg_none: true }, { bad_signature: true, alg_none: true }, { expires_in: 315_360_001 }],
      ...[{ bad_signature: true, unknown_kid: true }, { expires_in: 0 }, { expires_in: 1.5 }, { claims: [] }],
      ...[{ user: undefined, type: "id" }, { claims: { n: 1e300 } }],
    ].map((change) => ({ user: "alice", client: "demo-app", ...change })),
  },
  "token.verify": {
    good: [{ token: "x.y.z" }, { token: "", leeway: 0.5 }],
    bad: [{ token: "x.y.z", leeway: -1 }, { leeway: 1 }],
  },
  "token.introspect": { good: [{ token: "x" }], bad: [{}] },
  "token.revoke": { good: [{ token: "x" }], bad: [{ token: null }] },
  revoke: { good: [{ user: "alice" }, { client: "demo-app", user: "bob" }], bad: [{}, { usr: "alice" }, { grant: 1 }] },
  "scim.push": {
    good: [{}, { user: "alice", dry_run: true }, { user: ["alice"], profile: "entra", full: true, parallel: 8 }],
    bad: [{ parallel: 0 }, { parallel: 9 }, { profile: "other" }, { user: 1 }, { dry_run: "yes" }, { users: [] }],
  },
  "scim.test": { good: [{}, { profile: "okta" }], bad: [{ profile: "other" }, { user: "alice" }] },
  "sessions.end": { good: [{ user: "alice" }], bad: [{}, { id: 1 }] },
  "issuer.set": {
    good: [{ issuer: "https://idp.test:8443" }, { issuer: "http://[::1]:4370" }],
    bad: [
      {},
      { issuer: "idp.test" },
      { issuer: "http://a@idp.test" },
      { issuer: "http://idp.test/a b" },
      { issuer: "http:///" },
    ],
  },
  expire: {
    good: [
      { user: "alice" },
      { client: "demo-app", all: false, access: true },
      { all: true, refresh: true, codes: true },
    ],
    bad: [
      {},
      { all: false },
      { all: true, user: "alice" },
      { user: "alice", tokens: true },
      { user: "alice", access: 1 },
    ],
  },
  "clock.advance": {
    good: [{ by: 0 }, { by: "31m" }, { by: "2h30m" }, { by: -60 }, { by: "-5m" }],
    bad: [{}, { by: 1.5 }, { by: "30m1h" }, { by: "" }, { by: "m" }, { by: "--5m" }, { by: true }],
  },
  "clock.set": {
    good: [{ to: "2027-01-01T00:00:00Z" }, { to: "2020-02-29" }, { to: "2027-01-01T00:00:00.5+03:00" }],
    bad: [{}, { to: 0 }, { to: "" }, { to: "2027-01-01T00:00:00" }, { to: "2023-02-29" }],
  },
  expect: {
    good: [
      { endpoint: "token" },
      { endpoint: "any", client: "demo-app", user: "alice", status: 200, never: true },
      { endpoint: "login", method: "POST", param: { username: "alice" }, at_least: 1, within: 0 },
      { endpoint: "userinfo", times: 0 },
    ],
    bad: [
      ...[{}, { endpoint: "nope" }, { endpoint: "token", nope: 1 }, { endpoint: "token", never: "yes" }],
      ...[-1, 1.5, "1"].map((times) => ({ endpoint: "token", times })),
      { endpoint: "token", within: "soon" },
    ],
  },
  "snapshots.save": {
    good: [{}, { replace: true }, { replace: false }],
    bad: [{ replace: "yes" }, { nope: 1 }],
  },
  "snapshots.restore": {
    good: [{}, { keep: [] }, { keep: ["clock", "faults"] }],
    bad: [{ keep: "clock" }, { keep: ["users"] }],
  },
  "diff.given": {
    good: [{}, { fixtures: { users: [] } }, { sources: [], as: "fixtures" }],
    bad: [{ fixtures: {}, sources: [] }, { as: "state" }, { nope: 1 }],
  },
  "inspector.open": { good: [{}], bad: [{ flow: 1 }, { flow: "x" }, { nope: 1 }] },
  "keys.rotate": {
    good: [{}, { alg: "ES256" }, { saml: true }],
    bad: [{ alg: "RS1" }, { alg: "" }, { alg: "ES256", saml: true }],
  },
  "faults.add": {
    good: [
      { endpoint: "token", status: 503, header: { "Retry-After": "2" }, delay: "1.5s", after: true },
      { endpoint: "any", client: "demo-app", user: "alice", grant_type: "refresh_token", method: "POST", drop: true },
      { endpoint: "authorize", error: "server_error", description: "not now", times: 7, skip: 0 },
      { endpoint: "userinfo", body: "", content_type: "text/html", drop_after: 0, always: true },
      ...[
        { endpoint: "token", flaw: "iss-wrong", delay: 0 },
        { endpoint: "jwks", flaw: "keys-empty" },
      ],
    ],
    bad: [
      ...[{}, { endpoint: "token" }, { endpoint: "login", drop: true }, { endpoint: "token", drop: true, nope: 1 }],
      ...[199, 600, "503"].map((status) => ({ endpoint: "token", status })),
      ...["3h", "-1", "10000", -1, 10_000].map((delay) => ({ endpoint: "token", delay })),
      ...["status", "body", "drop_after"].flatMap((name) => [
        { endpoint: "token", [name]: 503, drop: true },
        { endpoint: "token", [name]: name === "body" ? "x" : 503, flaw: "iss-wrong" },
      ]),
      ...["error", "description", "content_type"].map((name) => ({ endpoint: "token", [name]: "x", drop: true })),
      { endpoint: "token", header: { a: "b" }, delay: 1 },
      { endpoint: "token", status: 503, header: { "Content-Length": "1" } },
      { endpoint: "token", body: "x", header: { "content-Security-Policy": "x" } },
      { endpoint: "token", status: 503, header: { "Set-Cookie": "a=b" } },
      { endpoint: "token", status: 503, header: { a: "b\r\nc: d" } },
      { endpoint: "token", error: 'a"b', status: 400 },
      { endpoint: "token", body: "x", error: "x", status: 400 },
      { endpoint: "token", drop: true, always: true, times: 1 },
      { endpoint: "token", drop: true, times: 0 },
      { endpoint: "jwks", drop: true, client: "demo-app" },
      { endpoint: "par", drop: true, user: "alice" },
      { endpoint: "userinfo", drop: true, grant_type: "refresh_token" },
      { endpoint: "any", flaw: "iss-wrong" },
      { endpoint: "userinfo", flaw: "nonce-wrong" },
      { endpoint: "token", flaw: "unknown" },
    ],
  },
  seed: {
    good: [
      ...[
        {},
        { sources: [] },
        { sources: [{ name: "a.json", text: "{}" }] },
        { $schema: "x", settings: { code_ttl: 1 } },
      ],
      ...[{ scopes: { "orders:read": { description: "See orders" }, x: null } }, { settings: { login: "auto:alice" } }],
      {
        clients: [{ client_id: "s1", ...cb, client_secret: "x" }],
        grants: [{ user: "alice", client: "s1", scope: "openid x" }],
      },
    ],
    bad: [
      ...[
        { user: [] },
        { sources: [], users: [] },
        { sources: [{ name: "a" }] },
        { sources: [{ name: "a", text: "{}", x: 1 }] },
      ],
      ...[{ scopes: { openid: null } }, { scopes: { "claim:x": null } }, { scopes: { "a b": null } }, { scopes: [] }],
      ...[
        { settings: { login: "auto:" } },
        { settings: { login: "x" } },
        { settings: { code_ttl: 0 } },
        { users: [{}] },
      ],
      ...[{ grants: [{ user: "alice", client: "demo-app", scope: "" }] }, { clients: [{ client_id: "s2" }] }],
      { clients: [{ client_id: "s3", ...cb, token_endpoint_auth_method: "client_secret_basic" }] },
    ],
  },
  reset: {
    good: [{}, { keys: true }, { fixtures: {} }, { sources: [], keys: false }],
    bad: [{ sources: [], fixtures: {} }, { key: true }, { fixtures: null }, { fixtures: { user: [] } }],
  },
  "issuers.add": {
    good: [
      { name: "a" },
      { name: "B-2_".repeat(16), fixtures: { users: [{ username: "x" }] } },
      { name: "c", sources: [] },
    ],
    bad: [
      ...[{}, { name: "" }, { name: "a/b" }, { name: "ä" }, { name: "a".repeat(65) }, { name: "d", other: 1 }],
      ...[
        { name: "d", fixtures: { user: [] } },
        { name: "d", fixtures: {}, sources: [] },
      ],
    ],
  },
  import: {
    good: [],
    bad: [
      {},
      { format: "idp-state", schemaVersion: 1 },
      { source: { name: "x" } },
      { source: { name: "x", text: "{}", y: 1 } },
    ],
  },
};
