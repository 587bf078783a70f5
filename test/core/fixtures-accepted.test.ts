import { describe, expect, it } from "vitest";
import { client, grant, jwk, service, settings, user } from "../helpers/fixture-entries.ts";
import { problemsOf } from "../helpers/fixtures.ts";

/** What a fixture file may hold, rule by rule. Values are handed in, so no lines stand before the paths. */

describe("what passes", () => {
  it.each<[string, unknown]>([
    ["nothing at all", {}],
    ["$schema", { $schema: "./idp.fixtures.schema.json" }],
    ["a username only", user({})],
    ["a username of every letter that it may have", user({ username: "Al_ice.B-1@x+y" })],
    ["fields that are undefined", user({ email: undefined, theme: undefined })],
    [
      "Turkish letters",
      user({ displayName: "Çağrı İpek Şık", about: "ığüşöç", location: "Muğla", claims: { ünvan: "Öğr." } }),
    ],
    ["an address of another alphabet", user({ email: "şule@örnek.test" })],
    [
      "null where a field can be unset",
      user({ theme: null, website: null, location: null, birthDate: null, phone: null }),
    ],
    ["an id of 64 bits", user({ id: "18446744073709551615" })],
    ["an id of Auth0", user({ id: "auth0|1" })],
    ["an id that is a UUID", user({ id: "0f0b0a31-6a1c-4b39-9b8c-1d0e5f1a2b3c" })],
    ["an id of 255 characters", user({ id: "x".repeat(255) })],
    ["a password that begins as a hash does", user({ password: "$2a$10$hunter2" })],
    ["a service with claims", service({ claims: { tenant: "acme", roles: ["reader"] } })],
    ["a leap day", user({ birthDate: "2024-02-29" })],
    ["a time with an offset", user({ createdAt: "2024-01-15T09:30:00+03:00" })],
    ["a day as a time", user({ createdAt: "2024-01-15" })],
    ["a short color", user({ avatar: { color: "#abc" } })],
    ["any claims", user({ claims: { roles: ["admin"], address: { country: "TR" }, n: 1.5, yes: true, no: null } })],
    ["a public client", client({})],
    ["a client with a secret", client({ client_secret: "s" })],
    ["a service", service({})],
    ["a public client with an open loopback port", client({ redirect_uris: ["http://127.0.0.1:*/cb"] })],
    ["private_key_jwt with keys", client({ token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [jwk] } })],
    [
      "private_key_jwt with jwks_uri",
      client({ token_endpoint_auth_method: "private_key_jwt", jwks_uri: "http://localhost/k" }),
    ],
    [
      "a device client without redirect URIs",
      client({ redirect_uris: [], grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"] }),
    ],
    [
      "names by language",
      client({ client_name: "App", "client_name#tr": "Uygulama", "logo_uri#tr-TR": "https://x.test/l.png" }),
    ],
    [
      "the metadata of the standards",
      client({
        client_secret: "s",
        response_types: ["code"],
        client_uri: "https://x.test",
        logo_uri: "https://x.test/l.png",
        policy_uri: "https://x.test/p",
        tos_uri: "https://x.test/t",
        contacts: ["a@x.test"],
        software_id: "1",
        software_version: "2",
        application_type: "native",
        sector_identifier_uri: "https://x.test/s",
        subject_type: "public",
        id_token_signed_response_alg: "ES256",
        id_token_encrypted_response_alg: "RSA-OAEP",
        id_token_encrypted_response_enc: "A128CBC-HS256",
        userinfo_signed_response_alg: "RS256",
        userinfo_encrypted_response_alg: "RSA-OAEP",
        userinfo_encrypted_response_enc: "A128CBC-HS256",
        request_object_signing_alg: "RS256",
        request_object_encryption_alg: "RSA-OAEP",
        request_object_encryption_enc: "A128CBC-HS256",
        token_endpoint_auth_method: "client_secret_jwt",
        token_endpoint_auth_signing_alg: "HS256",
        default_max_age: 0,
        require_auth_time: true,
        default_acr_values: ["1"],
        initiate_login_uri: "https://x.test/i",
        request_uris: ["https://x.test/r#1"],
        post_logout_redirect_uris: ["http://localhost:3000/"],
        backchannel_logout_uri: "http://localhost:3000/bcl",
        backchannel_logout_session_required: true,
        require_pushed_authorization_requests: true,
        dpop_bound_access_tokens: true,
        jwks: { keys: [{ ...jwk, kid: "1", use: "sig" }] },
      }),
    ],
    [
      "metadata of idp's own",
      client({
        require_pkce: true,
        userinfo_format: "combined",
        id_token_claims: "minimal",
        skip_consent: true,
        audience: ["https://api.test", "b"],
        allowed_origins: [
          "http://localhost:5173",
          "capacitor://localhost",
          "chrome-extension://aaaabbbbccccddddeeeeffffgggghhhh",
          "tauri://localhost",
          "http://tauri.localhost",
        ],
      }),
    ],
    [
      "addresses in a container network that the settings list",
      {
        ...client({
          redirect_uris: ["http://app:3000/cb"],
          post_logout_redirect_uris: ["http://a.dev.internal/"],
          backchannel_logout_uri: "http://app:3000/bcl",
          allowed_origins: ["http://app:3000"],
        }),
        ...settings({ http_redirect_hosts: ["app", "*.dev.internal"] }),
      },
    ],
    [
      "an open port for a confidential client where the settings allow it",
      {
        ...client({
          client_secret: "s",
          redirect_uris: ["http://127.0.0.1:*/cb"],
          post_logout_redirect_uris: ["http://[::1]:*/"],
        }),
        ...settings({ any_loopback_port: true }),
      },
    ],
    ["a scope of nothing", { scopes: { "orders:read": null, "orders:write": {} } }],
    ["a scope with one text", { scopes: { o: { description: "See orders", claims: ["roles"] } } }],
    ["a scope with texts by language", { scopes: { o: { description: { en: "See", tr: "Gör" } } } }],
    ["a grant", grant({})],
    ["a grant of a scope of the fixtures", grant({ scope: "openid orders:read offline_access" })],
    [
      "a grant of offline_access, which every client may have",
      grant({ client: "narrow", scope: "openid offline_access" }),
    ],
    [
      "settings",
      settings({
        code_ttl: 1,
        access_token_ttl: 5,
        refresh_token_ttl: 9,
        session_ttl: 9,
        refresh_grace: 0,
        consent: "skip",
      }),
    ],
    ["refresh_rotation as YAML 1.2 reads it", settings({ refresh_rotation: "on" })],
    ["refresh_rotation as YAML 1.1 reads it", settings({ refresh_rotation: false })],
    ["paths of a vendor", settings({ endpoints: "keycloak" })],
    ["own paths", settings({ endpoints: { token: "/oauth/token", introspect: "/oauth/token/introspect" } })],
    [
      "the path of another endpoint that moves away",
      settings({ endpoints: { token: "/api/v2/oauth/revoke", revoke: "/revoke" } }),
    ],
    ["login by password", settings({ login: "password" })],
    ["login of a user", { ...user({}), ...settings({ login: "auto:x" }) }],
  ])("%s", async (_, value) => {
    expect(await problemsOf({ value })).toEqual([]);
  });
});
