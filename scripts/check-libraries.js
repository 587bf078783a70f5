import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Runs `idp check client` on an app for each library of `examples/check-client`, and prints the table of `docs/check-client.md`.
 * Names of libraries as arguments run only those. Authlib needs Python with Authlib, Flask and requests: PYTHON names it.
 */

const root = join(import.meta.dirname, "..");
const { PYTHON = "python3" } = process.env;
const node = (file) => [process.execPath, join(root, "examples/check-client", file)];
const npmVersion = (name) => JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")).version;
const authlibVersion = () => {
  const { stdout } = spawnSync(PYTHON, ["-c", "import authlib, flask, requests; print(authlib.__version__)"]);
  return stdout?.toString().trim() || null;
};

const libraries = [
  { name: "openid-client", command: node("openid-client.js") },
  { name: "oauth4webapi", command: node("oauth4webapi.js") },
  { name: "express-openid-connect", command: node("express-openid-connect.js") },
  { name: "passport-openidconnect", command: node("passport-openidconnect.js"), standard: true },
  { name: "@auth/express", command: node("auth-express.js"), start: "/auth/signin", callback: "/auth/callback/idp" },
  { name: "Authlib", command: [PYTHON, join(root, "examples/check-client/authlib_app.py")], version: authlibVersion },
];

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "localhost", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** @returns the document of `--json` */
async function check({ command, start = "/login", callback = "/callback", standard }, folder) {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const client = {
    client_id: "app",
    client_secret: "the-secret-of-the-app-under-test",
    redirect_uris: [url + callback],
    ...(standard && { userinfo_format: "standard" }),
  };
  const fixtures = { users: [{ username: "alice", email: "alice@example.test" }], clients: [client] };
  const words = ["check", "client", "--json", "--fixtures", JSON.stringify(fixtures)];
  const addresses = ["--start", url + start, "--signed-in", `${url}/me`];
  const child = spawn(process.execPath, [join(root, "bin/idp.js"), ...words, ...addresses, "--", ...command], {
    cwd: folder,
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk) => (text += chunk));
  await new Promise((resolve) => child.on("close", resolve));
  return text === "" ? null : JSON.parse(text);
}

const named = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "idp-libraries-"));
const having = (cases, verdict) => cases.filter((one) => one.verdict === verdict);
const names = (cases) => cases.map(({ name }) => `\`${name}\``).join(", ") || "nothing";
console.log("| Library | Version | Noticed | Works | Unnoticed | Not required | Not reached |");
console.log("| --- | --- | --- | --- | --- | --- | --- |");
for (const library of libraries.filter(({ name }) => named.length === 0 || named.includes(name))) {
  const version = library.version === undefined ? npmVersion(library.name) : library.version();
  const result = version === null ? null : await check(library, folder);
  if (result === null) {
    console.log(`| ${library.name} | ${version ?? "not installed"} | | | | | |`);
    continue;
  }
  const { cases } = result;
  const numbers = [having(cases, "noticed").length, having(cases, "works").length].join(" | ");
  const lists = ["unnoticed", "not-required", "not-reached"].map((verdict) => names(having(cases, verdict)));
  console.log(`| ${library.name} | ${version} | ${numbers} | ${lists.join(" | ")} |`);
  for (const { name, verdict, did } of cases) {
    if (verdict === "unnoticed" || verdict === "not-reached")
      console.error(`${library.name}: ${name}: ${verdict}: ${did}`);
  }
}
rmSync(folder, { recursive: true });
