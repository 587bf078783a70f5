import { createHmac } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { newFolder, startIdp, type Ended } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";

/** Where the keys come from that verify a token; and input that is not a token. */

const cwd = newFolder(afterAll);
const server = await startIdp(["--access-token-alg", "RS256"], { cwd }, afterAll);
const token = (await idpIn(cwd, "token issue --user alice --client demo-app".split(" "))).stdout.trim();
const keySet = await (await fetch(`${server.issuer}/api/v2/oauth/jwks`)).text();

const verify = (words: readonly string[], input?: string): Promise<Ended> =>
  idpIn(cwd, ["token", "verify", ...words, "--json"], input);

const checksOf = ({ stdout }: Ended): Readonly<Record<string, boolean>> => {
  const { checks } = JSON.parse(stdout) as { checks: readonly { name: string; ok: boolean }[] };
  return Object.fromEntries(checks.map(({ name, ok }) => [name, ok]));
};

test("with the keys of the running server, which also reports revocations", async () => {
  const ended = await verify([token, "--audience", server.issuer]);
  expect(ended.code).toBe(0);
  expect(checksOf(ended)).toEqual({
    signature: true,
    typ: true,
    iss: true,
    aud: true,
    exp: true,
    iat: true,
    claims: true,
    state: true,
  });
});

test("what is wrong about a token is said first, and in the words of its header", async () => {
  const made = async (flaw: string): Promise<string> =>
    (await idpIn(cwd, ["token", "issue", "--user", "alice", "--client", "demo-app", flaw])).stdout.trim();
  const checks = async (jwt: string, ...flags: readonly string[]): Promise<readonly unknown[]> =>
    (JSON.parse((await verify([jwt, ...flags])).stdout) as { readonly checks: readonly unknown[] }).checks;
  const wrong = await made("--wrong-audience");
  const aud = { name: "aud", ok: false, detail: expect.stringContaining("https://wrong-audience.invalid") };
  expect((await checks(wrong))[0]).toEqual(aud);
  expect((await checks(wrong, "--audience", server.issuer))[0]).toEqual(aud);
  expect((await checks(wrong, "--issuer", server.issuer))[0]).toEqual(aud);
  const [, payload, signature] = token.split(".");
  const header = Buffer.from(JSON.stringify({ alg: "RS256", typ: "at+jwt" })).toString("base64url");
  const withoutKid = `${header}.${payload}.${signature}`;
  const signatureOf = (detail: string) => ({ name: "signature", ok: false, detail: expect.stringContaining(detail) });
  expect((await checks(withoutKid))[0]).toEqual(signatureOf("names no key"));
  expect((await checks(withoutKid, "--issuer", server.issuer))[0]).toEqual(signatureOf("names no key"));
  const critical = await made("--crit");
  for (const flags of [[], ["--issuer", server.issuer]]) {
    expect((await checks(critical, ...flags))[0]).toEqual(signatureOf('crit: ["unknown-extension"]'));
  }
});

