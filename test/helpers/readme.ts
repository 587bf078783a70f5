import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The README and the guides, so that what they print is what is run. */

export const repository = fileURLToPath(new URL("../..", import.meta.url));

const sectionsOf = (path: string): string[] => readFileSync(join(repository, path), "utf8").split(/^## /m);

/** The sections of the README, then those of the guides. */
const sections = ["README.md", ...readdirSync(join(repository, "docs")).map((name) => join("docs", name))].flatMap(
  (path) => (path.endsWith(".md") ? sectionsOf(path) : []),
);

/** The headings of a guide. @param path as in "docs/cookbook.md" */
export const headingsOf = (path: string): string[] =>
  sectionsOf(path)
    .slice(1)
    .map((section) => section.slice(0, section.indexOf("\n")));

/** The code blocks of a section in one language, each as printed. @param heading of the section; empty: the start of the README */
export function blocks(heading: string, language: string): string[] {
  const section = heading === "" ? sections[0] : sections.find((one) => one.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`neither the README nor a guide has a section "${heading}"`);
  return [...section.matchAll(/^```(\w+)\n([\s\S]*?)\n```$/gm)].flatMap(([, of, text = ""]) =>
    of === language ? [text] : [],
  );
}
