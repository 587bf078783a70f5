import { spawn, spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { environment, newFolder } from "../helpers/cli.ts";
import { dockerStages, imageEnvironment, texts, type Instruction } from "../helpers/dockerfile.ts";
import { repository } from "../helpers/readme.ts";
import { shell } from "../helpers/shell.ts";

/** `Dockerfile`: what its instructions do, done in folders; its commands, run. */

const [build = [], image = []] = dockerStages();

/** Sources and target of each COPY. */
const copies = (stage: readonly Instruction[]) =>
  texts(stage, "COPY").map((text) => {
    const words = text.split(/\s+/);
    const from = words[0]?.startsWith("--from=") === true ? (words.shift() ?? "").slice(7) : null;
    return { from, to: words.pop() ?? "", sources: words };
  });

/** Copies what `npm prune --omit=dev` leaves. */
function copyDependencies(target: string): void {
  const list = spawnSync("npm", ["ls", "--omit=dev", "--all", "--parseable"], { cwd: repository, encoding: "utf8" });
  for (const path of new Set(list.stdout.trim().split("\n").slice(1)))
    cpSync(path, join(target, relative(join(repository, "node_modules"), path)), { recursive: true });
}

/** As the image allows: any user without rights, in the group 0. Tests that run without rights keep their own user. */
const asUser = process.getuid?.() === 0 ? { uid: 12_345, gid: 0 } : null;

/** Does the COPYs of a stage. @param stages where other stages were built */
function copyInto(folder: string, stage: readonly Instruction[], stages: Readonly<Record<string, string>>): void {
  for (const { from, to, sources } of copies(stage)) {
    for (const source of sources) {
      const path = from === null ? join(repository, source) : join(stages[from] ?? "", source.replace(/^\/idp\//, ""));
      const target = to.endsWith("/") ? join(folder, to, source.replace(/^.*\//, "")) : join(folder, to);
      if (source.endsWith("/node_modules")) copyDependencies(target);
      else cpSync(path, target, { recursive: true });
    }
  }
}

const jsonOf = (name: string): readonly string[] =>
  JSON.parse(/\[.*\]$/.exec(texts(image, name)[0] ?? "")?.[0] ?? "") as readonly string[];

test("a base image by its version, a user without rights, a volume that any user of the image can write, nothing that an image must not hold", () => {
  const bases = [...texts(build, "FROM"), ...texts(image, "FROM")].map((text) => text.split(" ")[0] ?? "");
  expect(new Set(bases).size).toBe(1);
  const [, version = ""] = /^node:(\d+\.\d+\.\d+)-alpine$/.exec(bases[0] ?? "") ?? [];
  const { engines } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as {
    engines: { node: string };
  };
  expect(engines.node).toBe(">=20.19");
  expect(Number(version.split(".")[0])).toBeGreaterThanOrEqual(20);
  // By its number, so that an orchestrator sees that it is not root; the group 0 is that of a user whom the image does not know.
  expect(texts(image, "USER")).toEqual(["1000:0"]);
  expect(texts(image, "VOLUME")).toEqual(["/data"]);
  expect(texts(image, "RUN")).toEqual([
    "ln -s /idp/bin/idp.js /usr/local/bin/idp",
    "install -d -o root -g 0 -m 0770 /data",
  ]);
  // From here on nothing is done as root.
  const names = image.map(({ name }) => name);
  expect(names.indexOf("USER")).toBeGreaterThan(names.lastIndexOf("COPY"));
  const compose = readFileSync(join(repository, "examples/compose.yaml"), "utf8");
  expect(compose).toContain(`image: ${bases[0] ?? ""}`);
});

test("what is copied is there, and none of it is ignored", () => {
  const ignored = readFileSync(join(repository, ".dockerignore"), "utf8").trim().split("\n");
  expect(ignored[0]).toBe("*");
  const sources = [...copies(build), ...copies(image)].flatMap(({ from, sources }) => (from === null ? sources : []));
  for (const source of sources) {
    expect(existsSync(join(repository, source)), source).toBe(true);
    expect(ignored, source).toContain(`!${source}`);
  }
  expect(
    ignored
      .slice(1)
      .map((line) => line.slice(1))
      .sort(),
  ).toEqual(sources.sort());
});

test("it builds from what is copied; the image starts, says that it is well, keeps its data, and ends on SIGTERM", async () => {
  const [stage, root] = [newFolder(), newFolder()];
  copyInto(stage, build, {});
  expect(texts(build, "RUN")).toEqual(["npm ci --no-audit --no-fund && npm prune --omit=dev"]);
  // What npm ci does: it installs, and runs `postprepare`.
  symlinkSync(join(repository, "node_modules"), join(stage, "node_modules"));
  expect(await shell("npm run -s postprepare", { cwd: stage })).toMatchObject({ code: 0 });
  expect(existsSync(join(stage, "dist", "cli", "main.cjs"))).toBe(true);
  const app = join(root, "idp");
  mkdirSync(app);
  copyInto(app, image, { build: stage });
  const { stdout: size } = await shell("du -sk idp", { cwd: root });
  expect(Number(size.split("\t")[0])).toBeLessThan(60 * 1024);
  chmodSync(root, 0o755);
  const data = join(root, "data");
  mkdirSync(data);
  // As `install` does, whatever the umask is.
  chmodSync(data, 0o770);

  // Only the data can be written: the root file system may be read-only.
  const env = environment({ ...imageEnvironment(data), IDP_PORT: "auto", HOME: "/nowhere", TMPDIR: "/nowhere" });
  const run = (words: readonly string[]) => {
    const [command = "", ...args] = words.map((word) => word.replace(/^\/idp\//, `${app}/`));
    const child = spawn(command, args, { cwd: app, env, ...asUser });
    onTestFinished(() => void child.kill("SIGKILL"));
    const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
    return { child, ended };
  };
  const health = (): Promise<number | null> => run(jsonOf("HEALTHCHECK")).ended;

  expect(await health()).toBe(5);
  for (const start of ["first", "second"]) {
    const { child, ended } = run([...jsonOf("ENTRYPOINT"), ...jsonOf("CMD")]);
    await new Promise<void>((resolve, reject) => {
      let output = "";
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        if (output.includes("idp ready http://localhost:")) resolve();
      });
      void ended.then(() => {
        reject(new Error(output));
      });
    });
    expect(await health()).toBe(0);
    if (start === "first") expect(await run([...jsonOf("ENTRYPOINT"), "users", "add", "erin"]).ended).toBe(0);
    child.kill("SIGTERM");
    expect(await ended).toBe(0);
  }
  const list = run([...jsonOf("ENTRYPOINT"), "users", "show", "erin"]);
  expect(await list.ended).toBe(0);
  expect(await health()).toBe(5);
}, 300_000);
