import { existsSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { jwtPart } from "../helpers/client.ts";
import { idp, newFolder } from "../helpers/cli.ts";

/** `idp exec --as`: the command has the identity of a job or a pod, and a verifier that knows only the issuer accepts it. */

/** What a service does with such a token: it finds the keys by discovery, and checks issuer, audience and times. */
const verifier = `
  const { createRemoteJWKSet, jwtVerify } = await import(${JSON.stringify(import.meta.resolve("jose"))});
  const issuer = process.env.OIDC_WORKLOAD_ISSUER;
  const discovery = await (await fetch(issuer + "/.well-known/openid-configuration")).json();
  const keys = createRemoteJWKSet(new URL(discovery.jwks_uri));
  const verify = async (token, audience) => {
    const verified = await jwtVerify(token, keys, { issuer, audience }).catch((error) => error);
    console.log(JSON.stringify({ payload: verified.payload, code: verified.code, claim: verified.claim }));
  };
`;

/** Runs exec with a program after the verifier. @returns what each `verify` said */
async function run(flags: readonly string[], program: string, cwd = newFolder()) {
  writeFileSync(join(cwd, "job.mjs"), verifier + program);
  const { code, stdout, stderr } = await idp(["exec", ...flags, "--", process.execPath, "job.mjs"], { cwd });
  expect(code, stderr).toBe(0);
  return stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as { payload?: Record<string, unknown>; code?: string; claim?: string });
}

/** As `@actions/core` does. */
const fetchToken = `
  const getIDToken = async (audience) => {
    const url = process.env.ACTIONS_ID_TOKEN_REQUEST_URL + (audience ? "&audience=" + encodeURIComponent(audience) : "");
    const headers = { authorization: "bearer " + process.env.ACTIONS_ID_TOKEN_REQUEST_TOKEN };
    return (await (await fetch(url, { headers })).json()).value;
  };
`;

test("a job of GitHub asks for a token for an audience, or for its owner's", async () => {
  const flags = ["--as", "github-actions", "--claim", "repository=o/r"];
  const program = `await verify(await getIDToken("https://api.test"), "https://api.test"); await verify(await getIDToken(), "https://github.com/o");`;
  const [one, two] = await run(flags, fetchToken + program);
  const claims = {
    sub: "repo:o/r:ref:refs/heads/main",
    repository: "o/r",
    repository_owner: "o",
    ref: "refs/heads/main",
  };
  expect(one?.payload).toMatchObject({ ...claims, aud: "https://api.test" });
  expect(one?.payload?.["job_workflow_ref"]).toBe("o/r/.github/workflows/ci.yml@refs/heads/main");
  expect(two?.payload).toMatchObject(claims);
});

test.each([
  ["--expired", { code: "ERR_JWT_EXPIRED" }],
  ["--wrong-audience", { claim: "aud" }],
  ["--wrong-issuer", { claim: "iss" }],
  ["--bad-signature", { code: "ERR_JWS_SIGNATURE_VERIFICATION_FAILED" }],
])("a verifier refuses a token with %s", async (flag, refusal) => {
  const program = `await verify(await getIDToken("https://api.test"), "https://api.test");`;
  expect(await run(["--as", "github-actions", flag], fetchToken + program)).toMatchObject([refusal]);
});

test("the server of tokens knows its job by the bearer token", async () => {
  const program = `
    const { ACTIONS_ID_TOKEN_REQUEST_URL: url, ACTIONS_ID_TOKEN_REQUEST_TOKEN: token, GITHUB_ACTIONS } = process.env;
    const statusOf = async (authorization) => (await fetch(url, { headers: { authorization } })).status;
    const code = [url.endsWith("?api-version=2.0"), GITHUB_ACTIONS, await statusOf("Bearer x"), await statusOf("BEARER " + token)];
    console.log(JSON.stringify({ code }));`;
  expect(await run(["--as", "github-actions"], program)).toEqual([{ code: [true, "true", 401, 200] }]);
});

test("a target that is no URL does not end the server of tokens", async () => {
  const program = `
    const code = (await fetch(new URL(process.env.ACTIONS_ID_TOKEN_REQUEST_URL).origin + "//")).status;
    console.log(JSON.stringify({ code }));
    await verify(await getIDToken("https://api.test"), "https://api.test");`;
  expect(await run(["--as", "github-actions"], fetchToken + program)).toMatchObject([{ code: 404 }, { payload: {} }]);
});

