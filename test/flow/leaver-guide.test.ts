import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { newFolder, idp as run, startIdp } from "../helpers/cli.ts";
import { freePort } from "../helpers/port.ts";
import { blocks, repository } from "../helpers/readme.ts";
import { allCases as leaverCases } from "../../src/check/leaver/cases/list.ts";
import { allCases as scimCases, plainName } from "../../src/check/scim/cases/list.ts";

/** docs/scim.md and docs/leaver.md: the app as printed takes every signal, and the commands that they name. */

interface Checked {
  readonly passed: boolean;
  readonly cases: readonly {
    readonly name: string;
    readonly verdict: string;
    readonly did: string;
    readonly lockedOutAfterMs?: number | null;
  }[];
}

async function app() {
  const cwd = newFolder();
  const port = await freePort();
  const ported = (text: string): string => text.replaceAll("localhost:3000", `localhost:${port}`);
  mkdirSync(join(cwd, "node_modules"));
  for (const name of ["express", "jose", "openid-client"]) {
    symlinkSync(join(repository, "node_modules", name), join(cwd, "node_modules", name));
  }
  const heading = "An app that takes every signal";
  writeFileSync(join(cwd, "idp.fixtures.yaml"), ported(blocks(heading, "yaml")[0] ?? ""));
  writeFileSync(join(cwd, "server.mjs"), blocks(heading, "js")[0] ?? "");
  writeFileSync(join(cwd, "scim.mjs"), blocks("A SCIM server in Express", "js")[0] ?? "");
  const env = { PORT: port };
  const idp = (words: readonly string[]) => run(words, { cwd, env });
  const checked = async (words: readonly string[]): Promise<Checked> => {
    const { code, stdout, stderr } = await idp(words);
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: "" });
    return JSON.parse(stdout) as Checked;
  };
  return { cwd, env, port, ported, idp, checked };
}

const words = (line: string): readonly string[] => line.replace(/^idp /, "").split(/\s+/);

test("the SCIM server passes every case of every profile", async () => {
  const { checked } = await app();
  const profiles = ["standard", "okta", "okta-put", "entra", "entra-compliant"].flatMap((one) => ["--profile", one]);
  const { cases } = await checked(["check", "scim", "--pages", "--json", ...profiles, "--", "node", "server.mjs"]);
  expect(cases.filter(({ verdict }) => verdict !== "works" && verdict !== "noticed")).toEqual([]);
  // All but the one that needs another token, and two controls.
  expect(cases).toHaveLength(scimCases.length - 1 + 2);
});

test("the app locks out by every signal", async () => {
  const { checked, ported } = await app();
  const line = ported(blocks("How long until your app locks them out?", "sh")[0] ?? "");
  const [before = "", command = ""] = line.split(" -- ");
  const { passed, cases } = await checked([...words(before), "--json", "--within", "8", "--", ...words(command)]);
  expect(passed).toBe(true);
  const verdicts = new Map(cases.map(({ name, verdict }) => [name, verdict]));
  for (const signal of ["scim", "backchannel-logout", "revocation", "all"]) {
    for (const name of ["session", "second-session"]) expect(verdicts.get(`${signal}.${name}`)).toBe("noticed");
  }
  for (const name of ["scim.api", "revocation.api", "all.api", "scim.sign-in", "all.sign-in"]) {
    expect(verdicts.get(name), name).toBe("noticed");
  }
  expect(verdicts.get("backchannel-logout.api")).toBe("not-required");
  expect([verdicts.get("restored"), verdicts.get("other-user")]).toEqual(["works", "works"]);
  for (const { name, lockedOutAfterMs } of cases) {
    if (name === "scim.session") expect(lockedOutAfterMs).toBeLessThan(8000);
    if (name === "silence.session") expect(lockedOutAfterMs).toBe(null);
  }
});

test("the commands of both guides, on a running server", async () => {
  const { cwd, env, port, ported, idp } = await app();
  const { issuer } = await startIdp([], { cwd, env });
  const own = { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: "shop", OIDC_CLIENT_SECRET: "shop-secret-for-development" };
  const server = spawn(process.execPath, ["server.mjs"], {
    ...{ cwd, stdio: "inherit" as const },
    env: { ...process.env, ...env, ...own, SCIM_TOKEN: "scim-secret" },
  });
  onTestFinished(async () => {
    server.kill();
    await once(server, "exit");
  });
  await vi.waitFor(() => fetch(`http://localhost:${port}/login`, { redirect: "manual" }), { timeout: 30_000 });
  const scripts = ["Send users and groups", "Does the app do what it answers?", "# When somebody leaves"].flatMap(
    (heading) => blocks(heading, "sh"),
  );
  const lines = scripts.flatMap((script) => script.split("\n")).filter((line) => line.startsWith("idp "));
  expect(lines.length).toBeGreaterThan(6);
  for (const line of lines) {
    const { code, stdout, stderr } = await idp(words(ported(line)));
    expect(code, line + stdout + stderr).toBe(0);
  }
});

test("the guides name every case", () => {
  const scim = readFileSync(join(repository, "docs/scim.md"), "utf8");
  for (const { name } of scimCases) expect(scim).toContain(`\`${plainName(name)}\``);
  const leaver = readFileSync(join(repository, "docs/leaver.md"), "utf8");
  const names = new Set(leaverCases.map(({ name, signal }) => name.replace(`${signal}.`, "")));
  for (const name of names) expect(leaver).toMatch(new RegExp(`\`(?:SIGNAL\\.|scim\\.|all\\.)?${name}\``));
});
