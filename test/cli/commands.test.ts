import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createIdp, type Idp } from "../../src/index.ts";
import { newFolder, type Ended } from "../helpers/cli.ts";
import { documentOf, idpIn } from "../helpers/command.ts";

/** What commands answer. `every-command.test.ts` proves that the answer is the same without a running server. */

const fixtures = {
  users: [
    { username: "alice", id: "7123456789012345678", email: "alice@example.com", password: "alice" },
    { username: "bob", displayName: "Bob\u001b[2J Brown" },
    { username: "carol", status: "suspended" },
    { username: "dave", status: "banned" },
  ],
  clients: [
    { client_id: "app", client_secret: "app-secret", redirect_uris: ["http://localhost:3000/callback"] },
    { client_id: "other", redirect_uris: ["http://localhost:5173/callback"], scope: "openid email" },
    { client_id: "service", client_secret: "service-secret", grant_types: ["client_credentials"] },
  ],
  scopes: { orders: {}, reports: {} },
};

/** A case: what is typed, how it ends, and what is checked of its answer. */
interface Case {
  readonly words: string;
  readonly code: number;
  /** Of stdout, or of the error object on stderr. */
  readonly json: unknown;
  readonly input?: string;
}

const refused = (code: string, message: unknown): unknown => ({ error: expect.objectContaining({ code, message }) });
const withStatus = (status: string): unknown => expect.objectContaining({ username: "bob", status });
const grant = (user: string, client: string, status: string): unknown =>
  expect.objectContaining({ id: expect.stringMatching(/^g_/), user, client, status });

const issued = (type: string, expires_in: number, warnings: readonly unknown[] = []): unknown => ({
  ...{ token: expect.stringMatching(/^ey/), type, warnings },
  // The clock may tick between.
  expires_in: expect.toSatisfy((left: number) => left === expires_in || left === expires_in - 1),
});