test("a workload of the fixtures has its own claims, sub included", async () => {
  const cwd = newFolder();
  writeFileSync(
    join(cwd, "idp.fixtures.yaml"),
    "workloads: { deploy: { as: github-actions, claims: { repository: acme/shop, environment: production } }, other: { as: gitlab, claims: { sub: me } } }",
  );
  const deploy = await run(["--workload", "deploy"], `${fetchToken} await verify(await getIDToken("a"), "a");`, cwd);
  expect(deploy).toMatchObject([{ payload: { sub: "repo:acme/shop:environment:production" } }]);
  expect(deploy[0]?.payload?.["iss"]).toMatch(/\/w\/deploy$/);
  const flags = [
    "--workload",
    "other",
    "--token-variable",
    "MY_TOKEN=b",
    "--claim",
    "ref=v1",
    "--claim",
    "ref_type=tag",
  ];
  const other = await run(flags, `await verify(process.env.MY_TOKEN, "b");`, cwd);
  expect(other).toMatchObject([
    { payload: { sub: "me", ref_path: "refs/tags/v1", iss: expect.stringMatching(/\/w\/other$/) } },
  ]);
});

test("a pod's token is in a file of its own, is renewed by rename, and is gone at the end", async () => {
  const program = `
    const { readFileSync, statSync, watch } = await import("node:fs");
    const { dirname } = await import("node:path");
    const file = process.env.IDP_TOKEN_FILE;
    const first = readFileSync(file, "utf8");
    const modes = [statSync(file).mode & 0o777, statSync(dirname(file)).mode & 0o777];
    await verify(first, "https://vault.test");
    while (readFileSync(file, "utf8") === first) await new Promise((resolve) => setTimeout(resolve, 50));
    await verify(readFileSync(file, "utf8"), "https://vault.test");
    console.log(JSON.stringify({ code: [file, modes] }));`;
  const flags = [
    "--as",
    "kubernetes",
    "--audience",
    "https://vault.test",
    "--namespace",
    "prod",
    "--service-account",
    "api",
  ];
  const [first, second, { code } = {}] = await run([...flags, "--lifetime", "20"], program);
  const claims = {
    sub: "system:serviceaccount:prod:api",
    aud: ["https://vault.test"],
    "kubernetes.io": { namespace: "prod" },
  };
  expect([first?.payload, second?.payload]).toMatchObject([claims, claims]);
  const [iat, renewed] = [Number(first?.payload?.["iat"]), Number(second?.payload?.["iat"])];
  expect(renewed - iat).toBeGreaterThanOrEqual(15);
  expect(renewed - iat).toBeLessThan(20);
  const [file, modes] = code as unknown as [string, number[]];
  expect(modes).toEqual([0o600, 0o700]);
  expect(existsSync(dirname(file))).toBe(false);
});

test.each([
  [["--claim", "ref=main"], "need --as or --workload"],
  [["--as", "gitlab"], "--token-variable NAME=AUDIENCE"],
  [["--as", "gitlab", "--token-variable", "1=a"], "must be NAME=AUDIENCE"],
  [["--workload", "deplyo"], 'no workload "deplyo" in the fixtures'],
  [
    ["--as", "github-actions", "--claim", "aud=x"],
    'Error: --claim "aud" cannot be set in the token of a workload. There is a flag for it: --audience\n  See: idp exec --help\n',
  ],
  [["--as", "github-actions", "--expired", "--missing-expiry"], "Error: --expired excludes --missing-expiry."],
  [
    ["--as", "github-actions", "--claim", "exp=5"],
    'Error: --claim "exp" cannot be set in the token of a workload. There is a flag for it: --lifetime\n',
  ],
])("exec %j is refused before the command runs", async (flags, said) => {
  const cwd = newFolder();
  const { code, stderr } = await idp(["exec", ...flags, "--", "touch", "ran"], { cwd });
  expect([code, stderr]).toEqual([125, expect.stringContaining(said)]);
  expect(existsSync(join(cwd, "ran"))).toBe(false);
});

test.each(["9s", "4000d"])("exec --lifetime %s is refused with its bounds", async (lifetime) => {
  const { stderr } = await idp(["exec", "--as", "kubernetes", "--lifetime", lifetime, "--", "true"], {
    cwd: newFolder(),
  });
  expect(stderr.replaceAll(/\s+/g, " ")).toContain(
    `argument '${lifetime}' is invalid. It must be a whole number of seconds, at least 10 and at most 315360000`,
  );
});

test("token issue --workload prints one token, from a running server or the data folder", async () => {
  const cwd = newFolder();
  const words = ["token", "issue", "--workload", "kubernetes", "--audience", "https://api.test", "--data", ".idp"];
  await idp(["seed", "--data", ".idp"], { cwd });
  const { stdout } = await idp(words, { cwd });
  expect(jwtPart(stdout, 1)).toMatchObject({ aud: ["https://api.test"], sub: "system:serviceaccount:default:default" });
  const refused = await idp([...words, "--user", "alice"], { cwd });
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("--workload excludes --user")]);
  const exec = "exec --as kubernetes --audience https://a.test --audience https://b.test -- true".split(" ");
  for (const [twice, code] of [[[...words, "--audience", "https://other.test"], 2] as const, [exec, 125] as const]) {
    expect(await idp(twice, { cwd })).toMatchObject({ code, stderr: expect.stringContaining("It is given twice") });
  }
});
