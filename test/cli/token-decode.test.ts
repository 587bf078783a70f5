import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder, startIdp } from "../helpers/cli.ts";
import { idpIn, startHere } from "../helpers/command.ts";

function folderWith(name: string, text: string): string {
  const folder = newFolder();
  writeFileSync(join(folder, name), text);
  return folder;
}
const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const expired = 1_700_000_000;
const token = `${part({ alg: "RS256", kid: "k1", typ: "JWT" })}.${part({ sub: "1", nonce: "n", exp: expired })}.c2ln`;

test("an expired token from standard input, with no server and no data folder", async () => {
  const { code, stdout, stderr } = await idpIn(newFolder(), ["token", "decode"], `Bearer ${token}\n`);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^ID token\nHeader\n {2}alg {2}RS256\n {2}kid {2}k1\n {2}typ {2}JWT\nClaims\n {2}sub {4}1\n {2}nonce {2}n\n {2}exp {4}1700000000 {2}2023-11-14 22:13:20 UTC {2}expired \d+ (days|years) ago\n$/,
  );
  expect(stderr).toBe("Signature not checked. To check it, pipe the token into: idp token verify -\n");
});

test("one token is one object", async () => {
  const { code, stdout } = await idpIn(newFolder(), ["token", "decode", token, "--json"]);
  expect(code).toBe(0);
  const { expiresIn, ...said } = JSON.parse(stdout);
  expect(said).toEqual({
    header: { alg: "RS256", kid: "k1", typ: "JWT" },
    payload: { sub: "1", nonce: "n", exp: expired },
    signature: "c2ln",
    verified: false,
  });
  expect(expiresIn).toBeLessThan(0);
});

test("a token response is an object by its members, several lines are a list", async () => {
  const cwd = newFolder();
  const response = JSON.stringify({ access_token: token, token_type: "Bearer", id_token: token });
  const ofResponse = await idpIn(cwd, ["--json", "token", "decode", "-"], response);
  expect(Object.keys(JSON.parse(ofResponse.stdout) as object)).toEqual(["access_token", "id_token"]);
  const ofLines = await idpIn(cwd, ["token", "decode", "--json"], `${token}\n${token}\n`);
  expect(JSON.parse(ofLines.stdout)).toHaveLength(2);
});

test("text that is not a token: exit code 6; no token at all: 2", async () => {
  const cwd = newFolder();
  const opaque = await idpIn(cwd, ["token", "decode", "opaque_8Jf"]);
  expect(opaque).toMatchObject({ code: 6, stdout: "" });
  expect(opaque.stderr).toMatch(/^Error: this is not a JWT \(no dots\)\n/);
  const none = await idpIn(cwd, ["token", "decode"]);
  expect(none).toMatchObject({ code: 2, stdout: "" });
});

test("scopes are explained, and each token of a response is named by its kind", async () => {
  const access = `${part({ alg: "HS256", typ: "at+jwt" })}.${part({ scope: "openid orders:read" })}.c2ln`;
  const issued = { token: access, type: "access", expires_in: 1800, warnings: [] };
  const { stdout } = await idpIn(newFolder(), ["token", "decode", "-"], JSON.stringify(issued));
  expect(stdout).toMatch(/^token {2}access token\n/);
  expect(stdout).toMatch(/\nScopes\n {2}openid {7}Know who you are\n {2}orders:read {2}not one of those built in\n$/);
});

test("numbers are printed with the digits of the token", async () => {
  const claims = '{"tenant":7123456789012345678,"ids":[9007199254740993],"exp":9223372036854775807}';
  const input = `${part({ alg: "none" })}.${Buffer.from(claims).toString("base64url")}.`;
  const text = await idpIn(newFolder(), ["token", "decode", "-"], input);
  expect(text.stdout).toContain("tenant  7123456789012345678\n");
  expect(text.stdout).toContain("[9007199254740993]\n");
  expect(text.stdout).toContain("9223372036854775807  not a date\n");
  const json = await idpIn(newFolder(), ["token", "decode", "-", "--json"], input);
  expect(json.stdout).toContain(`"payload":${claims}`);
  const verified = await idpIn(
    folderWith("keys.json", '{"keys":[]}'),
    ["token", "verify", "-", "--json", "--jwks", "keys.json", "--audience", "app"],
    `${part({ alg: "none" })}.${Buffer.from('{"aud":7123456789012345678}').toString("base64url")}.`,
  );
  expect(verified.stdout).toContain("the token has 7123456789012345678");
});

