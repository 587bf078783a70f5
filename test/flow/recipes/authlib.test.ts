import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { createIdp } from "../../../src/index.ts";
import { newFolder } from "../../helpers/cli.ts";
import { startPython } from "../../helpers/python.ts";
import { commandsOn } from "./guide.ts";

/** Recipes of docs/testing.md against Authlib: `app.py`. The ledger says what the library did. */

const data = join(newFolder(afterAll), ".idp");
const idp = await createIdp({ data });
afterAll(() => idp.close());

const { run, asked } = commandsOn(data);

/** An app in which alice is signed in. @returns a function that reports the result of a call */
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
  await asked("userinfo --user alice --status 401 --times 1");
  await asked("token --grant-type refresh_token --status 200 --times 1");
});

test("refresh refused once", { tags: ["authlib"] }, async () => {
  await using app = await signedIn();
  await run("faults add token --grant-type refresh_token --status 400 --error invalid_grant");
  expect(await app.does("refresh")).toBe("invalid_grant");
  await asked("token --grant-type refresh_token --times 1");
  expect(await app.does("refresh")).toBe("refreshed");
});

test("slow token endpoint", { tags: ["authlib"] }, async () => {
  await using app = await signedIn();
  await run("faults add token --delay 5s");
  expect(await app.does("refresh")).toBe("timed out");
  expect(await app.does("refresh")).toBe("refreshed");
  await asked("token --status 200 --times 1");
  await asked("token --times 2 --within 10s");
});

test("revoked mid-session", { tags: ["authlib"] }, async () => {
  await using app = await signedIn();
  await run("revoke --user alice --client demo-app");
  expect(await app.does("userinfo")).toEqual([403]);
  expect(await app.does("refresh")).toBe("invalid_grant");
  await asked("userinfo --user alice --status 403 --times 1");
  await asked("token --grant-type refresh_token --status 400 --times 1");
});

test("suspended user", { tags: ["authlib"] }, async () => {
  await using app = await signedIn();
  await run("users suspend alice");
  expect(await app.does("refresh")).toBe("invalid_grant");
  await asked("token --grant-type refresh_token --user alice --status 400 --times 1");
});
