import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpIn, startHere } from "../helpers/command.ts";

/** `--https`: a certificate without any files. */

interface Ready {
  readonly issuer: string;
  readonly ca_file: string;
}

const readyOf = (stdout: string): Ready => JSON.parse(stdout.split("\n")[0] ?? "") as Ready;

/** The status of a request that trusts this certificate only. */
const statusWith = (ca: string, url: string): Promise<number> =>
  new Promise((resolve, reject) => {
    request(url, { ca, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on("error", reject)
      .end();
  });

test("the issuer is https, and the certificate is for the names on this machine and each --allow-host", async () => {
  const cwd = newFolder();
  const { output, issuer } = await startHere(["--https", "--json", "--allow-host", ".apps.test"], { cwd });
  const { ca_file: caFile } = readyOf(output.stdout);
  expect(issuer).toMatch(/^https:\/\/localhost:\d+$/);
  expect(caFile).toBe(join(cwd, ".idp", "tls-cert.pem"));
  const pem = readFileSync(caFile, "utf8");
  const certificate = new X509Certificate(pem);
  for (const host of ["localhost", "apps.test", "shop.apps.test"]) expect(certificate.checkHost(host)).toBeDefined();
  for (const address of ["127.0.0.1", "::1"]) expect(certificate.checkIP(address)).toBeDefined();
  expect(certificate.ca).toBe(false);
  expect(certificate.keyUsage).toEqual(["1.3.6.1.5.5.7.3.1"]);
  const days = (Date.parse(certificate.validTo) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(360);
  expect(days).toBeLessThan(367);
  expect(statSync(join(cwd, ".idp", "tls-key.pem")).mode & 0o777).toBe(0o600);
  expect(await statusWith(pem, `${issuer}/_idp/health`)).toBe(200);
  expect(await statusWith(pem, `${issuer.replace("localhost", "127.0.0.1")}/_idp/health`)).toBe(200);
});

test("it is kept between runs, and made anew when a name is missing", async () => {
  const cwd = newFolder();
  const pemOf = async (...flags: readonly string[]): Promise<string> => {
    const running = await startHere(["--https", ...flags], { cwd });
    await running.stop();
    const caFile = join(cwd, ".idp", "tls-cert.pem");
    expect(running.output.stdout).toContain(`HTTPS       Node.js trusts it with NODE_EXTRA_CA_CERTS=${caFile}\n`);
    return readFileSync(caFile, "utf8");
  };
  const first = await pemOf();
  expect(await pemOf()).toBe(first);
  const second = await pemOf("--allow-host", "idp.test");
  expect(second).not.toBe(first);
  expect(new X509Certificate(second).checkHost("idp.test")).toBeDefined();
});

test("commands, env and doctor know the certificate; env says how Node.js gets it", async () => {
  const cwd = newFolder();
  const { output } = await startHere(["--https", "--json"], { cwd });
  const { ca_file: caFile } = readyOf(output.stdout);
  expect((await idpIn(cwd, ["users", "suspend", "bob"])).code).toBe(0);
  const env = await idpIn(cwd, ["env"]);
  expect(env.stdout).toContain(`OIDC_CA_FILE=${caFile}\n`);
  expect(env.stderr).toContain(`NODE_EXTRA_CA_CERTS=${caFile}`);
  const written = await idpIn(cwd, ["env", "--write", ".env.local"]);
  expect(written.code).toBe(0);
  const file = readFileSync(join(cwd, ".env.local"), "utf8");
  expect(file).toContain("OIDC_CA_FILE=");
  expect(file).not.toContain("NODE_EXTRA_CA_CERTS");
  const { stdout } = await idpIn(cwd, ["doctor", "--json"]);
  const { checks } = JSON.parse(stdout) as { checks: { name: string; detail: string }[] };
  expect(checks.find(({ name }) => name === "certificate")?.detail).toContain(caFile);
});

test("in memory, its folder is removed at the end", async () => {
  const cwd = newFolder();
  const running = await startHere(["--https", "--memory", "--json"], { cwd });
  const { ca_file: caFile } = readyOf(running.output.stdout);
  expect(existsSync(caFile)).toBe(true);
  await running.stop();
  expect(existsSync(dirname(caFile))).toBe(false);
});

test("exec: its child trusts the server, and keeps the certificates that the caller trusts", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "own.pem"), "# the caller's\n");
  const child = `
    const { readFileSync } = require("node:fs");
    const { OIDC_ISSUER: issuer, OIDC_CA_FILE: ca, NODE_EXTRA_CA_CERTS: extra } = process.env;
    const both = readFileSync(extra, "utf8");
    const isBoth = both.includes("the caller's") && both.includes(readFileSync(ca, "utf8").trim());
    fetch(issuer + "/_idp/health").then(({ status }) => { process.exitCode = isBoth && status === 200 ? 0 : 1; });
  `;
  const env = { NODE_EXTRA_CA_CERTS: join(cwd, "own.pem") };
  const { code, stderr } = await idpIn(cwd, ["exec", "--https", "--", process.execPath, "-e", child], "", env);
  expect(code, stderr).toBe(0);
});

test("exec: its child trusts the server where the caller trusts another one", async () => {
  const cwd = newFolder();
  const other = await startHere(["--https", "--json"], { cwd });
  const { ca_file: caFile } = readyOf(other.output.stdout);
  const child = `
    const health = (issuer) => fetch(issuer + "/_idp/health").then(({ status }) => status);
    Promise.all([health(process.env.OIDC_ISSUER), health(${JSON.stringify(other.issuer)})]).then((statuses) => {
      process.exitCode = statuses.every((status) => status === 200) ? 0 : 1;
    });
  `;
  const env = { NODE_EXTRA_CA_CERTS: caFile };
  const { code, stderr } = await idpIn(newFolder(), ["exec", "--https", "--", process.execPath, "-e", child], "", env);
  expect(code, stderr).toBe(0);
});

test.each([
  [["--https", "--cert", "x.pem", "--key", "y.pem"], "--https makes a certificate of its own"],
  [["--https", "--store", "postgres://idp@localhost:1/idp"], "--https keeps its certificate in a data folder"],
])("%j: exit 2", async (flags, message) => {
  const { code, stderr } = await idpIn(newFolder(), ["start", "--port", "auto", ...flags]);
  expect(code).toBe(2);
  expect(stderr).toContain(message);
});

test("http at a port of https is answered in plain text, which names https", async () => {
  const { issuer } = await startHere(["--https", "--memory"], { cwd: newFolder() });
  const answer = await fetch(`${issuer.replace(/^https/, "http")}/.well-known/openid-configuration`);
  expect([answer.status, answer.headers.get("content-type")]).toEqual([400, "text/plain; charset=utf-8"]);
  expect(await answer.text()).toContain("This port serves https: begin the address with https://");
});
