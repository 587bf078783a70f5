import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { repository } from "../helpers/readme.ts";
import { shell } from "../helpers/shell.ts";

/** `npm run binary`: the executable in an empty folder, with an empty environment. */

beforeAll(async () => {
  const built = await shell("npm run -s binary", { cwd: repository });
  expect(built.code, built.stderr).toBe(0);
}, 300_000);

/** A folder with the executable alone. */
function place(): { readonly cwd: string; readonly run: (words: string) => ReturnType<typeof shell> } {
  const cwd = newFolder();
  copyFileSync(join(repository, "binary", "idp"), join(cwd, "idp"));
  return { cwd, run: (words) => shell(`env -i TMPDIR="$PWD" ./idp ${words}`, { cwd }) };
}

test("--version, exec and a sign-in without a browser; it leaves nothing behind", async () => {
  const { cwd, run } = place();
  expect(await run("--version")).toEqual({ code: 0, stdout: "0.1.0\n", stderr: "" });
  const login = await run("exec -- ./idp login --user alice --approve --json");
  expect(login.code, login.stderr).toBe(0);
  expect(JSON.parse(login.stdout)).toMatchObject({ issuer: expect.stringMatching(/^http:\/\/localhost:/) });
  const schema = await run("seed --print-schema");
  expect(JSON.parse(schema.stdout)).toHaveProperty("$schema");
  expect(readdirSync(cwd)).toEqual(["idp"]);
});

test("start serves pages and styles in both languages", async () => {
  const { cwd } = place();
  const child = spawn(join(cwd, "idp"), ["start", "--port", "0", "--json"], { cwd, env: { TMPDIR: cwd } });
  const ended = once(child, "close");
  onTestFinished(() => void child.kill("SIGKILL"));
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const { issuer } = JSON.parse(line.toString().split("\n")[0] ?? "") as { issuer: string };
  const page = await fetch(`${issuer}/account`, { headers: { accept: "text/html", "accept-language": "tr" } });
  const html = await page.text();
  // Without cookies, the login page says that they are needed.
  expect([page.status, html]).toEqual([400, expect.stringMatching(/lang="tr".*data-page="login"/)]);
  const [style = ""] = /\/_idp\/assets\/style\.css[^"]*/.exec(html) ?? [];
  expect((await fetch(issuer + style)).headers.get("content-type")).toContain("text/css");
  child.kill("SIGTERM");
  expect(await ended).toEqual([0, null]);
  expect(existsSync(join(cwd, ".idp", "data.json"))).toBe(true);
  expect(readdirSync(cwd).sort()).toEqual([".idp", "idp"]);
});
