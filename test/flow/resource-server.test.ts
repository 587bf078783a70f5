import { createRemoteJWKSet, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { idp as run, newFolder, startIdp, type RunningIdp } from "../helpers/cli.ts";
import { freePort } from "../helpers/port.ts";

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
  const port = await freePort();
  const idp = await startIdp(["--port", port], { cwd });
  const token = await issue("id", cwd);
  const rules = { issuer: idp.issuer, audience: "demo-app", algorithms: ["RS256"], requiredClaims: ["exp", "sub"] };
  const { payload, protectedHeader } = await jwtVerify(token, await publishedKeys(idp), rules);
  expect(payload).toMatchObject({ sub: "7123456789012345678", email: "alice@example.com" });
  expect(protectedHeader).toMatchObject({ alg: "RS256", kid: expect.any(String) });

  idp.child.kill("SIGTERM");
  await idp.ended;
  const again = await startIdp(["--port", port], { cwd });
  expect((await jwtVerify(token, await publishedKeys(again), rules)).payload).toEqual(payload);
});

test("an access token is verified by the published keys where they sign it, also by those that were rotated", async () => {
  const cwd = newFolder();
  const idp = await startIdp(["--access-token-alg", "RS256"], { cwd });
  const rules = { issuer: idp.issuer, audience: idp.issuer, algorithms: ["RS256"], typ: "at+jwt" };
  const before = await issue("access", cwd);
  expect(await run(["keys", "rotate"], { cwd })).toMatchObject({ code: 0 });
  const after = await issue("access", cwd);

  const keys = await publishedKeys(idp);
  const [old, current] = [await jwtVerify(before, keys, rules), await jwtVerify(after, keys, rules)];
  expect(old.payload).toMatchObject({ client_id: "demo-app", scope: "openid email" });
  expect(current.protectedHeader.kid).not.toBe(old.protectedHeader.kid);
  // A token of another kind is no access token, though the same key signed it.
  await expect(jwtVerify(await issue("id", cwd), keys, rules)).rejects.toThrow();
});

test("the secret that signs access tokens otherwise is not published", async () => {
  const cwd = newFolder();
  const keys = await publishedKeys(await startIdp([], { cwd }));
  await expect(jwtVerify(await issue("access", cwd), keys)).rejects.toThrow("Unsupported");
});
