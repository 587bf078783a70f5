import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { environment, newFolder } from "../helpers/cli.ts";
import { repository } from "../helpers/readme.ts";

/** `dev-idp/vitest`: the files of a worker share one issuer, and no file sees what another changed. */

const vitest = join(dirname(createRequire(import.meta.url).resolve("vitest/package.json")), "vitest.mjs");

test("one issuer for each worker, which each of its files finds as the fixtures say", async () => {
  const cwd = newFolder();
  const write = (name: string, text: string): void => writeFileSync(join(cwd, name), text);
  write(
    "idp.js",
    `import { idpTest } from ${JSON.stringify(join(repository, "dist/vitest.js"))};
export const test = idpTest().extend({
  app: [async ({ idpOfWorker }, use) => use("app of " + idpOfWorker.issuer), { scope: "worker" }],
});
`,
  );
  for (const name of ["one", "two", "three", "four"]) {
    write(
      `${name}.test.js`,
      `import { writeFileSync } from "node:fs";
import { expect } from "vitest";
import { test } from "./idp.js";
test.beforeAll(async ({ idpOfFile }) => {
  expect(await idpOfFile.call("users.show", { username: "alice" })).toMatchObject({ status: "active" });
  await idpOfFile.call("users.suspend", { username: "alice" });
});
test("${name}", ({ app, idpOfWorker }) => {
  writeFileSync("${name}.seen", process.pid + " " + app);
  expect(app).toBe("app of " + idpOfWorker.issuer);
});
`,
    );
  }
  const args = [vitest, "run", "--root", cwd, "--no-isolate", "--maxWorkers=2", "--globals=false"];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd, env: environment({ NO_COLOR: "1" }) });
  expect(stdout).toContain("4 passed (4)");
  const seen = readdirSync(cwd).filter((name) => name.endsWith(".seen"));
  const pairs = new Set(seen.map((name) => readFileSync(join(cwd, name), "utf8")));
  const workers = new Set([...pairs].map((pair) => pair.split(" ")[0]));
  expect([seen.length, pairs.size, workers.size]).toEqual([4, 2, 2]);
});
