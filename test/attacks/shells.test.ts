import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idp, newFolder } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";
import { shell } from "../helpers/shell.ts";

/** Values of others that a program or a shell on this machine would run: from fixture files, and from requests. */

const client = { client_id: "app", client_secret: "app-secret", redirect_uris: ["http://localhost:3000/cb"] };

/** A folder whose fixtures have this client. */
function folderWith(more: object): string {
  const cwd = newFolder();
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify({ clients: [{ ...client, ...more }] }));
  return cwd;
}

test("env of a fixture file does not make a shell run a file", { tags: ["bash"] }, async () => {
  const cwd = folderWith({ env: { BASH_ENV: "./evil.sh" } });
  writeFileSync(join(cwd, "evil.sh"), "touch ran\n");
  const { code, stderr } = await idp(["exec", "--", "bash", "-c", "true"], { cwd });
  expect(existsSync(join(cwd, "ran"))).toBe(false);
  expect([code, stderr]).toEqual([125, expect.stringContaining("BASH_ENV")]);
});

describe("the file of idp env --write", () => {
  test.each([
    `touch ran #'"`,
    `touch ran #'$HOME`,
    `touch ran #'\\`,
    "'$(touch ran)",
    "it's \"'`touch ran`",
    "it's `touch ran`",
  ])("sourced by a shell, %j runs nothing: it is the value, or no file is written", async (value) => {
    const cwd = folderWith({ env: { GREETING: value } });
    const { code, stderr } = await idpIn(cwd, ["env", "--yes", "--write", ".env.local"]);
    if (code === 0) {
      const { stdout } = await shell('. ./.env.local; printf %s "$GREETING"', { cwd });
      expect(existsSync(join(cwd, "ran"))).toBe(false);
      expect(stdout).toBe(value);
    } else {
      expect([code, stderr]).toEqual([6, expect.stringContaining("the value of GREETING")]);
      expect(stderr).not.toContain(value);
      expect(existsSync(join(cwd, ".env.local"))).toBe(false);
    }
  });

  test.each(["a\n# idp end\nb", "a\n# idp begin\nb", "a\n# idp end  \r\nb"])(
    "a value with the mark of its end or beginning, %j, does not keep later values out",
    async (value) => {
      const cwd = folderWith({ env: { NOTE: value } });
      const write = () => idpIn(cwd, ["env", "--yes", "--write", ".env.local"]);
      expect(await write()).toMatchObject({ code: 6, stderr: expect.stringContaining("the value of NOTE") as string });
      writeFileSync(
        join(cwd, "idp.fixtures.json"),
        JSON.stringify({ clients: [{ ...client, env: { NOTE: "plain" } }] }),
      );
      expect(await write()).toMatchObject({ code: 0 });
      expect(readFileSync(join(cwd, ".env.local"), "utf8")).toContain("NOTE=plain\n# idp end\n");
    },
  );
});
