// Fails where a wing of core imports one that comes after it, and where the floors of a wing (its folders, and the files beside them) import
// each other in a circle. Prints each. `core/context.ts` belongs to no wing: it is the type of what every function gets.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";

const wings = ["base", "records", "sign-in", "protocol", "saml", "scim", "testing", "admin"];

const root = resolve("src");
const core = join(root, "core");
const contextFile = join(core, "context.ts");
const problems = [];

/** The wing and the floor of a file; null outside of core. */
function placeOf(file) {
  const [wing, floor] = relative(core, file).split(sep);
  return wing === ".." || file === contextFile ? null : { wing, floor: `${wing}/${floor}` };
}

/** The floors that each floor imports, with an import for each. */
const imported = new Map();
const files = readdirSync(core, { recursive: true })
  .map((name) => join(core, String(name)))
  .filter((file) => file.endsWith(".ts"));
for (const file of files) {
  const from = placeOf(file);
  if (from === null) continue;
  if (!wings.includes(from.wing))
    problems.push(`core/${from.wing} is no wing of core: put it in one of ${wings.join(", ")}`);
  for (const [, path] of readFileSync(file, "utf8").matchAll(/(?:from|import\()\s*"(\.[^"]+\.ts)"/g)) {
    const other = join(dirname(file), path);
    const to = placeOf(other);
    if (to === null || to.floor === from.floor) continue;
    const line = `${relative(root, file)} imports ${relative(root, other)}`;
    if (wings.indexOf(to.wing) > wings.indexOf(from.wing))
      problems.push(`${line}, but ${from.wing} comes before ${to.wing}`);
    if (to.wing !== from.wing) continue;
    const floors = imported.get(from.floor) ?? new Map();
    imported.set(from.floor, floors.set(to.floor, line));
  }
}

const done = new Set();

/** @param path the floors on the way to this one @param lines how each was imported */
function visit(floor, path, lines) {
  const start = path.indexOf(floor);
  if (start !== -1) problems.push(`circle of floors: ${lines.slice(start).join("; ")}`);
  if (start !== -1 || done.has(floor)) return;
  for (const [next, line] of imported.get(floor) ?? []) visit(next, [...path, floor], [...lines, line]);
  done.add(floor);
}

for (const floor of imported.keys()) visit(floor, [], []);
for (const problem of new Set(problems)) console.log(problem);
process.exitCode = problems.length === 0 ? 0 : 1;
