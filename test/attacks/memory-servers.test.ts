import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpIn, startHere } from "../helpers/command.ts";

/**
 * The file by which commands find a server in memory: it has the admin token, and a command believes what it says. So nothing counts that
 * another user may have put there.
 */

/** A folder to start servers in, and the one where their files are. */
function place() {
  const [cwd, runtime] = [newFolder(), newFolder()];
  const folder = join(runtime, "dev-idp");
  return { cwd, folder, env: { XDG_RUNTIME_DIR: runtime } };
}
type Place = ReturnType<typeof place>;

const list = ({ cwd, env }: Place, ...words: string[]) => idpIn(cwd, ["users", "list", "--json", ...words], "", env);
const fileIn = ({ folder }: Place): string =>
  join(folder, readdirSync(folder).find((name) => name.endsWith(".json")) ?? "");

test("a program that starts one with --until-stdin-closes gets no file", async () => {
  const here = place();
  await startHere(["--memory", "--until-stdin-closes"], here).catch(() => undefined);
  expect(existsSync(here.folder)).toBe(false);
});

/** Writes the file of a server that runs elsewhere: it gets what a command would send to it. */
async function plant(here: Place, more: object = {}) {
  const got: string[] = [];
  const server = createServer((req, res) => {
    got.push(String(req.url));
    res.end("[]");
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
  });
  const own = await startHere(["--memory"], here);
  const file = fileIn(here);
  const text = readFileSync(file, "utf8");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  await own.stop();
  const planted = join(here.folder, "planted.json");
  writeFileSync(planted, JSON.stringify({ ...(JSON.parse(text) as object), url, ...more }), { mode: 0o600 });
  return { got, planted };
}

test("what is planted is found as long as nothing is wrong with it", async () => {
  const here = place();
  const { got } = await plant(here);
  await list(here);
  expect(got).toEqual(["/_idp/api/users"]);
});

const gone = (): number => spawnSync("true").pid;
test.each<readonly [string, (here: Place, file: string) => void]>([
  ["a file that others may write", (_here, file) => chmodSync(file, 0o622)],
  ["a file that others may read", (_here, file) => chmodSync(file, 0o644)],
  ["a folder that others may write", ({ folder }) => chmodSync(folder, 0o777)],
  [
    "a link to a file",
    ({ cwd }, file) => {
      renameSync(file, join(cwd, "there.json"));
      symlinkSync(join(cwd, "there.json"), file);
    },
  ],
  [
    "a link to a folder",
    ({ cwd, folder }) => {
      renameSync(folder, join(cwd, "there"));
      symlinkSync(join(cwd, "there"), folder);
    },
  ],
  [
    "a pipe",
    (_here, file) => {
      renameSync(file, `${file}.old`);
      spawnSync("mkfifo", ["-m", "600", file]);
    },
  ],
  ["half a file", (_here, file) => writeFileSync(file, readFileSync(file, "utf8").slice(0, 100))],
  ["what is not of ours", (_here, file) => writeFileSync(file, '{"pid":"1","url":[]}')],
])("%s is ignored", async (_what, spoil) => {
  const here = place();
  const { got, planted } = await plant(here);
  spoil(here, planted);
  expect(await list(here)).toMatchObject({ code: 3 });
  expect(got).toEqual([]);
});

test.each([
  ["of a process that is gone", () => ({ pid: gone() })],
  ["of a later process with the same number", () => ({ processStart: "another boot 1" })],
  ["of another machine", () => ({ host: "elsewhere" })],
])("a file %s is ignored", async (_what, change) => {
  const here = place();
  const { got } = await plant(here, change());
  expect(await list(here)).toMatchObject({ code: 3 });
  expect(got).toEqual([]);
});
