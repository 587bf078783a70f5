import { createRemoteJWKSet, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { idp as run, newFolder, startIdp, type RunningIdp } from "../helpers/cli.ts";

/** A server that knows the issuer only, and verifies by its published keys. */

async function publishedKeys({ issuer }: RunningIdp) {
  const answer = await fetch(`${issuer}/.well-known/openid-configuration`);
  const { jwks_uri } = (await answer.json()) as { readonly jwks_uri: string };
  return createRemoteJWKSet(new URL(jwks_uri));
}

async function issue(type: "id" | "access", cwd: string): Promise<string> {
  const words = `token issue --type ${type} --user alice --client demo-app --scope`.split(" ");
  const { stdout } = await run([...words, "openid email"], { cwd });
  return stdout.trim();
}

test("an ID token is verified by the published keys, also after a restart", async () => {
  const cwd = newFolder();
  const idp = await startIdp([], { cwd });
  const token = await issue("id", cwd);
  const rules = { issuer: idp.issuer, audience: "demo-app", algorithms: ["RS256"], requiredClaims: ["exp", "sub"] };
  const { payload, protectedHeader } = await jwtVerify(token, await publishedKeys(idp), rules);
  expect(payload).toMatchObject({ sub: "7123456789012345678", email: "alice@example.test" });
  expect(protectedHeader).toMatchObject({ alg: "RS256", kid: expect.any(String) });

  idp.child.kill("SIGTERM");
  await idp.ended;
  const again = await startIdp(["--port", new URL(idp.issuer).port], { cwd });
  expect((await jwtVerify(token, await publishedKeys(again), rules)).payload).toEqual(payload);
});

test("the secret of access tokens is not published", async () => {
  const cwd = newFolder();
  const idp = await startIdp([], { cwd });
  const keys = await publishedKeys(idp);
  await expect(jwtVerify(await issue("access", cwd), keys)).rejects.toThrow("Unsupported");
});
