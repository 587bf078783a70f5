import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createIdp } from "../../../src/index.ts";
import { newFolder } from "../../helpers/cli.ts";
import { idpHere } from "../../helpers/command.ts";
import { startPython } from "../../helpers/python.ts";

/** Recipes of docs/testing.md against Authlib: `app.py`. The ledger says what the library did. */

const data = join(newFolder(afterAll), ".idp");
const idp = await createIdp({ data });
afterAll(() => idp.close());

/** Runs a command as it is printed. @returns its exit code */
async function run(words: string): Promise<number> {
  const { code, stderr } = await idpHere(["--data", data, ...words.split(" ")]);
  if (code !== 0 && code !== 6) throw new Error(stderr);
  return code;
}

/** An app in which alice is signed in. @returns says what came of a call */
async function signedIn() {
  await idp.reset();
  const token = await idp.issueTokens({ user: "alice", client: "demo-app", scope: "openid email" });
  const args = [idp.issuer, "demo-app", "demo-secret", JSON.stringify(token)];
  const python = startPython(join(import.meta.dirname, "app.py"), args);
  await idp.requests.clear();
  return {
    async does(line: "userinfo" | "refresh"): Promise<unknown> {
      python.write(line);
      return JSON.parse(await python.nextLine());
    },
    [Symbol.asyncDispose]: async () => expect(await python.end()).toEqual([0, null]),
  };
}

test("expired access token mid-session", { tags: ["authlib"] }, async () => {
  await using app = await signedIn();
  expect(await app.does("userinfo")).toEqual([200]);
  await run("expire --user alice --client demo-app");
  expect(await app.does("userinfo")).toEqual([401, "refreshed", 200]);
  expect(await run("expect userinfo --user alice --status 401 --times 1")).toBe(0);
  expect(await run("expect token --grant-type refresh_token --status 200 --times 1")).toBe(0);
});

test("refresh refused once", { tags: ["authlib"] }, async () => {
  await using app = await signedIn();
  await run("faults add token --grant-type refresh_token --status 400 --error invalid_grant");
  expect(await app.does("refresh")).toBe("invalid_grant");
  expect(await run("expect token --grant-type refresh_token --times 1")).toBe(0);
  expect(await app.does("refresh")).toBe("refreshed");
});

test("slow token endpoint", { tags: ["authlib"] }, async () => {
  await using app = await signedIn();
  await run("faults add token --delay 5s");
  expect(await app.does("refresh")).toBe("timed out");
  expect(await app.does("refresh")).toBe("refreshed");
  expect(await run("expect token --status 200 --times 1")).toBe(0);
  expect(await run("expect token --times 2 --within 10s")).toBe(0);
});

test("revoked mid-session", { tags: ["authlib"] }, async () => {
  await using app = await signedIn();
  await run("revoke --user alice --client demo-app");
  expect(await app.does("userinfo")).toEqual([403]);
  expect(await app.does("refresh")).toBe("invalid_grant");
  expect(await run("expect userinfo --user alice --status 403 --times 1")).toBe(0);
  expect(await run("expect token --grant-type refresh_token --status 400 --times 1")).toBe(0);
});

test("suspended user", { tags: ["authlib"] }, async () => {
  await using app = await signedIn();
  await run("users suspend alice");
  expect(await app.does("refresh")).toBe("invalid_grant");
  expect(await run("expect token --grant-type refresh_token --user alice --status 400 --times 1")).toBe(0);
});
