// Fails where modules of `src` or `bench` import each other in a circle; imports of types count too; and where a folder
// has more than 20 files. Prints each.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const root = resolve();
const files = ["src", "bench"].flatMap((folder) =>
  readdirSync(folder, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(root, folder, name)),
);

/** The modules of our own that a module names: `from "./x.ts"`, `import("./x.ts")`. */
function importsOf(file) {
  const named = readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+\.ts)"/g);
  return [...named].map(([, path]) => join(dirname(file), path));
}

const imports = new Map(files.map((file) => [file, importsOf(file)]));
const done = new Set();
const circles = [];

function visit(file, path) {
  const start = path.indexOf(file);
  if (start !== -1) circles.push([...path.slice(start), file]);
  if (start !== -1 || done.has(file)) return;
  for (const next of imports.get(file) ?? []) visit(next, [...path, file]);
  done.add(file);
}

for (const file of files) visit(file, []);
for (const circle of circles) {
  console.log(`import cycle: ${circle.map((file) => relative(root, file)).join(" → ")}`);
}

const maxFiles = 20;
const sizes = new Map();
for (const file of files) sizes.set(dirname(file), (sizes.get(dirname(file)) ?? 0) + 1);
/** A file for each noun. */
const ofNouns = ["src/cli/commands", "src/core/admin/operations"];
const full = [...sizes].filter(([folder, size]) => size > maxFiles && !ofNouns.includes(relative(root, folder)));
for (const [folder, size] of full)
  console.log(`${relative(root, folder)} has ${size} files; group some (at most ${maxFiles})`);
process.exitCode = circles.length + full.length === 0 ? 0 : 1;
