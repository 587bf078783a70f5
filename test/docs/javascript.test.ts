import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { createIdp, OperationError } from "../../src/index.ts";

/** docs/javascript.md lists every option and every member of the library. */

const page = readFileSync(new URL("../../docs/javascript.md", import.meta.url), "utf8");

/** The names in the first column of the table below a heading. */
function namesBelow(heading: string): readonly string[] {
  const [, section = ""] = page.split(`## ${heading}\n`);
  const cells = section.split("\n## ")[0]?.match(/^\| `.*?` +\|/gm) ?? [];
  return cells.flatMap((cell) => [...cell.matchAll(/`(\w+)/g)].map(([, name = ""]) => name)).sort();
}

test("every option of createIdp", async () => {
  const refusal = await createIdp({ nonsense: true } as never).catch((error: unknown) => error);
  const hint = refusal instanceof OperationError ? (refusal.hint?.text ?? "") : "";
  expect(namesBelow("Options of createIdp")).toEqual(hint.replace("It has: ", "").split(", ").sort());
});

test("every member of what it returns", async ({ onTestFinished }) => {
  const idp = await createIdp();
  onTestFinished(() => idp.close());
  expect(namesBelow("What createIdp returns")).toEqual(Object.keys(idp).sort());
});

test("what it says of names in the input and of onToken holds", async ({ onTestFinished }) => {
  expect(page).toContain('await idp.call("users.edit", { username: "bob", new_username: "rob" });');
  expect(page).toMatch(/`onToken` may be async, and may return `undefined`.* `user` is `null`/s);
  const users: unknown[] = [];
  const idp = await createIdp({
    onToken: async ({ user }) => {
      users.push(user);
      return Promise.resolve(undefined);
    },
  });
  onTestFinished(() => idp.close());
  await idp.call("users.edit", { username: "bob", new_username: "rob" });
  expect((await idp.call("users.show", { username: "rob" })).username).toBe("rob");
  const body = new URLSearchParams({ grant_type: "client_credentials", client_id: "demo-service" });
  body.set("client_secret", "demo-service-secret");
  expect((await fetch(`${idp.issuer}/api/v2/oauth/token`, { method: "POST", body })).status).toBe(200);
  expect(users).toEqual([null]);
});