test("nothing in a token acts on the terminal", async () => {
  const evil = `${part({ alg: "\u001b[2J" })}.${part({ "\u001b]0;x\u0007": "a\nb", b: "\u009b31m\u202e", iat: 1e300, exp: -1e17 })}.x`;
  for (const args of [
    ["token", "decode"],
    ["token", "decode", "--json"],
  ]) {
    const { code, stdout } = await idpIn(newFolder(), args, evil);
    expect(code).toBe(0);
    // eslint-disable-next-line no-control-regex -- these are what must not come out
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(stdout.toLowerCase()).toContain("\\u009b31m\\u202e");
  }
});

test("a token of a server whose clock was moved is judged by that clock, and says so; another one by this machine's", async () => {
  const cwd = newFolder();
  const { issuer } = await startHere(["--data", "d"], { cwd });
  const run = async (words: string): Promise<string> =>
    (await idpIn(cwd, [...words.split(" "), "--data", "d", "--quiet"])).stdout.trim();
  await run("issuers add tenant");
  const issue = "token issue --user alice --client demo-app";
  const [old, ofTenant] = [await run(issue), await run(`${issue} --issuer tenant`)];
  expect(await run(`token decode ${old}`)).toMatch(/ {2}expires in (30|29) min\b[^(]*$/m);
  await run("clock advance 2h");
  expect(await run(`token decode ${old}`)).toMatch(/expired 1 h 30 min ago \(by the issuer's clock, 2 h ahead\)$/m);
  const fresh = await run(issue);
  expect(await run(`token decode ${fresh}`)).toMatch(/expires in (30|29) min.* \(by the issuer's clock, 2 h ahead\)$/m);
  expect(await run(`token decode ${fresh}`)).not.toContain("from now");
  const said = JSON.parse(await run(`token decode --json ${fresh}`)) as { expiresIn: number; clock: object };
  expect(said).toMatchObject({ clock: { offset: 7200, frozen: false } });
  expect(said.expiresIn).toBeLessThanOrEqual(1800);
  // Each issuer has its own clock, and a foreign one is not asked.
  expect(await run(`token decode ${ofTenant}`)).not.toContain("clock");
  const foreign = `${part({ alg: "none" })}.${part({ iss: `${issuer}.test`, exp: Math.floor(Date.now() / 1000) + 600 })}.`;
  expect(await run(`token decode ${foreign}`)).not.toContain("clock");
  await run("clock freeze --issuer tenant");
  expect(await run(`token decode ${ofTenant}`)).toMatch(/\(by the issuer's clock, frozen at 20\S+Z\b.*\)$/m);
  const ended = await idpIn(cwd, ["token", "introspect", old, "--data", "d"]);
  expect(ended.stderr).toMatch(/it expired, 1 h 30 min ago .*\nTimes are by the issuer's clock, 2 h ahead\.\n$/);
  expect(await run(`token introspect ${fresh}`)).toMatch(/^exp .* in (30|29) min/m);
  // What was done now was done now, also to a server that is ahead.
  expect(await run("issue grant --user bob --client demo-app")).toMatch(/^created .* now$/m);
  expect(await run("grants list --user bob")).toMatch(/ now .* openid$/m);
  await run("login --user alice --approve --no-browser");
  expect(await run("sessions list")).toMatch(/ alice +(now|\d s ago) /m);
});

test("a server that does not answer, or a lock that is left, does not delay a token", async () => {
  const cwd = newFolder();
  const { child } = await startIdp(["--data", "d"], { cwd });
  const issued = await idpIn(cwd, "token issue --user alice --client demo-app --data d".split(" "));
  child.kill("SIGSTOP");
  const decoded = () => idpIn(cwd, ["token", "decode", issued.stdout.trim(), "--data", "d"]);
  expect(await decoded()).toMatchObject({ code: 0, stdout: expect.stringContaining("expires in") });
  child.kill("SIGKILL");
  expect(await decoded()).toMatchObject({ code: 0, stdout: expect.stringContaining("expires in") });
});
