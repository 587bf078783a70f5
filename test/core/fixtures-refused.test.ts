import { describe, expect, it } from "vitest";
import { client, grant, jwk, service, settings, user } from "../helpers/fixture-entries.ts";
import { problemsOf } from "../helpers/fixtures.ts";

/** What a fixture file is refused for, rule by rule. Values are handed in, so no lines stand before the paths. */

describe("what is refused", () => {
  it.each<[unknown, string]>([
    // The file.
    [
      undefined,
      "$ a fixture file is an object with users, clients, scopes, grants, settings, workloads, faults, issuers, not null",
    ],
    [
      null,
      "$ a fixture file is an object with users, clients, scopes, grants, settings, workloads, faults, issuers, not null",
    ],
    [
      [],
      "$ a fixture file is an object with users, clients, scopes, grants, settings, workloads, faults, issuers, not a list",
    ],
    [
      "x",
      "$ a fixture file is an object with users, clients, scopes, grants, settings, workloads, faults, issuers, not text",
    ],
    [{ userz: [] }, "userz is an unknown key. Did you mean users?"],
    [
      { sessions: [] },
      "sessions is an unknown key; there are $schema, users, clients, scopes, grants, settings, workloads, faults",
    ],
    [
      { format: "idp-state", schemaVersion: 1, users: [{ passwordHash: null }], scopes: [] },
      "format says that idp export wrote this; idp import replaces all data with it",
    ],
    [{ settings: { ledger: 0 } }, "settings.ledger must be at least 1"],
    [{ settings: { ledger: 100_001 } }, "settings.ledger must be at most 100000"],
    [{ workloads: { "a b": { as: "gitlab" } } }, 'workloads["a b"] must be 1 to 64 letters, digits, _ and -'],
    [{ $schema: 5 }, "$schema must be text, not the number 5: put it in quotes"],
    [{ users: {} }, "users must be a list, not an object"],
    [{ users: null }, "users must be a list, not null"],
    [{ users: ["alice"] }, 'users[0] must be an object, not "alice"'],
    [{ clients: [null] }, "clients[0] must be an object, not null"],
    [
      { scopes: [] },
      "scopes must be a map from a name to a description and claims, such as { orders: {} }, not a list",
    ],
    [{ grants: [[]] }, "grants[0] must be an object, not a list"],
    [{ settings: true }, "settings must be an object, not the value true"],
    [settings({ brand: {} }), "settings.brand is empty; give it a name, a color or a logo"],
    [
      { workloads: { deploy: { as: "gitlab", audience: "https://api.test" } } },
      "workloads.deploy.audience is an unknown key; there are as, claims",
    ],
    [
      { workloads: { deploy: { as: "gitlab", claim: {} } } },
      "workloads.deploy.claim is an unknown key. Did you mean claims?",
    ],
    [{ faults: [{ endpoint: "token", drop: false }] }, "faults[0].drop must be true, not the value false"],
    [{ faults: [{ endpoint: "token", status: 600 }] }, "faults[0].status must be at most 599, not 600"],
    [settings({ brand: { title: "Acme" } }), "settings.brand.title is an unknown key; there are name, color, logo"],
    [settings({ brand: { name: 7 } }), "settings.brand.name must be text, not the number 7: put it in quotes"],
    [
      settings({ brand: { color: null } }),
      "settings.brand.color must be text: put it in quotes, because # begins a comment in YAML",
    ],
    [settings({ brand: { color: "teal" } }), 'settings.brand.color "teal" is not a color such as "#0f766e"'],
    [
      settings({ brand: { logo: "logo.svg" } }),
      "settings.brand.logo must be a data URL such as data:image/png;base64,…; a path counts only in a fixture file",
    ],
    // Users.
    [{ users: [{}] }, "users[0].username is missing"],
    [user({ username: 5 }), "users[0].username must be text, not the number 5: put it in quotes"],
    [user({ username: "" }), 'users[0].username "" is not a username: 1 to 100 of the letters a to z'],
    [user({ username: "ayşe" }), 'users[0].username "ayşe" is not a username'],
    [user({ username: "a b" }), 'users[0].username "a b" is not a username'],
    [user({ username: ".." }), 'users[0].username ".." is not a username'],
    [user({ username: "a/b" }), 'users[0].username "a/b" is not a username'],
    [user({ username: "a".repeat(101) }), "is not a username"],
    [user({ emial: "x@y.test" }), "users[0].emial is an unknown key. Did you mean email?"],
    [
      user({ id: Number("7123456789012345678") }),
      "users[0].id is a number beyond 2^53, and would lose digits: put it in quotes",
    ],
    [user({ id: 12 }), "users[0].id must be text, not the number 12: put it in quotes"],
    [user({ id: "" }), "users[0].id is empty; give it a value or leave it out"],
    [user({ id: "ö" }), 'users[0].id "ö" is not an id: 1 to 255 characters of ASCII'],
    [user({ id: "x".repeat(256) }), "is not an id: 1 to 255 characters of ASCII"],
    [user({ displayName: "" }), "users[0].displayName is empty; give it a value or leave it out"],
    [user({ email: "bob.example.test" }), 'users[0].email "bob.example.test" is not an e-mail address'],
    [user({ email: "a@b@c.test" }), "is not an e-mail address"],
    [user({ email: "a b@c.test" }), "is not an e-mail address"],
    [user({ email: "a@" }), "is not an e-mail address"],
    [user({ email: "@c.test" }), "is not an e-mail address"],
    [user({ email: "a@-c.test" }), "is not an e-mail address"],
    [user({ email: "a@c..test" }), "is not an e-mail address"],
    [
      {
        users: ["A@x.test", "a@X.test", "b@x.test"].map((email, at) => ({ username: `u${at}`, email })),
        settings: { login: "password" },
      },
      'users[1].email "a@X.test" is taken by users[0]; with login: password, each user needs an address of their own',
    ],
    [
      user({ email: `a@${"c".repeat(60)}.${"d".repeat(60)}.${"e".repeat(60)}.${"f".repeat(60)}.${"g".repeat(20)}` }),
      "is not an e-mail address",
    ],
    [user({ emailVerified: "yes" }), 'users[0].emailVerified must be true or false, not "yes"'],
    [user({ password: "" }), "users[0].password is empty; give it a value or leave it out"],
    [
      user({ status: "baned" }),
      'users[0].status "baned" is not one of active, suspended, banned. Did you mean banned?',
    ],
    [user({ avatar: "x.png" }), 'users[0].avatar must be an object, not "x.png"'],
    [user({ avatar: { colour: "#fff" } }), "users[0].avatar.colour is an unknown key. Did you mean color?"],
    [user({ avatar: { color: "red" } }), 'users[0].avatar.color "red" is not a hex color, such as "#4f46e5"'],
    [user({ avatar: { baseUrl: "cdn" } }), 'users[0].avatar.baseUrl "cdn" is not an http or https URL'],
    [user({ avatar: { path: "/a b" } }), 'users[0].avatar.path "/a b" has white space; percent-encode it'],
    [user({ about: null }), "users[0].about must be text, not null"],
    [user({ language: "tr-TR" }), 'users[0].language "tr-TR" is not a two-letter language code, such as "en" or "tr"'],
    [user({ theme: "blue" }), 'users[0].theme "blue" is not one of light, dark, system'],
    [
      user({ createdAt: "yesterday" }),
      'users[0].createdAt "yesterday" is not an ISO 8601 time, such as 2024-01-15T09:30:00Z',
    ],
    [user({ createdAt: "2024-01-15T25:00:00Z" }), "is not an ISO 8601 time"],
    [user({ createdAt: "2024-01-15T09:30:00" }), "is not an ISO 8601 time"],
    [
      user({ createdAt: "2023-02-29T09:30:00Z" }),
      'users[0].createdAt "2023-02-29T09:30:00Z" is not a day of the calendar',
    ],
    [user({ website: "alice.test" }), 'users[0].website "alice.test" is not an http or https URL'],
    [user({ website: "javascript:alert(1)" }), "is not an http or https URL"],
    [user({ website: "https://" }), "is not an http or https URL"],
    [user({ birthDate: "17.05.1990" }), 'users[0].birthDate "17.05.1990" is not a date of the form YYYY-MM-DD'],
    [user({ birthDate: "1990-02-30" }), 'users[0].birthDate "1990-02-30" is not a day of the calendar'],
    [user({ birthDate: "1990-00-10" }), "is not a day of the calendar"],
    [
      user({ phone: "05551112233" }),
      'users[0].phone "05551112233" is not a phone number in E.164 form, such as "+905551112233"',
    ],
    [user({ phone: "+1234567890123456" }), "is not a phone number in E.164 form"],
    [user({ socialLinks: [{ platform: "x", url: "https://x.com/a" }] }), "users[0].socialLinks[0].label is missing"],
    [
      user({ socialLinks: [{ platform: "x", url: "x", label: "X" }] }),
      'users[0].socialLinks[0].url "x" is not an http or https URL',
    ],
    [user({ claims: [] }), "users[0].claims must be an object, not a list"],
    [user({ claims: { n: Number.NaN } }), "users[0].claims.n is NaN, which JSON does not have"],
    [user({ claims: { f: () => 1 } }), "users[0].claims.f is a function, which JSON does not have"],
    [user({ claims: { at: new Date(0) } }), "users[0].claims.at is a Date, which JSON does not have"],
    [
      user({ claims: JSON.parse('{"__proto__":{}}') as object }),
      "users[0].claims.__proto__ cannot be the name of a field",
    ],
    [
      { users: [{ username: "a" }, { username: "b" }, { username: "a" }] },
      'users[2].username "a" is taken by users[0]',
    ],
    [
      {
        users: [
          { username: "a", id: "1" },
          { username: "b", id: "1" },
        ],
      },
      'users[1].id "1" is taken by users[0]',
    ],
    // Clients.
    [{ clients: [{}] }, "clients[0].client_id is missing"],
    [client({ client_id: "a\tb" }), 'clients[0].client_id "a\tb" is not a client_id'],
    [client({ client_id: ".." }), 'clients[0].client_id ".." is not a client_id'],
    ...["none", "HS1", "ES512"].map((alg): [unknown, string] => [
      client({ token_endpoint_auth_signing_alg: alg }),
      "clients[0].token_endpoint_auth_signing_alg",
    ]),
    [
      client({
        token_endpoint_auth_method: "private_key_jwt",
        jwks: { keys: [] },
        token_endpoint_auth_signing_alg: "HS256",
      }),
      'clients[0].token_endpoint_auth_signing_alg "HS256" is not for "private_key_jwt"; use RS256, PS256, ES256, EdDSA',
    ],
    [
      client({
        token_endpoint_auth_method: "client_secret_jwt",
        client_secret: "s",
        token_endpoint_auth_signing_alg: "RS256",
      }),
      'clients[0].token_endpoint_auth_signing_alg "RS256" is not for "client_secret_jwt"; use HS256, HS384, HS512',
    ],
    [client({ redirectUris: [] }), "clients[0].redirectUris is an unknown key. Did you mean redirect_uris?"],
    [client({ "scope#tr": "x" }), 'clients[0]["scope#tr"] is an unknown key'],
    [client({ "logo_uri#tr": "x" }), 'clients[0]["logo_uri#tr"] "x" is not an http or https URL'],
    [client({ client_secret: "" }), "clients[0].client_secret is empty; give it a value or leave it out"],
    [client({ client_secret: 1234 }), "clients[0].client_secret must be text, not a number: put it in quotes"],
    [
      client({ redirect_uris: "http://localhost/cb" }),
      'clients[0].redirect_uris must be a list, not "http://localhost/cb"',
    ],
    [
      client({ redirect_uris: [] }),
      "clients[0].redirect_uris needs an address for authorization_code, which is the default",
    ],
    [
      client({ redirect_uris: undefined }),
      "clients[0].redirect_uris needs an address for authorization_code, which is the default",
    ],
    [
      client({ redirect_uris: [], grant_types: ["authorization_code"] }),
      "clients[0].redirect_uris needs an address for authorization_code",
    ],
    [
      client({ redirect_uris: ["http://evil.test/cb"] }),
      'clients[0].redirect_uris[0] "http://evil.test/cb" is http on a host that is not loopback',
    ],
    [
      client({ client_secret: "s", redirect_uris: ["http://127.0.0.1:*/cb"] }),
      "leaves the port open, which is for public clients (RFC 8252 7.3), or for all with the setting any_loopback_port",
    ],
    [
      client({ client_secret: "s", post_logout_redirect_uris: ["http://127.0.0.1:*/"] }),
      'clients[0].post_logout_redirect_uris[0] "http://127.0.0.1:*/" leaves the port open, which is for public clients',
    ],
    [
      client({ post_logout_redirect_uris: ["http://evil.test/"] }),
      'clients[0].post_logout_redirect_uris[0] "http://evil.test/" is http on a host that is not loopback',
    ],
    [client({ backchannel_logout_uri: "http://app:3000/bcl" }), 'list "app" in the setting http_redirect_hosts'],
    [client({ initiate_login_uri: "http://app:3000/l" }), 'list "app" in the setting http_redirect_hosts'],
    [client({ backchannel_logout_uri: "http://127.0.0.1:*/bcl" }), "leaves the port open; write the port"],
    [client({ backchannel_logout_uri: "https://*.x.test/bcl" }), "has a wildcard"],
    [client({ backchannel_logout_uri: "myapp://bcl" }), '"myapp://bcl" is not an http or https URL'],
    [
      client({ allowed_origins: ["http://app:3000"] }),
      'clients[0].allowed_origins[0] "http://app:3000" is http on a host that is not loopback',
    ],
    [
      client({ allowed_origins: ["null"] }),
      'clients[0].allowed_origins[0] "null" is the origin of every page without one, and cannot be allowed',
    ],
    [client({ allowed_origins: ["capacitor://localhost/"] }), "is not an origin as browsers send it"],
    [client({ allowed_origins: ["https://[2001:DB8::1]"] }), "is not an origin as browsers send it"],
    [client({ allowed_origins: ["https://[2001:0db8::1]"] }), "is not an origin as browsers send it"],
    [client({ allowed_origins: ["https://[::ffff:1.2.3.4]"] }), "is not an origin as browsers send it"],
    [client({ allowed_origins: ["file://x"] }), "is not an origin as browsers send it"],
    [client({ allowed_origins: ["javascript://x"] }), "is not an origin as browsers send it"],
    [settings({ http_redirect_hosts: ["app", "*.com"] }), 'settings.http_redirect_hosts[1] "*.com" would allow'],
    [settings({ http_redirect_hosts: ["app:3000"] }), 'settings.http_redirect_hosts[0] "app:3000" is not a host name'],
    [settings({ http_redirect_hosts: "app" }), "settings.http_redirect_hosts must be a list"],
    [settings({ any_loopback_port: "on" }), "settings.any_loopback_port must be true or false"],
    [
      client({ grant_types: ["implicit"] }),
      'clients[0].grant_types[0] "implicit" is not one of authorization_code, refresh_token',
    ],
    [
      client({ grant_types: ["client_credentials"] }),
      "clients[0].grant_types has client_credentials, which needs a client that can prove who it is",
    ],
    [
      client({ grant_types: ["urn:ietf:params:oauth:grant-type:token-exchange"] }),
      "clients[0].grant_types has token-exchange, which needs a client that can prove who it is",
    ],
    [client({ response_types: ["token"] }), 'clients[0].response_types[0] "token" is not "code"'],
    [service({ response_types: ["code"] }), 'clients[0].response_types "code" needs authorization_code in grant_types'],
    [client({ token_endpoint_auth_method: "client_secret_pots" }), "Did you mean client_secret_post?"],
    [
      client({ token_endpoint_auth_method: "client_secret_basic" }),
      'clients[0].token_endpoint_auth_method "client_secret_basic" needs a client_secret',
    ],
    [
      client({ token_endpoint_auth_method: "private_key_jwt" }),
      'clients[0].token_endpoint_auth_method "private_key_jwt" needs the client\'s public keys in jwks or jwks_uri',
    ],
    [
      client({ token_endpoint_auth_method: "none", client_secret: "s" }),
      'clients[0].client_secret is given, but token_endpoint_auth_method is "none"',
    ],
    [
      client({ jwks: { keys: [jwk] }, jwks_uri: "https://x.test/k" }),
      "clients[0].jwks_uri is given beside jwks; leave one of them out",
    ],
    [
      client({ jwks: { keys: [{ ...jwk, d: "secret" }] } }),
      "clients[0].jwks holds a private or secret key; register public keys only",
    ],
    [client({ jwks: { keys: [{ crv: "P-256" }] } }), "clients[0].jwks.keys[0].kty is missing"],
    [client({ jwks: [] }), "clients[0].jwks must be an object, not a list"],
    [
      client({ id_token_signed_response_alg: "none" }),
      'clients[0].id_token_signed_response_alg "none" is not one of RS256, PS256, ES256, EdDSA, HS256',
    ],
    [
      client({ id_token_signed_response_alg: "HS256" }),
      'clients[0].id_token_signed_response_alg "HS256" signs with the client_secret, and there is none',
    ],
    [client({ subject_type: "pairwise" }), 'clients[0].subject_type "pairwise" is not "public"'],
    [client({ scope: "openid  email" }), 'clients[0].scope "openid  email" is not a list of scope names'],
    [client({ scope: 'openid "x"' }), "is not a list of scope names"],
    [client({ default_max_age: -1 }), "clients[0].default_max_age is below zero"],
    [client({ default_max_age: 1.5 }), "clients[0].default_max_age must be a whole number, not the number 1.5"],
    [client({ require_pkce: "true" }), 'clients[0].require_pkce must be true or false, not "true"'],
    [
      client({ userinfo_format: "nativ" }),
      'clients[0].userinfo_format "nativ" is not one of native, standard, combined. Did you mean native?',
    ],
    [client({ audience: 5 }), "clients[0].audience is neither text nor a list of texts"],
    [
      client({ allowed_origins: ["http://localhost:5173/"] }),
      'clients[0].allowed_origins[0] "http://localhost:5173/" is not an origin as browsers send it',
    ],
    [client({ backchannel_logout_uri: "https://x.test/l#f" }), "has a fragment"],
    [client({ contacts: "a@x.test" }), 'clients[0].contacts must be a list, not "a@x.test"'],
    [{ clients: [client({}).clients[0], client({}).clients[0]] }, 'clients[1].client_id "c" is taken by clients[0]'],
    [client({ federated_credentials: [] }), "clients[0].federated_credentials is empty; list a workload"],
    [
      client({ federated_credentials: [{ issuer: "shop", subject: "s", audience: "a" }] }),
      'clients[0].federated_credentials[0].issuer "shop" is not an http or https URL',
    ],
    [
      client({ federated_credentials: [{ issuer: "https://a.test", audience: "a" }] }),
      "clients[0].federated_credentials[0].subject is missing",
    ],
    [
      client({
        token_endpoint_auth_method: "none",
        federated_credentials: [{ issuer: "https://a.test", subject: "s", audience: "a" }],
      }),
      'clients[0].federated_credentials is given, but token_endpoint_auth_method is "none"',
    ],
    [
      client({ grant_types: ["urn:ietf:params:oauth:grant-type:jwt-bearer"] }),
      "clients[0].grant_types has jwt-bearer, which needs a client that can prove who it is",
    ],
    // Scopes.
    [{ scopes: { "orders read": {} } }, 'scopes["orders read"] "orders read" is not a scope name'],
    [{ scopes: { email: {} } }, 'scopes.email "email" is built in, and cannot be defined'],
    [{ scopes: { "claim:email": {} } }, 'scopes["claim:email"] "claim:email" cannot be defined'],
    [{ scopes: { offline_access: {} } }, "is built in, and cannot be defined"],
    [{ scopes: { o: { descripton: "x" } } }, "scopes.o.descripton is an unknown key. Did you mean description?"],
    [{ scopes: { o: { description: { en: 5 } } } }, "scopes.o.description is neither text nor texts by language"],
    [{ scopes: { o: { claims: "roles" } } }, 'scopes.o.claims must be a list, not "roles"'],
    [{ scopes: { o: "x" } }, 'scopes.o must be an object, not "x"'],
    // Grants.
    [grant({ user: undefined }), "grants[0].user is missing"],
    [grant({ user: "alcie" }), 'grants[0].user names no user that exists: "alcie". Did you mean alice?'],
    [grant({ client: "nobody" }), 'grants[0].client names no client that exists: "nobody"'],
    [grant({ client: "narow" }), 'grants[0].client names no client that exists: "narow". Did you mean narrow?'],
    [
      grant({ scope: "openid oders:read" }),
      'grants[0].scope names no scope that exists: "oders:read". Did you mean orders:read?',
    ],
    [
      grant({ client: "narrow", scope: "openid phone orders:read" }),
      'grants[0].scope "phone orders:read" is not in the scope of client "narrow": "openid email"',
    ],
    [grant({ scope: "" }), 'grants[0].scope "" is not a list of scope names'],
    [grant({ scopes: ["openid"] }), "grants[0].scopes is an unknown key. Did you mean scope?"],
    [
      { ...grant({}), grants: [...grant({}).grants, ...grant({}).grants] },
      'grants[1] the grant of "alice" and "app" is taken by grants[0]',
    ],
    // Settings.
    [settings({ code_ttl: 0 }), "settings.code_ttl is not a positive number of seconds"],
    [settings({ code_ttl: "soon" }), "settings.code_ttl must be a whole number of seconds, or a duration such as 30s"],
    [settings({ code_ttl: "0m" }), "settings.code_ttl is not a positive number of seconds"],
    [settings({ code_ttl: "4000d" }), "settings.code_ttl is more than ten years"],
    [client({ public: true }), "clients[0].public is an unknown key. A client without client_secret is public"],
    [
      client({ frontchannel_logout_uri: "https://x.test/f" }),
      "clients[0].frontchannel_logout_uri has no effect: front-channel logout is not supported",
    ],
    [
      settings({ access_token_ttl: 1.5 }),
      "settings.access_token_ttl must be a whole number of seconds, or a duration such as 30s, 5m or 7d",
    ],
    [settings({ refresh_token_ttl: 604_800_000 }), "settings.refresh_token_ttl is more than ten years; write seconds"],
    [settings({ session_ttl: -1 }), "settings.session_ttl is not a positive number of seconds"],
    [settings({ refresh_grace: -1 }), "settings.refresh_grace is below zero"],
    [settings({ refresh_rotation: "maybe" }), 'settings.refresh_rotation is neither "on" nor "off"'],
    [settings({ login: "auto" }), 'settings.login "auto" must be one of picker, password, auto:<username>'],
    [settings({ login: "auto:nobody" }), 'settings.login names no user that exists: "nobody"'],
    [settings({ consent: "always" }), 'settings.consent "always" is not one of ask, skip'],
    [
      settings({ endpoints: "keyclaok" }),
      'settings.endpoints "keyclaok" is not one of auth0, okta, keycloak, cognito, entra, google, github, apple. Did you mean keycloak?',
    ],
    [settings({ endpoints: 5 }), "settings.endpoints must be an object, not the number 5"],
    [
      settings({ endpoints: { autorize: "/a" } }),
      "settings.endpoints.autorize is an unknown key. Did you mean authorize?",
    ],
    ...[
      "",
      "/",
      "token",
      "/a//b",
      "/a/",
      "/a/../b",
      "/.",
      "/a?b",
      "/a b",
      "/:a",
      "/*a",
      "/%61",
      "//a",
      "https://a.test/b",
    ].map((path): [unknown, string] => [
      settings({ endpoints: { token: path } }),
      `settings.endpoints.token "${path}" is not a path such as /oauth/token`,
    ]),
    ...[
      "/_idp",
      "/_idp/x",
      "/i",
      "/i/x",
      "/account",
      "/device",
      "/interaction/x/login",
      "/.well-known/openid-configuration",
    ].map((path): [unknown, string] => [
      settings({ endpoints: { token: path } }),
      `settings.endpoints.token "${path}" clashes with `,
    ]),
    [
      settings({ endpoints: { token: "/api/v2/oauth/revoke" } }),
      'settings.endpoints.token "/api/v2/oauth/revoke" clashes with the path of revoke, "/api/v2/oauth/revoke"',
    ],
    [
      settings({ endpoints: { register: "/clients", token: "/clients/token", revoke: "/revoke" } }),
      'settings.endpoints.register "/clients" clashes with the path of token, "/clients/token"',
    ],
    // Other issuers.
    ...(
      [
        [[{ issuer: "a b" }], '[0].issuer "a b" must be the URL of an issuer, the name of another issuer'],
        [[{ issuer: "https://a.test" }], '[0].issuer "https://a.test" needs jwks_uri or jwks'],
        [
          [{ issuer: "https://a.test", jwks: { keys: [jwk] }, jwks_uri: "https://a.test/k" }],
          "[0].jwks_uri is given beside jwks",
        ],
        [
          [{ issuer: "https://a.test", jwks: { keys: [{ ...jwk, d: "x" }] } }],
          "[0].jwks holds a private or secret key",
        ],
        [
          [{ issuer: "/", jwks_uri: "https://a.test/k" }],
          '[0].jwks_uri must be left out: "/" is an issuer of this process',
        ],
        [
          [{ issuer: "company" }, { issuer: "company", accepts: "id-jag" }],
          '[1].issuer "company" is in settings.trusted_issuers[0] already',
        ],
        [[{ issuer: "company", accepts: "all" }], '[0].accepts "all" is not one of id-jag, workload'],
        [[{ issuer: "company", accepts: "workload", match: "email" }], "[0].match is for accepts: id-jag"],
      ] as const
    ).map(([trusted_issuers, line]): [unknown, string] => [
      settings({ trusted_issuers }),
      `settings.trusted_issuers${line}`,
    ]),
    [
      { issuers: { tool: settings({ trusted_issuers: [{ issuer: "tool" }] }) } },
      'issuers.tool.settings.trusted_issuers[0].issuer "tool" is this issuer itself',
    ],
    [settings({ acess_token_ttl: 5 }), "settings.acess_token_ttl is an unknown key. Did you mean access_token_ttl?"],
  ])("%j", async (value, line) => {
    expect(await problemsOf({ value })).toEqual([expect.stringContaining(line)]);
  });

  it("all at once, and never a password or a secret", async () => {
    const lines = await problemsOf({
      value: {
        users: [{ username: "a", password: 20_231_117, email: "x" }, { username: "a" }],
        clients: [{ client_id: "c", client_secret: ["hunter2"] }],
        grants: [{ user: "nobody", client: "c", scope: "openid" }],
      },
    });
    expect(lines).toEqual([
      expect.stringMatching(/^users\[0\]\.email /),
      "users[0].password must be text, not a number: put it in quotes",
      "clients[0].client_secret must be text, not a list",
      'users[1].username "a" is taken by users[0]',
      'grants[0].user names no user that exists: "nobody"',
    ]);
    expect(lines.join()).not.toMatch(/20231117|hunter2/);
  });

  it("in a list that is long enough for the compiled checks", async () => {
    const users = Array.from({ length: 1500 }, (_, index) => ({
      username: `user${index}`,
      email: index === 1499 ? "x" : undefined,
    }));
    expect(await problemsOf({ value: { users } })).toEqual(['users[1499].email "x" is not an e-mail address']);
  });
});
