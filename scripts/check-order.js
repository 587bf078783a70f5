// Fails where a feature of core imports one that comes after it in the order of `src/core/context.ts`. Prints each such import.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";

const root = resolve("src");
const problems = [];

const core = join(root, "core");
const contextFile = join(core, "context.ts");
const [, listed = ""] =
  /Order of the features,[^\n]*:\n([\s\S]*?)\n \*\//.exec(readFileSync(contextFile, "utf8")) ?? [];
const order = listed.replaceAll(" * ", " ").split(/\s+/).filter(Boolean);

/** The feature of a file: its folder in core; null for a file of core itself, and outside of core. */
function featureOf(file) {
  const [folder] = relative(core, dirname(file)).split(sep);
  return folder === "" || folder === ".." ? null : folder;
}

const files = readdirSync(core, { recursive: true })
  .map(String)
  .filter((name) => name.endsWith(".ts"))
  .map((name) => join(core, name));
for (const file of files) {
  const from = featureOf(file);
  if (from !== null && !order.includes(from)) problems.push(`core/${from} is not in the order of core/context.ts`);
  if (from === null) continue;
  const named = readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+\.ts)"/g);
  for (const [, path] of named) {
    const other = join(dirname(file), path);
    const to = featureOf(other);
    if (to === null || order.indexOf(to) <= order.indexOf(from)) continue;
    problems.push(`${relative(root, file)} imports ${relative(root, other)}, but ${from} comes before ${to}`);
  }
}
for (const problem of new Set(problems)) console.log(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
