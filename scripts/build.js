// Builds dist/ from src/. With --if-needed only where a source is newer than the last build.
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const stamp = join(root, "dist", ".built");

function newest(path) {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return Math.max(mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

function isFresh() {
  const builtAt = statSync(stamp, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  return ["src", "package.json", "tsconfig.json", "tsconfig.build.json"].every(
    (name) => newest(join(root, name)) <= builtAt,
  );
}

if (!process.argv.includes("--if-needed") || !isFresh()) {
  const startedAt = new Date();
  rmSync(join(root, "dist"), { recursive: true, force: true });
  const compiler = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin", "tsc");
  const { status } = spawnSync(process.execPath, [compiler, "-p", "tsconfig.build.json"], {
    cwd: root,
    stdio: "inherit",
  });
  if (status !== 0) process.exit(status ?? 1);
  writeFileSync(stamp, "");
  // A source saved while the compiler ran is newer than the build.
  utimesSync(stamp, startedAt, startedAt);
}
