// Templates escape what they show. Raw output is only for what is HTML already: a page in its layout, an included template, the HTML of a text.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Eta } from "eta";

const folder = process.argv[2] ?? "templates";
/** No parentheses among the arguments: nothing can follow the call. */
const allowed = /^(it\.body|(include|it\.partial|it\.html)\([^()]*\))$/;
const eta = new Eta({ debug: true });

for (const name of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
  if (!name.endsWith(".eta")) continue;
  for (const part of eta.parse(readFileSync(join(folder, name), "utf8"))) {
    const { t: tag, val, lineNo } = part;
    const isRaw = (tag === "r" && !allowed.test(val)) || (tag === "e" && /\boutput\s*\(|__eta/.test(val));
    if (!isRaw) continue;
    console.error(
      `${join(folder, name)}:${lineNo}  ${val}  is raw output: only it.body, include(), it.partial() and it.html() may be`,
    );
    process.exitCode = 1;
  }
}
