import { describe, expect, it } from "vitest";
import { reservedClaims } from "../../src/core/records/scopes/claim-table.ts";
import { problemsOf } from "../helpers/fixtures.ts";

/** Nothing that would have no effect is accepted, and what is refused is pointed at. */

const yaml = (text: string): Promise<string[]> => problemsOf({ name: "team.yaml", text });
const user = (fields: object) => problemsOf({ value: { users: [{ username: "x", ...fields }] } });
const app = (fields: object) =>
  problemsOf({ value: { clients: [{ client_id: "c", redirect_uris: ["http://localhost/cb"], ...fields }] } });

describe("reserved claims", () => {
  it.each(
    (
      "sub iss aud exp iat nbf jti nonce azp at_hash c_hash auth_time acr amr sid client_id scope typ era cnf act " +
      "may_act events grant family"
    ).split(" "),
  )("%s", async (name) => {
    const line = expect.stringMatching(new RegExp(`\\.claims\\.${name} is set by the server: `)) as unknown;
    expect(await user({ claims: { [name]: "x" } })).toEqual([line]);
    expect(await app({ claims: { [name]: "x" } })).toEqual([line]);
    expect(reservedClaims).toContain(name);
  });

  it("are shown at their names, with what to write instead", async () => {
    expect(await yaml("users:\n  - username: x\n    claims:\n      roles: [a]\n      sub: auth0|1\n")).toEqual([
      "team.yaml:5:7 users[0].claims.sub is set by the server: the sub of a user is their id, and that of a client its client_id",
    ]);
  });

  it("cannot be released by a scope either", async () => {
    expect(await yaml("scopes:\n  x: { claims: [roles, sub] }\n")).toEqual([
      expect.stringMatching(/^team\.yaml:2:24 scopes\.x\.claims\[1\] is set by the server: /),
    ]);
  });

  it("do not stand in the way of standard claims and others", async () => {
    expect(await user({ claims: { email: "a@b.test", given_name: "A", "https://x.test/roles": ["a"] } })).toEqual([]);
  });
});

describe("a hash as a password", () => {
  const hashes: readonly (readonly [string, string])[] = [
    ["bcrypt", "$2a$10$2b2cU8CPhOTaGrs1HRQuAueS7JTT5ZHsHSzYiFPm1leZck7Mc8T4W"],
    ["bcrypt", "{bcrypt}$2b$12$2b2cU8CPhOTaGrs1HRQuAueS7JTT5ZHsHSzYiFPm1leZck7Mc8T4W"],
    ["argon2", "$argon2id$v=19$m=65536,t=3,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b1dWRWJTmaaJObG"],
    ["scrypt", "$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E"],
    ["scrypt", `scrypt$16384$8$1$${"s".repeat(22)}$${"h".repeat(43)}`],
    ["pbkdf2", "$pbkdf2-sha256$25000$PE2dm50X8gYmeRkdUeWS/w$QYV/GnHy3Mq6QtQE/ZC9xUNYkVKZE1E9WZDNzOsgcRg"],
    ["pbkdf2", "pbkdf2_sha256$260000$abcdefghijkl$E4wwzpDUL/jn7IUlMAfElCJJTIVeuoW7KcnRPTHmmFQ="],
    ["pbkdf2", "pbkdf2:sha256:600000$abcdefgh$1d7b28f05b7d67fb2ef6e4d1a1ba6dfd0f2c0c8df1f8f3a2"],
    ["sha-crypt", `$6$rounds=5000$saltsalt$${"x".repeat(86)}`],
    ["sha-crypt", `$5$saltsalt$${"x".repeat(43)}`],
    ["MD5-crypt", `$apr1$saltsalt$${"x".repeat(22)}`],
    ["SHA", `{SSHA}${"x".repeat(32)}`],
  ];
  it.each(hashes)("%s", async (kind, password) => {
    const [line = "", ...more] = await user({ password });
    expect(more).toEqual([]);
    expect(line).toBe(
      `users[0].password is a hash (${kind}), and nobody could sign in with it: write the plain password, of which only a hash is stored`,
    );
  });
  it.each(["$2a$10$", "$6$", "pbkdf2", "{SSHA}", "scrypt$", "correct horse battery staple"])(
    "%s is not one",
    async (password) => {
      expect(await user({ password })).toEqual([]);
    },
  );
});

describe("a pattern that matches nothing", () => {
  it.each([
    "https://app.test/*",
    "http://localhost:3000/*",
    "https://app.test/cb?x=*",
    "https://*.app.test/cb",
    "com.example.app:/*",
    "*",
  ])("%s as a redirect URI", async (uri) => {
    const wrong = `"${uri}" has a wildcard, which matches nothing: redirect URIs are compared letter by letter. Register each address by itself`;
    expect(await app({ redirect_uris: [uri] })).toEqual([`clients[0].redirect_uris[0] ${wrong}`]);
    expect(await app({ post_logout_redirect_uris: [uri] })).toEqual([
      `clients[0].post_logout_redirect_uris[0] ${wrong}`,
    ]);
  });
  it.each(["https://*.app.test", "*"])("%s as an origin", async (origin) => {
    expect(await app({ allowed_origins: [origin] })).toEqual([expect.stringContaining("is not an origin")]);
  });
  it("except the port of loopback", async () => {
    expect(await app({ redirect_uris: ["http://127.0.0.1:*/cb", "http://[::1]:*/cb"] })).toEqual([]);
  });
});
