import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { environment, launch, newFolder } from "../helpers/cli.ts";

/** Memory of `idp start`, as V8 tells of it. */

/** What V8 collected until the server was ready. */
async function collectionsOfStart(users: number): Promise<string> {
  const cwd = newFolder();
  const names = Array.from({ length: users }, (_, index) => ({ username: `user-${index}`, email: `${index}@a.test` }));
  writeFileSync(join(cwd, "many.json"), JSON.stringify({ users: names }));
  const child = launch(["start", "--memory", "--port", "auto", "--fixtures", "many.json"], { cwd }, ["--trace-gc"]);
  const ended = once(child, "close");
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  let said = "";
  child.stdout.setEncoding("utf8");
  for await (const text of child.stdout) {
    said += String(text);
    const ready = said.indexOf("idp ready ");
    if (ready >= 0) return said.slice(0, ready);
  }
  throw new Error(said);
}

test("what was read to start with is let go before idp is ready, where it is much", async () => {
  // "testing" is V8's word for a collection that was asked for.
  expect(await collectionsOfStart(50_000)).toMatch(/Mark-Compact .*testing/);
  expect(await collectionsOfStart(100)).not.toContain("testing");
});

/** Sizes of the young space in MB. What each turn of the work makes lives until the next one. */
const young = `
  import { getHeapSpaceStatistics } from "node:v8";
  import { setImmediate } from "node:timers/promises";
  import { setServeFlags, setStartFlags } from ${JSON.stringify(new URL("../../src/cli/v8-flags.ts", import.meta.url).href)};
  const size = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === "new_space").space_size / 1024 / 1024;
  async function sizeAfterWork() {
    for (let turn = 0; turn < 200; turn += 1) {
      globalThis.kept = Array.from({ length: 2000 }, (_, index) => ({ index, list: [turn, index] }));
      await setImmediate();
    }
    return size();
  }
  setStartFlags();
  const before = size();
  const started = await sizeAfterWork();
  setServeFlags();
  const served = [await sizeAfterWork(), await sizeAfterWork()];
  console.log(JSON.stringify({ grownWhileStarting: started - before, served }));
`;

test("V8's young space does not grow while starting; requests make it 8 MB at once, and no larger", () => {
  const args = ["--import", import.meta.resolve("tsx"), "--input-type=module", "--eval", young];
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8", env: environment({}) });
  expect(stderr).toBe("");
  expect(JSON.parse(stdout)).toEqual({ grownWhileStarting: 0, served: [8, 8] });
});