const cases: readonly Case[] = [
  {
    words: "users list",
    code: 0,
    json: ["alice", "bob", "carol", "dave"].map((username): unknown => expect.objectContaining({ username })),
  },
  {
    words: "users show alice",
    code: 0,
    json: {
      id: "7123456789012345678",
      username: "alice",
      displayName: expect.any(String),
      email: "alice@example.com",
      emailVerified: expect.any(Boolean),
      hasPassword: true,
      factors: [],
      status: "active",
      avatar: { baseUrl: null, path: "", color: expect.any(String) },
      about: "",
      language: "en",
      theme: null,
      createdAt: expect.any(String),
      website: null,
      location: null,
      note: null,
      birthDate: null,
      phone: null,
      socialLinks: [],
      claims: {},
    },
  },
  { words: "users show bob", code: 0, json: expect.objectContaining({ hasPassword: false }) },
  { words: "users show 7123456789012345678", code: 0, json: expect.objectContaining({ username: "alice" }) },
  {
    words: "users show alcie",
    code: 3,
    json: {
      error: { code: "not_found", message: 'no user "alcie"', hint: expect.stringContaining("Did you mean alice?") },
    },
  },
  { words: "users suspend bob", code: 0, json: withStatus("suspended") },
  { words: "users show bob", code: 0, json: withStatus("suspended") },
  { words: "users restore bob", code: 0, json: withStatus("active") },
  { words: "users suspend dave", code: 4, json: refused("conflict", expect.stringContaining("banned")) },
  { words: "users ban nobody", code: 3, json: refused("not_found", 'no user "nobody"') },
  {
    words: "clients list",
    code: 0,
    json: ["app", "other", "service"].map((client_id): unknown => expect.objectContaining({ client_id })),
  },
  {
    words: "clients show app",
    code: 0,
    json: { client_id: "app", redirect_uris: ["http://localhost:3000/callback"], public: false },
  },
  {
    words: "clients show app --show-secrets",
    code: 0,
    json: expect.objectContaining({ client_id: "app", client_secret: "app-secret" }),
  },
  { words: "clients show other", code: 0, json: expect.objectContaining({ public: true, scope: "openid email" }) },
  { words: "clients show ap", code: 3, json: refused("not_found", 'no client "ap"') },
  { words: "grants list", code: 0, json: [] },
  { words: "grants list --user nobody", code: 3, json: refused("not_found", 'no user "nobody"') },
  { words: "grants show g_x", code: 3, json: refused("not_found", 'no grant "g_x"') },
  { words: "revoke --user alice --client app", code: 0, json: { revoked: [] } },
  {
    words: "issue grant --user alice --client app --scope openid",
    code: 0,
    json: {
      id: expect.stringMatching(/^g_/),
      user: "alice",
      client: "app",
      scope: "openid",
      status: "active",
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      revokedAt: null,
    },
  },
  { words: "issue grant --user alice --client other", code: 0, json: grant("alice", "other", "active") },
  {
    words: "grants list --user alice",
    code: 0,
    json: [grant("alice", "app", "active"), grant("alice", "other", "active")],
  },
  { words: "grants list --client other", code: 0, json: [grant("alice", "other", "active")] },
  {
    words: "issue tokens --user alice --client app",
    code: 0,
    json: {
      access_token: expect.stringMatching(/^ey/),
      refresh_token: expect.stringMatching(/^ey/),
      id_token: expect.stringMatching(/^ey/),
      token_type: "Bearer",
      expires_in: 1800,
      scope: "openid",
    },
  },
  {
    words: "issue tokens --user carol --client app",
    code: 6,
    json: refused("refused", expect.stringContaining("suspended")),
  },
  { words: "issue tokens --user alice --client service", code: 6, json: refused("refused", expect.any(String)) },
  {
    words: "issue grant --user alice --client other --scope phone",
    code: 6,
    json: refused("refused", expect.any(String)),
  },
  { words: "issue tokens --user alice --client nope", code: 3, json: refused("not_found", 'no client "nope"') },
  { words: "token issue --user alice --client app", code: 0, json: issued("access", 1800) },
  { words: "token issue --user alice --client app --type id --expires-in 60", code: 0, json: issued("id", 60) },
  { words: "token issue --client service --claim tenant=acme", code: 0, json: issued("access", 1800) },
  {
    words: "token issue --client app",
    code: 2,
    json: refused("usage", expect.stringContaining("the user is missing")),
  },
  {
    words: "token issue --user alice --client app --expired --wrong-issuer",
    code: 0,
    json: issued("access", -3600, [expect.stringMatching(/^expired: /), expect.stringMatching(/^wrong-issuer: /)]),
  },
  {
    words: "token issue --user alice --client app --claim sub=bob",
    code: 2,
    json: {
      error: {
        ...{ code: "usage", message: expect.stringContaining('--claim "sub" cannot be set') },
        ...{ hint: "See: idp token issue --help", problems: [expect.objectContaining({ path: "claims.sub" })] },
      },
    },
  },
  { words: "token revoke -", input: "a.b.c", code: 0, json: { revoked: null, client: null } },
  { words: "revoke --user alice --client app", code: 0, json: { revoked: [grant("alice", "app", "revoked")] } },
  { words: "revoke --user alice", code: 0, json: { revoked: [grant("alice", "other", "revoked")] } },
  {
    words: "revoke --user alcie",
    code: 3,
    json: {
      error: { code: "not_found", message: 'no user "alcie"', hint: expect.stringContaining("Did you mean alice?") },
    },
  },
  { words: "revoke --client nope", code: 3, json: refused("not_found", 'no client "nope"') },
  { words: "revoke g_nope", code: 3, json: refused("not_found", 'no grant "g_nope"') },
  { words: "issue grant --user bob --client app", code: 0, json: grant("bob", "app", "active") },
  {
    words: "users ban bob",
    code: 0,
    json: expect.objectContaining({ username: "bob", status: "banned", grantsRevoked: 1, sessionsEnded: 0 }),
  },
  { words: "users restore bob", code: 0, json: withStatus("active") },
  { words: "grants list --user bob", code: 0, json: [grant("bob", "app", "revoked")] },
  { words: "users edit bob --email bob@other.test", code: 0, json: expect.objectContaining({ username: "bob" }) },
  {
    words: "reset",
    code: 0,
    json: {
      fixtures: [expect.stringMatching(/idp\.fixtures\.json$/)],
      users: { total: 4, removed: [], added: [], changed: [{ name: "bob", fields: ["email"] }] },
      clients: { total: 3, removed: [], added: [], changed: [] },
      scopes: { total: 2, removed: [], added: [], changed: [] },
      grants: { total: 0, removed: ["alice app", "alice other", "bob app"], added: [], changed: [] },
      settings: [],
      sessionsEnded: 0,
      keysRenewed: false,
    },
  },
  { words: "reset --keys --fixtures FILE", code: 0, json: expect.objectContaining({ keysRenewed: true }) },
  { words: "reset --fixtures nowhere.yaml", code: 7, json: refused("invalid", "file not found: nowhere.yaml") },
];

