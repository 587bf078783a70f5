import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The README, so that what it prints is what is run. */

export const repository = fileURLToPath(new URL("../..", import.meta.url));

/** The code blocks of a section in one language, each as printed. @param heading of the section; empty: what comes before the first one */
export function blocks(heading: string, language: string): string[] {
  const sections = readFileSync(`${repository}/README.md`, "utf8").split(/^## /m);
  const section = heading === "" ? sections[0] : sections.find((one) => one.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`README.md has no section "${heading}"`);
  return [...section.matchAll(/^```(\w+)\n([\s\S]*?)\n```$/gm)].flatMap(([, of, text = ""]) =>
    of === language ? [text] : [],
  );
}
