// Builds dist/ from src/: the library as it is written, the command line in few files. With --if-needed only where a source is newer than the last build.
import { spawnSync } from "node:child_process";
import { readdirSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "./bundle.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const stamp = join(dist, ".built");

function newest(path) {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return Math.max(mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

/** Folders of builds that were killed. */
function leftBehind() {
  const isRunning = (pid) => {
    try {
      return process.kill(pid, 0);
    } catch (error) {
      return error.code === "EPERM";
    }
  };
  return readdirSync(root).filter((name) => {
    const pid = /^dist\.(\d+)\.tmp$/.exec(name)?.[1];
    return pid !== undefined && !isRunning(Number(pid));
  });
}

function isFresh() {
  const builtAt = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return ["src", "scripts", "package.json", "package-lock.json", "tsconfig.json", "tsconfig.build.json"].every(
    (name) => newest(join(root, name)) <= builtAt,
  );
}

if (!process.argv.includes("--if-needed") || !isFresh()) {
  const startedAt = Date.now() / 1000;
  for (const name of leftBehind()) rmSync(join(root, name), { recursive: true, force: true });
  const next = join(root, `dist.${process.pid}.tmp`);
  const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
  // A build that fails or is interrupted leaves the last good one in place.
  const giveUp = (exit) => {
    rmSync(next, { recursive: true, force: true });
    process.exit(exit);
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(signal, () => giveUp(1));
  const { status } = spawnSync(process.execPath, [compiler, "-p", "tsconfig.build.json", "--outDir", next], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) giveUp(status ?? 1);
  await bundle(join(next, "cli")).catch((error) => {
    console.error(error);
    giveUp(1);
  });
  writeFileSync(join(next, ".built"), "");
  // A source saved while the compiler ran is newer than the build.
  utimesSync(join(next, ".built"), startedAt, startedAt);
  rmSync(dist, { recursive: true, force: true });
  renameSync(next, dist);
}