const words = (line: string): readonly string[] => line.split(" ");

function check({ code, json }: Case, ended: Ended): void {
  expect(ended.code, ended.stderr).toBe(code);
  if (code === 0) {
    expect(documentOf(ended.stdout)).toEqual(json);
    return;
  }
  expect(ended.stdout).toBe("");
  expect(documentOf(ended.stderr)).toEqual(json);
}

const cwd = newFolder(afterAll);
let issuer: string;
let server: Idp;

beforeAll(async () => {
  const file = join(cwd, "idp.fixtures.json");
  writeFileSync(file, JSON.stringify(fixtures));
  server = await createIdp({ data: join(cwd, ".idp"), port: 0, fixtures: [file] });
  ({ issuer } = server);
  return () => server.close();
});

test.each(cases)("idp $words ends with $code", async (one) => {
  const typed = one.words.replace("FILE", join(cwd, "idp.fixtures.json"));
  const ended = await idpIn(cwd, [...typed.split(" "), "--json"], one.input);
  check(one, ended);
});

test.each(["users", "clients", "grants", "sessions", "keys", "snapshots", "issuers"])(
  "idp %s lists, as with the word list",
  async (group) => {
    const listed = await idpIn(cwd, [group, "list"]);
    expect(listed.code).toBe(0);
    expect(await idpIn(cwd, [group])).toEqual(listed);
  },
);

test("a key is removed once it no longer signs", async () => {
  const keys = async (words: readonly string[]) =>
    JSON.parse((await idpIn(cwd, [...words, "--json"])).stdout) as { kid: string; alg: string; status: string }[];
  const all = await keys(["keys"]);
  const kid = all[0]?.kid ?? "";
  // The kid of an RS256 key is as long as a secret, and is shown only in part. A kid may begin with a hyphen, so `--` is before it.
  for (const { kid: signing, alg } of all) {
    expect(await idpIn(cwd, ["keys", "remove", "--yes", "--", signing])).toMatchObject({
      code: 4,
      stderr: expect.stringContaining(
        `key "${signing.slice(0, 11)}${signing.length > 11 ? "…" : ""}" still signs (${alg})`,
      ),
    });
  }
  await keys(["keys", "rotate"]);
  expect(await idpIn(cwd, ["keys", "remove", "--yes", "--", kid])).toMatchObject({
    code: 0,
    stdout: `Removed key ${kid}.\n`,
  });
  expect((await keys(["keys"])).map((key) => key.kid)).not.toContain(kid);
});

