import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { launch, newFolder } from "../helpers/cli.ts";

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
