// Prints the text of a release: what CHANGELOG.md says of the version of the package.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const read = (name) => readFileSync(fileURLToPath(new URL(`../${name}`, import.meta.url)), "utf8");
const { version } = JSON.parse(read("package.json"));
const section = read("CHANGELOG.md")
  .split(/^## /m)
  .find((one) => one.startsWith(`[${version}]`));
if (section === undefined) {
  console.error(`CHANGELOG.md has no section [${version}]`);
  process.exitCode = 1;
} else {
  console.log(section.slice(section.indexOf("\n")).trim());
}
