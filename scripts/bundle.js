// Bundles the command line and what it depends on into few files: docs/decisions/command-line-in-few-files.md.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));

/** The folders of the packages that the files come from. */
function packagesOf(modules) {
  const folders = modules.map((id) => /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(id)?.[1]);
  return [...new Set(folders.filter((folder) => folder !== undefined))].sort();
}

/** Name, version and license, with the text that its license wants to be kept. */
function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) throw new Error(`${folder} has no license file: see where ${name} keeps it`);
  return `${name} ${version}: ${license}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
}

/** @param folder where the files go: `main.cjs`, the others, the licenses, and in `.modules.json` what each file was made of */
export async function bundle(folder) {
  const bundled = await rolldown({
    input: { main: join(root, "src/cli/main.ts") },
    cwd: root,
    platform: "node",
    // open runs a script that stands beside its code. pg depends on packages without the text of their license.
    external: ["open", "pg"],
    // jsonc-parser's "main" is UMD, which finds its files only when it runs.
    resolve: { mainFields: ["module", "main"] },
  });
  const { output } = await bundled.write({
    dir: folder,
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "[name]-[hash].cjs",
    minify: true,
  });
  await bundled.close();
  const modules = output.map(({ fileName, moduleIds = [] }) => [fileName, moduleIds.map((id) => relative(root, id))]);
  writeFileSync(join(folder, ".modules.json"), JSON.stringify(Object.fromEntries(modules), null, 2));
  const notices = packagesOf(output.flatMap(({ moduleIds = [] }) => moduleIds)).map(noticeOf);
  writeFileSync(
    join(folder, "THIRD-PARTY.txt"),
    ["The files beside this one hold code of these packages.\n", ...notices].join(`\n${"-".repeat(80)}\n\n`),
  );
}
