import { spawn, spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Runs `idp check client` on an app for each library of `examples/check-client`, and prints the table of `docs/check-client.md`.
 * Names of libraries as arguments run only those. A library that cannot run here is "not installed" in the table: Authlib needs Python
 * with Authlib, Flask and requests (PYTHON names it), Spring Security needs Java and Maven, and mod_auth_openidc needs Apache httpd
 * (APACHE names it, and MODULES the folder of its modules).
 */

const root = join(import.meta.dirname, "..");
const { PYTHON = "python3", APACHE = "apache2", MODULES = "/usr/lib/apache2/modules" } = process.env;
const folder = mkdtempSync(join(tmpdir(), "idp-libraries-"));
const jar = join(folder, "target/app.jar");
const htdocs = join(folder, "htdocs");
const node = (file) => [process.execPath, join(root, "examples/check-client", file)];
const npmVersion = (name) => JSON.parse(readFileSync(join(root, "node_modules", name, "package.json"), "utf8")).version;
const authlibVersion = () => {
  const { stdout } = spawnSync(PYTHON, ["-c", "import authlib, flask, requests; print(authlib.__version__)"]);
  return stdout?.toString().trim() || null;
};

/** Builds the app of Spring Boot. @returns the version of Spring Security, or null */
function buildSpring() {
  cpSync(join(root, "examples/check-client/spring"), folder, { recursive: true });
  const options = { cwd: folder, stdio: ["ignore", "ignore", "inherit"] };
  if (spawnSync("mvn", ["-B", "-q", "-Dstyle.color=never", "package"], options).status !== 0) return null;
  const { stdout } = spawnSync("jar", ["tf", jar]);
  return /spring-security-oauth2-client-([\d.]+)\.jar/.exec(stdout.toString())?.[1] ?? null;
}

/** Makes the files of Apache, which reads them as another user. @returns the version of mod_auth_openidc, or null */
function apacheVersion() {
  const module = join(MODULES, "mod_auth_openidc.so");
  if (!existsSync(module)) return null;
  chmodSync(folder, 0o755);
  mkdirSync(htdocs);
  for (const name of ["login", "me"]) writeFileSync(join(htdocs, name), "a user");
  return /mod_auth_openidc-([\d.]+)/.exec(readFileSync(module, "latin1"))?.[1] ?? "unknown";
}

const libraries = [
  { name: "openid-client", command: node("openid-client.js") },
  { name: "oauth4webapi", command: node("oauth4webapi.js") },
  { name: "express-openid-connect", command: node("express-openid-connect.js") },
  { name: "passport-openidconnect", command: node("passport-openidconnect.js"), standard: true },
  { name: "@auth/express", command: node("auth-express.js"), start: "/auth/signin", callback: "/auth/callback/idp" },
  {
    ...{ name: "next-auth", command: node("next-auth.js") },
    ...{ start: "/api/auth/signin", callback: "/api/auth/callback/idp" },
  },
  { name: "better-auth", command: node("better-auth.js"), callback: "/api/auth/callback/idp" },
  {
    ...{ name: "oidc-client-ts", command: node("oidc-client-ts.js"), isPublic: true },
    flags: ["--browser", "--signed-in-text", "Signed in"],
  },
  { name: "Authlib", command: [PYTHON, join(root, "examples/check-client/authlib_app.py")], version: authlibVersion },
  {
    ...{ name: "Spring Security", command: ["java", "-jar", jar], version: buildSpring },
    ...{ start: "/oauth2/authorization/idp", callback: "/login/oauth2/code/idp" },
  },
  {
    ...{ name: "mod_auth_openidc", version: apacheVersion, env: { MODULES, HTDOCS: htdocs } },
    command: [APACHE, "-D", "FOREGROUND", "-f", join(root, "examples/check-client/mod_auth_openidc.conf")],
  },
];

const freePort = () =>
  new Promise((resolve) => {
    const server = createServer().listen(0, "localhost", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** @returns the document of `--json` */
async function check(
  { command, start = "/login", callback = "/callback", standard, isPublic, flags = [], env },
  folder,
) {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const client = {
    client_id: "app",
    ...(!isPublic && { client_secret: "the-secret-of-the-app-under-test" }),
    redirect_uris: [url + callback],
    ...(standard && { userinfo_format: "standard" }),
  };
  const fixtures = { users: [{ username: "alice", email: "alice@example.com" }], clients: [client] };
  const words = ["check", "client", "--json", "--timeout", "120", ...flags];
  const addresses = ["--start", url + start, "--signed-in", `${url}/me`];
  const child = spawn(process.execPath, [join(root, "bin/idp.js"), ...words, ...addresses, "--", ...command], {
    // Playwright comes from the project in the working folder.
    cwd: flags.includes("--browser") ? root : folder,
    // The fixtures have a secret, and everybody on the machine can read arguments.
    env: { ...process.env, ...env, PORT: String(port), IDP_FIXTURES: JSON.stringify(fixtures) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk) => (text += chunk));
  await new Promise((resolve) => child.on("close", resolve));
  return text === "" ? null : JSON.parse(text);
}

const named = process.argv.slice(2);
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
    if ((verdict === "unnoticed" || verdict === "not-reached") && !did.startsWith("not run: "))
      console.error(`${library.name}: ${name}: ${verdict}: ${did}`);
  }
}
rmSync(folder, { recursive: true });
