import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { documentOf, idpIn, startHere } from "../helpers/command.ts";

/** What becomes of tokens and codes that commands issued: they verify, are introspected and are revoked. */

const fixtures = {
  users: [{ username: "alice" }],
  clients: [
    { client_id: "app", client_secret: "app-secret", redirect_uris: ["http://localhost:3000/callback"] },
    { client_id: "other", redirect_uris: ["http://localhost:5173/callback"] },
  ],
};
const cwd = newFolder(afterAll);
writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify(fixtures));
const { issuer } = await startHere([], { cwd });

const words = (line: string): readonly string[] => line.split(" ");
const refused = (message: unknown): unknown => ({
  error: expect.objectContaining({ code: "refused", message }),
});

test("a token that was issued verifies, and no longer once its grant is revoked", async () => {
  const { stdout } = await idpIn(cwd, ["token", "issue", "--user", "alice", "--client", "app"]);
  expect(stdout).toMatch(/^ey\S+\n$/);
  const good = await idpIn(cwd, ["token", "verify", "-"], stdout);
  expect(good).toMatchObject({ code: 0 });
  expect((await idpIn(cwd, ["revoke", "--user", "alice", "--client", "app"])).code).toBe(0);
  const bad = await idpIn(cwd, ["token", "verify", "-", "--json"], stdout);
  expect(bad.code).toBe(6);
  expect(JSON.parse(bad.stdout)).toMatchObject({ valid: false });
  expect(JSON.parse(bad.stderr)).toEqual(refused("not valid: 1 of 7 checks failed"));
});

test("text that is not a token fails the only check", async () => {
  for (const more of [[], ["--secret-stdin"]]) {
    const none = await idpIn(cwd, ["token", "verify", "nonsense", "--json", ...more], "secret");
    const detail = expect.stringMatching(/^this is not a JWT \(no dots\)\. It may be/) as string;
    expect(JSON.parse(none.stdout)).toEqual({
      valid: false,
      checks: [{ name: "form", ok: false, detail }],
      notes: [],
    });
    expect(none.code).toBe(6);
  }
});

test("introspection says what a token is good for, and of a dead one why", async () => {
  const issued = await idpIn(cwd, words("token issue --user alice --client app --scope openid"));
  const introspect = () => idpIn(cwd, words("token introspect - --json"), issued.stdout);
  const good = await introspect();
  expect({ code: good.code, stderr: good.stderr }).toEqual({ code: 0, stderr: "" });
  expect(documentOf(good.stdout)).toMatchObject({
    active: true,
    token_type: "Bearer",
    iss: issuer,
    client_id: "app",
    scope: "openid",
    username: "alice",
  });
  await idpIn(cwd, words("revoke --user alice --client app"));
  const dead = await introspect();
  expect(dead.code).toBe(6);
  expect(documentOf(dead.stdout)).toEqual({
    active: false,
    reason: 'the grant of user "alice" for client "app" was revoked by the operator',
    since: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  });
  expect(documentOf(dead.stderr)).toEqual(
    refused(expect.stringMatching(/was revoked by the operator, .+ \(\d{4}-.+ UTC\)$/)),
  );
  const foreign = await idpIn(cwd, words("token introspect a.b.c"));
  expect(foreign).toMatchObject({
    code: 6,
    stdout: "inactive\n",
    stderr: expect.stringContaining("of this server"),
  });
});

test("one token is revoked alone, and a refresh token with its family", async () => {
  const { stdout } = await idpIn(cwd, ["issue", "tokens", "--user", "alice", "--client", "app", "--json"]);
  const tokens = JSON.parse(stdout) as Readonly<Record<"access_token" | "refresh_token", string>>;
  const revoke = (input: string) => idpIn(cwd, ["token", "revoke", "-", "--json"], input);
  const verify = async (input: string) => (await idpIn(cwd, ["token", "verify", "-"], input)).code;
  expect(JSON.parse((await revoke(tokens.access_token)).stdout)).toEqual({
    revoked: "access_token",
    client: "app",
  });
  expect([await verify(tokens.access_token), await verify(tokens.refresh_token)]).toEqual([6, 0]);
  // A whole token response names its refresh token.
  expect(JSON.parse((await revoke(stdout)).stdout)).toEqual({ revoked: "refresh_token", client: "app" });
  expect(await verify(tokens.refresh_token)).toBe(6);
});

test("issue code for a public client names the flag that it needs", async () => {
  const { code, stderr } = await idpIn(cwd, "issue code --user alice --client other --json".split(" "));
  expect(code).toBe(6);
  expect(JSON.parse(stderr)).toEqual({
    error: {
      code: "refused",
      message: 'client "other" must use PKCE (RFC 7636 4.3)',
      hint: expect.stringContaining("--code-challenge"),
    },
  });
});

test("issue code", async () => {
  const words = "issue code --user alice --client app --state s --json";
  const { code, stdout } = await idpIn(cwd, words.split(" "));
  expect(code).toBe(0);
  const issued = JSON.parse(stdout);
  expect(issued).toEqual({
    code: expect.any(String),
    redirect_uri: "http://localhost:3000/callback",
    url: expect.stringContaining("http://localhost:3000/callback?code="),
    expires_in: 60,
  });
});
