import { createRemoteJWKSet, jwtVerify } from "jose";
import { expect, onTestFinished, test } from "vitest";
import { createIdp } from "../../src/index.ts";

/** `<base>/w/NAME`: the issuer of a workload has discovery and keys, and nothing else. */

const fixtures = {
  users: [{ username: "erin" }],
  workloads: { deploy: { as: "gitlab", claims: { project_path: "acme/shop" } } },
} as const;

async function start() {
  const idp = await createIdp({ fixtures });
  onTestFinished(() => idp.close());
  return idp;
}

const get = async (url: string) => {
  const response = await fetch(url);
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
};

test("discovery names the keys, which verify its tokens, and each workload has its own", async () => {
  const idp = await start();
  const issuer = `${idp.issuer}/w/deploy`;
  const { json } = await get(`${issuer}/.well-known/openid-configuration`);
  expect(json).toMatchObject({ issuer, id_token_signing_alg_values_supported: ["RS256"] });
  for (const endpoint of ["authorization_endpoint", "token_endpoint", "userinfo_endpoint", "registration_endpoint"])
    expect(json).not.toHaveProperty(endpoint);
  const { token, issuer: named } = await idp.call("workloads.issue", { name: "deploy", audience: "https://api.test" });
  expect(named).toBe(issuer);
  const keys = createRemoteJWKSet(new URL(String(json["jwks_uri"])));
  const { payload } = await jwtVerify(token, keys, { issuer, audience: "https://api.test" });
  expect(payload).toMatchObject({ sub: "project_path:acme/shop:ref_type:branch:ref:main", namespace_path: "acme" });
  const others = createRemoteJWKSet(new URL(`${idp.issuer}/w/gitlab/.well-known/jwks`));
  await expect(jwtVerify(token, others)).rejects.toThrow("no applicable key");
  const kids = (await get(`${issuer}/.well-known/jwks`)).json["keys"] as { kid: string; d?: string }[];
  expect(kids).toHaveLength(1);
  expect(kids[0]).not.toHaveProperty("d");
  const { json: own } = await get(`${idp.issuer}/api/v2/oauth/jwks`);
  expect((own["keys"] as { kid: string }[]).map(({ kid }) => kid)).not.toContain(kids[0]?.kid);
});

test("nothing else is below it, and no other name is an issuer", async () => {
  const idp = await start();
  for (const path of [
    "w/deploy",
    "w/deploy/",
    "w/deploy/authorize",
    "w/deploy/api/v2/oauth/token",
    "w/deploy/_idp/api/users",
  ])
    expect([path, (await get(`${idp.issuer}/${path}`)).status]).toEqual([path, 404]);
  for (const name of ["nobody", "toString", "__proto__"])
    expect([name, (await get(`${idp.issuer}/w/${name}/.well-known/jwks`)).status]).toEqual([name, 404]);
});

test("the key is kept by a reset, and another issuer has other ones", async () => {
  const idp = await start();
  const keyOf = async (issuer: string) => (await get(`${issuer}/w/github-actions/.well-known/jwks`)).json["keys"];
  const before = await keyOf(idp.issuer);
  await idp.reset();
  expect(await keyOf(idp.issuer)).toEqual(before);
  const other = await idp.issuers.add("other");
  const { token } = await other.call("workloads.issue", { name: "github-actions" });
  const issuer = `${idp.issuer}/i/other/w/github-actions`;
  await jwtVerify(token, createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks`)), { issuer });
  expect(await keyOf(other.issuer)).not.toEqual(before);
});

test("a token of a workload is no token of this issuer", async () => {
  const idp = await start();
  const { token } = await idp.call("workloads.issue", { name: "deploy", audience: idp.issuer });
  const response = await fetch(`${idp.issuer}/api/v2/oauth/userinfo`, {
    headers: { authorization: `Bearer ${token}` },
  });
  expect(response.status).toBe(401);
});

test("fixtures keep the claims that only the issuer sets, and an export has its workloads", async () => {
  const idp = await start();
  expect(await idp.call("export", { as: "fixtures" })).toMatchObject({ workloads: fixtures.workloads });
  const wrong = { workloads: { deploy: { as: "gitlab", claims: { iss: "https://gitlab.com" } } } } as const;
  await expect(createIdp({ fixtures: wrong })).rejects.toThrow(/workloads\.deploy\.claims\.iss/);
});

test("a pull request at GitHub has its merge ref, its branch and the branch that it is for", async () => {
  const idp = await start();
  const claimsOf = async (claims: Readonly<Record<string, string>>) => {
    const { token } = await idp.call("workloads.issue", { name: "github-actions", claims });
    return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Record<string, unknown>;
  };
  expect(await claimsOf({ event_name: "pull_request" })).toMatchObject({
    ...{ sub: "repo:octo-org/octo-repo:pull_request", ref: "refs/pull/1/merge", ref_type: "branch" },
    ...{ head_ref: "feature", base_ref: "main" },
    workflow_ref: "octo-org/octo-repo/.github/workflows/ci.yml@refs/pull/1/merge",
  });
  expect(await claimsOf({ event_name: "pull_request_target" })).toMatchObject({
    ...{ sub: "repo:octo-org/octo-repo:ref:refs/heads/main", ref: "refs/heads/main" },
    ...{ head_ref: "feature", base_ref: "main" },
  });
  expect(await claimsOf({ event_name: "pull_request", ref: "refs/pull/7/merge", head_ref: "fix" })).toMatchObject({
    ...{ ref: "refs/pull/7/merge", head_ref: "fix", base_ref: "main" },
  });
  expect(await claimsOf({})).toMatchObject({ ref: "refs/heads/main", head_ref: "", base_ref: "" });
});

test("a job with an environment says so as its platform documents it", async () => {
  const idp = await start();
  const claimsOf = async (name: string, claims: Readonly<Record<string, string>>) => {
    const { token } = await idp.call("workloads.issue", { name, claims });
    return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as Record<string, unknown>;
  };
  // A colon separates the parts of the subject, so GitHub writes one in a name in another way.
  expect(await claimsOf("github-actions", { environment: "Production:V1" })).toMatchObject({
    ...{ sub: "repo:octo-org/octo-repo:environment:Production%3AV1", environment: "Production:V1" },
    check_run_id: "2000000001",
  });
  for (const [environment, deployment_tier] of [
    ["production", "production"],
    ["review/7", "development"],
    ["QC", "testing"],
    ["demo", "staging"],
    ["gov", "other"],
  ] as const)
    expect(await claimsOf("gitlab", { environment })).toMatchObject({
      ...{ environment, deployment_tier, environment_protected: "false", environment_action: "start" },
    });
  expect(await claimsOf("gitlab", { environment: "demo", environment_protected: "true" })).toMatchObject({
    environment_protected: "true",
  });
  expect(await claimsOf("gitlab", {})).not.toHaveProperty("environment_protected");
});
