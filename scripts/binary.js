// Builds one executable for this platform, with Node.js in it: https://nodejs.org/api/single-executable-applications.html
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inject } from "postject";
import { rolldown } from "rolldown";

const root = fileURLToPath(new URL("..", import.meta.url));
const executable = join(root, "binary", process.platform === "win32" ? "idp.exe" : "idp");

/** Every file that the code reads, by its path in the package. */
function packageFiles() {
  const below = (folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
  const paths = ["package.json", ...below("fixtures"), ...below("templates")];
  return Object.fromEntries(paths.map((path) => [path.replaceAll("\\", "/"), readFileSync(join(root, path), "utf8")]));
}

/** Runs first: the code reads its files from a folder, which only this process uses. */
const prologue = `
const packageRoot = (() => {
  const fs = require("node:fs");
  const path = require("node:path");
  const folder = fs.mkdtempSync(path.join(require("node:os").tmpdir(), "dev-idp-"));
  process.on("exit", () => fs.rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(${JSON.stringify(packageFiles())})) {
    fs.mkdirSync(path.join(folder, path.dirname(name)), { recursive: true });
    fs.writeFileSync(path.join(folder, name), text);
  }
  return require("node:url").pathToFileURL(path.join(folder, "idp.js")).href;
})();
`;

/** Packages that others load only if they are installed. */
const optional = ["pg-cloudflare", "pg-native", "supports-color"];
const absent = {
  name: "absent",
  resolveId: (id) => (optional.includes(id) ? "\0absent" : null),
  load: (id) => (id === "\0absent" ? "module.exports = {};" : null),
};

/** The command line and its packages in one file, because an executable can require only what is built into Node.js. */
async function bundleInto(folder) {
  const bundled = await rolldown({
    input: join(root, "src/cli/main.ts"),
    cwd: root,
    platform: "node",
    plugins: [absent],
    resolve: { mainFields: ["module", "main"] },
    transform: { define: { "import.meta.url": "packageRoot" } },
  });
  const file = join(folder, "main.cjs");
  await bundled.write({ file, format: "cjs", codeSplitting: false, minify: true, intro: prologue });
  await bundled.close();
  return file;
}

const folder = mkdtempSync(join(tmpdir(), "idp-binary-"));
try {
  const main = await bundleInto(folder);
  const config = { main, output: join(folder, "blob"), disableExperimentalSEAWarning: true };
  writeFileSync(join(folder, "config.json"), JSON.stringify(config));
  execFileSync(process.execPath, ["--experimental-sea-config", join(folder, "config.json")], { stdio: "inherit" });
  mkdirSync(join(root, "binary"), { recursive: true });
  copyFileSync(process.execPath, executable);
  chmodSync(executable, 0o755);
  // macOS runs only what is signed, and a signature covers what is injected.
  if (process.platform === "darwin") execFileSync("codesign", ["--remove-signature", executable]);
  await inject(executable, "NODE_SEA_BLOB", readFileSync(config.output), {
    sentinelFuse: "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2",
    ...(process.platform === "darwin" && { machoSegmentName: "NODE_SEA" }),
  });
  if (process.platform === "darwin") execFileSync("codesign", ["--sign", "-", executable]);
  console.log(executable);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
