// Starts the server, which outlives this step, and gives its variables to the later steps.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fail, findCommand, folder, input, run, setForRunner } from "./command.js";

/** How long the server may take to start, in milliseconds. */
const patience = 60_000;

async function start(command, adminToken) {
  const own = mkdtempSync(join(process.env["RUNNER_TEMP"] ?? "/tmp", "dev-idp-"));
  const [readyFile, logFile] = [join(own, "ready.json"), join(own, "log.txt")];
  const log = openSync(logFile, "a");
  const fixtures = input("fixtures")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const words = ["start", "--memory", "--port", input("port") || "auto", "--ready-file", readyFile];
  const [program, ...more] = [...command, ...words, ...fixtures.flatMap((path) => ["--fixtures", path])];
  const server = spawn(program, more, {
    cwd: folder,
    env: { ...process.env, IDP_ADMIN_TOKEN: adminToken },
    detached: true,
    stdio: ["ignore", log, log],
  });
  let ended = null;
  server.on("error", (error) => (ended = `${program} cannot be run: ${error.message}`));
  server.on("exit", (code) => (ended = `the server ended with ${code}: ${readFileSync(logFile, "utf8").trim()}`));
  // First, so that the end of the job stops the server, whatever happens until then.
  if (server.pid !== undefined) setForRunner("GITHUB_STATE", "pid", server.pid);
  for (const until = Date.now() + patience; Date.now() < until; await delay(50)) {
    if (ended !== null) throw new Error(ended);
    try {
      const ready = JSON.parse(readFileSync(readyFile, "utf8"));
      server.unref();
      return ready.issuer;
    } catch {
      // It is not ready yet.
    }
  }
  throw new Error(`the server was not ready within ${patience / 1000} s: ${readFileSync(logFile, "utf8").trim()}`);
}

try {
  const command = findCommand();
  const adminToken = randomBytes(32).toString("base64url");
  console.log(`::add-mask::${adminToken}`);
  const issuer = await start(command, adminToken);
  setForRunner("GITHUB_STATE", "command", JSON.stringify(command));
  setForRunner("GITHUB_STATE", "url", issuer);
  setForRunner("GITHUB_STATE", "admin_token", adminToken);
  const client = input("client");
  const shown = run(command, ["env", "--json", "--url", issuer, ...(client === "" ? [] : ["--client", client])], {
    IDP_ADMIN_TOKEN: adminToken,
  });
  const variables = { ...JSON.parse(shown), IDP_URL: issuer, IDP_ADMIN_TOKEN: adminToken };
  for (const [name, value] of Object.entries(variables)) setForRunner("GITHUB_ENV", name, value);
  setForRunner("GITHUB_OUTPUT", "issuer", issuer);
  console.log(`idp runs at ${issuer}. The later steps have ${Object.keys(variables).join(", ")}.`);
} catch (error) {
  fail(error);
}