describe("with keys that are public", () => {
  test("by the issuer's discovery, from an address, from a file", async () => {
    const file = join(newFolder(), "jwks.json");
    writeFileSync(file, keySet);
    const one = join(newFolder(), "jwk.json");
    writeFileSync(one, JSON.stringify((JSON.parse(keySet) as { keys: unknown[] }).keys[0]));
    for (const flags of [
      ["--issuer", server.issuer],
      ["--jwks", `${server.issuer}/api/v2/oauth/jwks`, "--issuer", server.issuer],
      ["--jwks", file, "--issuer", server.issuer],
      ["--jwks", one, "--issuer", server.issuer],
    ]) {
      const ended = await idpIn(newFolder(), ["token", "verify", token, ...flags, "--json"]);
      expect(ended.code, ended.stderr).toBe(0);
      expect(checksOf(ended)).toEqual({ signature: true, iss: true, exp: true, iat: true });
      expect(ended.stderr).toBe("Revocation was not checked: only the issuer knows it. Use introspection.\n");
    }
  });

  test("each bad token fails the check that it is made for", async () => {
    const failed = async (flaw: string): Promise<readonly string[]> => {
      const made = await idpIn(cwd, ["token", "issue", "--user", "alice", "--client", "demo-app", flaw]);
      const ended = await verify(["-", "--issuer", server.issuer, "--audience", server.issuer], made.stdout);
      expect(ended.code).toBe(6);
      expect(JSON.parse(ended.stderr)).toMatchObject({ error: { code: "refused" } });
      return Object.entries(checksOf(ended)).flatMap(([name, ok]) => (ok ? [] : [name]));
    };
    expect(await failed("--expired")).toEqual(["exp"]);
    expect(await failed("--not-yet-valid")).toEqual(["nbf"]);
    expect(await failed("--wrong-issuer")).toEqual(["iss"]);
    expect(await failed("--wrong-audience")).toEqual(["aud"]);
    expect(await failed("--bad-signature")).toEqual(["signature"]);
    expect(await failed("--unknown-kid")).toEqual(["signature"]);
    expect(await failed("--alg-none")).toEqual(["signature"]);
    const unsigned = await idpIn(cwd, ["token", "issue", "--user", "alice", "--client", "demo-app", "--alg-none"]);
    expect((await verify(["-"], unsigned.stdout)).stdout).toContain('the token is not signed: its alg is \\"none\\"');
  });
});

test("with a secret from standard input", async () => {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const text = `${part({ alg: "HS256" })}.${part({ sub: "1", exp: 4e9 })}`;
  const signed = `${text}.${createHmac("sha256", "s3cret").update(text).digest("base64url")}`;
  expect(await verify([signed, "--secret-stdin"], "s3cret\n")).toMatchObject({ code: 0 });
  expect(await verify([signed, "--secret-stdin"], "else")).toMatchObject({ code: 6 });
});

test.each<[string, readonly string[], number, RegExp]>([
  ["an address where nothing is", ["a.b.c", "--issuer", "http://localhost:1"], 5, /nothing answers at/],
  ["an invalid address", ["a.b.c", "--jwks", "http://"], 7, /is not an address/],
  ["an address in capitals where nothing is", ["a.b.c", "--jwks", "HTTPS://localhost:1"], 5, /nothing answers at/],
  ["a file that is not there", ["a.b.c", "--jwks", "nowhere.json"], 3, /cannot be read/],
  ["two sources", ["a.b.c", "--jwks", "x", "--secret-stdin"], 2, /not both/],
  ["token and secret both on standard input", ["-", "--secret-stdin"], 2, /the token has to be the argument/],
  ["an issuer that is no address", ["a.b.c", "--issuer", "accounts.example.com"], 2, /It must be a URL/],
  ["a leeway that is no time", ["a.b.c", "--leeway", "soon"], 2, /whole number of seconds/],
])("refused: %s", async (_what, words, code, message) => {
  const ended = await verify(words);
  expect(ended).toMatchObject({ code, stdout: "" });
  expect(ended.stderr).toMatch(message);
});

test("an issuer with another name, and a file without keys", async () => {
  const slash = await verify([token, "--issuer", `${server.issuer}/`]);
  expect(slash).toMatchObject({ code: 6, stdout: "", stderr: expect.stringContaining("letter by letter") });
  writeFileSync(join(cwd, "none.json"), "[]");
  expect(await verify([token, "--jwks", "none.json"])).toMatchObject({ code: 7, stdout: "" });
});

describe("input that is not a token, for every command that takes one", () => {
  test.each(["decode", "verify", "introspect", "revoke"])("token %s", async (command) => {
    const give = (input: string) => idpIn(cwd, ["token", command, "-"], input);
    for (const [input, message] of [
      [" \n", /there is no token/],
      ["\u0000\u0001\u0002", /binary data/],
      ["x".repeat(2 * 1024 * 1024), /more than 1 MB/],
    ] as const) {
      const { code, stdout, stderr } = await give(input);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toMatch(message);
    }
    if (command === "decode") return;
    expect(await give(`${"x".repeat(70_000)}.b.c`)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("no token has as many"),
    });
  });
});