test("revoke --all revokes every grant", async () => {
  for (const user of ["alice", "bob"]) await idpIn(cwd, ["issue", "grant", "--user", user, "--client", "app"]);
  expect(await idpIn(cwd, words("revoke --user alice --client other"))).toMatchObject({
    stdout: "Nothing to revoke: no active grant.\n",
    stderr: "alice has grants for app.\n",
  });
  expect(await idpIn(cwd, ["revoke", "--all", "--user", "alice", "--yes"])).toMatchObject({ code: 2 });
  const { stdout } = await idpIn(cwd, ["revoke", "--all", "--yes", "--json"]);
  expect(JSON.parse(stdout)).toEqual({
    revoked: [grant("alice", "app", "revoked"), grant("bob", "app", "revoked")],
  });
});

test("a change says on stderr where it was made, and with --quiet nothing", async () => {
  const { code, stderr } = await idpIn(cwd, ["users", "restore", "bob"]);
  expect(code).toBe(0);
  expect(stderr).toMatch(/^via the running server http:\/\/localhost:\d+$/m);
  expect(await idpIn(cwd, ["users", "restore", "bob", "--quiet"])).toMatchObject({ code: 0, stderr: "" });
});

test("text from the data does not act on the terminal", async () => {
  for (const words of ["users list", "users show bob", "users list --json"]) {
    const { stdout } = await idpIn(cwd, words.split(" "));
    expect(stdout).toContain("\\u001b[2J");
    expect(stdout).not.toContain("\u001b");
  }
});

test("an undefined scope is named to the person who typed it", async () => {
  const cases = [
    ["issue grant --user alice --client app --scope", "openid emial", "Did you mean email?"],
    ["issue tokens --user alice --client app --scope", "openid emial", "Did you mean email?"],
    ["token issue --user alice --client app --scope", "openid shoes", "Define it under"],
    ["clients add scoped --redirect-uri http://localhost:3000/cb --scope", "openid orders reports", null],
    ["clients edit scoped --scope", "openid shoes", "Define it under"],
    ["issue code --user alice --client app --scope", "openid shoes", "Define it"],
  ] as const;
  for (const [words = "", scope = "", next] of cases) {
    const { code, stderr } = await idpIn(cwd, [...words.split(" "), scope]);
    expect(code, stderr).toBe(0);
    const name = scope.split(" ").at(-1) ?? "";
    if (next === null) expect(stderr).not.toContain("not defined");
    else expect(stderr).toContain(`Scope "${name}" is not defined, so it is ignored. ${next}`);
  }
  await idpIn(cwd, ["clients", "remove", "scoped"]);
});

/** The issuer of a token that is issued now. */
async function issuerOfToken(...more: readonly string[]): Promise<unknown> {
  const { stdout } = await idpIn(cwd, [...words("token issue --user alice --client app"), ...more]);
  const decoded = await idpIn(cwd, ["token", "decode", "--json"], stdout);
  return (JSON.parse(decoded.stdout) as { payload: { iss: string } }).payload.iss;
}

const place = { users: 4, clients: 3, snapshots: 0, requests: 0, data: expect.stringMatching(/\.idp\/data\.json$/) };

test("status and the issuer of tokens, with the server running", async () => {
  const { code, stdout } = await idpIn(cwd, ["status", "--json"]);
  expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ ...place, running: true })]);
  expect([await issuerOfToken(), await issuerOfToken("--as-issuer", issuer)]).toEqual([issuer, issuer]);
});

test("the same on the data alone: the issuer is the one that it was last served under", async () => {
  await server.close();
  const { code, stdout, stderr } = await idpIn(cwd, ["status", "--json"]);
  expect([code, JSON.parse(stdout)]).toEqual([5, expect.objectContaining({ ...place, running: false })]);
  expect(JSON.parse(stderr)).toEqual(refused("no_server", expect.any(String)));
  const other = "http://idp.test";
  expect([await issuerOfToken(), await issuerOfToken("--as-issuer", other)]).toEqual([issuer, other]);
  expect((await idpIn(cwd, ["users", "restore", "bob"])).stderr).toMatch(/^in \.idp\/data\.json$/m);
});
