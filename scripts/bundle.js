// Bundles the command line and what it depends on into few files: docs/decisions/command-line-in-few-files.md.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = (path) => join(root, "src", path);

/** What chalk takes from `node:process`: an import of that module makes all that Node.js can tell of itself, which takes 4 ms. */
const nodeProcess = {
  name: "node-process",
  resolveId: { filter: { id: /^node:process$/ }, handler: () => "\0node-process.cjs" },
  load: { filter: { id: /^\0node-process\.cjs$/ }, handler: () => "module.exports = globalThis.process;" },
};

/**
 * Packages that are loaded with the first form or other body: they are half of all that a server could load, and each start would wait for
 * what it does not use. By name, with the functions that are called, which are all that is taken of them; null: it is one function itself.
 */
const late = {
  // 2,500 media types, read and sorted as soon as they are loaded, which takes 13 ms.
  "mime-types": ["charset", "contentType", "extension", "lookup"],
  // A quarter of a megabyte of character sets.
  "iconv-lite": ["decode", "encodingExists", "getDecoder"],
  "body-parser": ["json", "raw", "text", "urlencoded"],
  qs: ["parse"],
  "http-errors": null,
  send: null,
  "serve-static": null,
};

/** What stands in their place until then. */
function standIn(name) {
  // Looked for once: the body of every request asks for a character set.
  const load = `let found; const load = () => (found ??= require("./late.cjs")["${name}"]());`;
  const calls = late[name];
  return calls === null
    ? `${load} module.exports = (...given) => load()(...given);`
    : `${load} for (const name of ${JSON.stringify(calls)}) exports[name] = (...given) => load()[name](...given);`;
}

const lateFile = {
  name: "late",
  resolveId: {
    filter: { id: new RegExp(`^(late|${Object.keys(late).join("|")})$`) },
    handler: (id, importer) => (id === "late" || !importer?.startsWith("\0") ? `\0${id}.cjs` : null),
  },
  load: {
    filter: { id: new RegExp(`^\0(late|${Object.keys(late).join("|")})\\.cjs$`) },
    handler(id) {
      const name = id.slice(1, -".cjs".length);
      if (name !== "late") return standIn(name);
      return Object.keys(late)
        .map((one) => `exports["${one}"] = () => require("${one}");`)
        .join("\n");
    },
  },
};

/** As text it is skipped until then; as an object it would be read with the code around it. */
const mediaTypesAsText = {
  name: "media-types-as-text",
  transform: {
    filter: { id: /mime-db[\\/]db\.json$/ },
    handler: (text) => ({
      code: `module.exports = JSON.parse(${JSON.stringify(JSON.stringify(JSON.parse(text)))});`,
      moduleType: "js",
    }),
  },
};

/**
 * Escapes where few letters of a file are not ASCII: V8 has a byte a letter then, and not two, of half a megabyte. They stand in strings and
 * regular expressions.
 */
const fewLetters = 1000;
const ascii = {
  name: "ascii",
  // After it was made small, which would write the letters again.
  generateBundle: (_options, files) => {
    for (const file of Object.values(files)) {
      const others = file.code?.match(/[^\0-\x7f]/g) ?? [];
      if (others.length === 0 || others.length > fewLetters) continue;
      file.code = file.code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
    }
  },
};

/** A file of its own: what is loaded late. */
const otherFiles = {
  name: "other-files",
  resolveId: {
    filter: { id: /^\.\/late\.cjs$/ },
    handler: (id) => ({ id, external: true }),
  },
};

/** The modules that are loaded with one: itself, what it imports, what that imports. */
function loadedWith(entry, context, found = new Set()) {
  if (found.has(entry)) return found;
  found.add(entry);
  for (const id of context.getModuleInfo(entry)?.importedIds ?? []) loadedWith(id, context, found);
  return found;
}

/**
 * Each file takes time to be found and read, so what is always loaded together is one: what every command needs, what is needed for
 * records in the data folder, by `idp start` as by the commands that open it, and the server. The rest is split as it is imported.
 */
function groups() {
  const group = (name, priority, ...entries) => {
    let loaded;
    return {
      name(id, context) {
        loaded ??= new Set(entries.flatMap((entry) => [...loadedWith(source(entry), context)]));
        return loaded.has(id) ? name : null;
      },
      debugName: name,
      priority,
    };
  };
  // What is in both a command and a group of lower priority would take that group along; what only the server and few commands share would be
  // a file of its own, of some hundred bytes, and a start waits 0.4 ms for each.
  const shared = {
    main: ["core/json-object.ts", "core/decode.ts", "cli/progress.ts", "cli/open-browser.ts", "cli/seed-summary.ts"],
    folder: [
      ...["store/json.ts", "core/seed.ts", "core/issue.ts", "core/accepted-tokens.ts", "core/assertion-algorithms.ts"],
      ...["core/introspect.ts", "core/revoke.ts", "core/status.ts", "core/keys-admin.ts", "http/texts.ts"],
      ...["client/loopback.ts", "cli/remote.ts", "cli/put-file.ts", "cli/request-log.ts", "cli/app-client.ts"],
    ],
  };
  return [
    group("main", 3, "cli/main.ts", ...shared.main),
    group("folder", 2, "cli/folder.ts", ...shared.folder),
    group("server", 1, "index.ts", "cli/start.ts"),
  ];
}

/** The folders of the packages that the files come from. */
function packagesOf(modules) {
  const folders = modules.map((id) => /^(.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+)[\\/]/.exec(id)?.[1]);
  return [...new Set(folders.filter((folder) => folder !== undefined))].sort();
}

/** Name, version and licence, with the text that its licence wants to be kept. */
function noticeOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  if (file === undefined) throw new Error(`${folder} has no licence file: see where ${name} keeps it`);
  return `${name} ${version}: ${license}\n\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
}

/** @param folder where the files go: `main.cjs`, the others, the licences, and in `.modules.json` what each file was made of */
export async function bundle(folder) {
  const bundled = await rolldown({
    input: { main: source("cli/main.ts"), late: "late" },
    cwd: root,
    // It runs a script that stands beside its code.
    external: ["open"],
    platform: "node",
    // jsonc-parser's other form finds its files when it runs.
    resolve: { mainFields: ["module", "main"] },
    plugins: [nodeProcess, lateFile, mediaTypesAsText, otherFiles, ascii],
    checks: { preferBuiltinFeature: false, ineffectiveDynamicImport: false },
  });
  const { output } = await bundled.write({
    dir: folder,
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "[name]-[hash].cjs",
    minify: true,
    codeSplitting: { groups: groups() },
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
