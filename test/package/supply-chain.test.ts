import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { repository } from "../helpers/readme.ts";
import { shell } from "../helpers/shell.ts";

/** What is installed with `idp`: few packages, each with its reason, and none runs anything at installation. */

const read = (path: string): string => readFileSync(join(repository, path), "utf8");

interface Locked {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly license?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly peer?: boolean;
  readonly hasInstallScript?: boolean;
  readonly engines?: { readonly node?: string };
}
const manifest = JSON.parse(read("package.json")) as Readonly<Record<string, Record<string, string>>>;
const lock = JSON.parse(read("package-lock.json")) as {
  readonly lockfileVersion: number;
  readonly packages: Readonly<Record<string, Locked & Readonly<Record<string, unknown>>>>;
};
const direct = Object.keys(manifest["dependencies"] ?? {});
const production = Object.entries(lock.packages).filter(
  ([path, { dev, devOptional, peer }]) => path !== "" && dev !== true && devOptional !== true && peer !== true,
);
const decision = read("docs/decisions/dependencies.md");
/** "At most 15 direct packages, at most 135 in all." */
const budget = /At most (\d+) direct packages, at most (\d+) in all/.exec(decision);

test("the packages are within the budget, and each direct one says what it is for", () => {
  expect(direct.length).toBeLessThanOrEqual(Number(budget?.[1]));
  expect(production.length).toBeLessThanOrEqual(Number(budget?.[2]));
  expect(production.length).toBeGreaterThan(direct.length);
  const rows = new Set([...decision.matchAll(/^\| ([\w@/.-]+) +\|/gm)].map(([, name]) => name));
  expect(direct.filter((name) => !rows.has(name))).toEqual([]);
});

test("no package runs a script when it is installed, and neither does idp", () => {
  expect(production.filter(([, { hasInstallScript }]) => hasInstallScript === true)).toEqual([]);
  const scripts = Object.keys(manifest["scripts"] ?? {});
  expect(scripts.filter((name) => /^(pre|post)?install$/.test(name))).toEqual([]);
});

/** Of ranges as packages write them: `>=18`, `^20.17.0 || >=22.9.0`. A form that is not known admits nothing. */
function admits(range: string, [major, minor, patch]: readonly [number, number, number]): boolean {
  return range.split("||").some((part) => {
    const form = /^\s*(>=|\^)\s*(\d+)(?:\.(\d+|x))?(?:\.(\d+|x))?\s*$/.exec(part);
    if (form === null) return false;
    const [from = 0, fromMinor = 0, fromPatch = 0] = form.slice(2).map((text) => Number(text) || 0);
    if (form[1] === "^" && from !== major) return false;
    return major !== from ? major > from : minor !== fromMinor ? minor > fromMinor : patch >= fromPatch;
  });
}

test("each runs on the oldest Node.js that package.json names: yarn 1 installs nothing else", () => {
  const oldest = /^>=(\d+)\.(\d+)$/.exec(manifest["engines"]?.["node"] ?? "");
  const version = [Number(oldest?.[1]), Number(oldest?.[2]), 0] as const;
  expect([admits("^22.22.2 || ^24.15.0 || >=26.0.0", version), admits(">=20.19.0", version)]).toEqual([false, true]);
  const newer = production.filter(([, { engines }]) => !admits(engines?.node ?? ">=0", version));
  expect(newer.map(([path, { engines }]) => `${path} needs Node.js ${String(engines?.node)}`)).toEqual([]);
});

test("the lock file pins each by its hash, from the registry alone, and is that of package.json", () => {
  expect(lock.lockfileVersion).toBe(3);
  for (const [path, { version, integrity, resolved }] of production) {
    expect(version, path).toMatch(/^\d+\.\d+\.\d+/);
    expect(integrity, path).toMatch(/^sha512-/);
    // Absent: the registry that is configured. A repository or an address would be there.
    if (resolved !== undefined) expect(resolved, path).toMatch(/^https:\/\/registry\.npmjs\.org\//);
  }
  const root = lock.packages[""];
  for (const kind of ["dependencies", "devDependencies", "peerDependencies"]) {
    expect(root?.[kind], kind).toEqual(manifest[kind]);
  }
});

test("each has a license that only asks for attribution", () => {
  const known = new Set([
    "MIT",
    "ISC",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "Apache-2.0",
    "0BSD",
    "BlueOak-1.0.0",
    "PSF-2.0",
  ]);
  const others = production.filter(([, { license }]) => !known.has(license ?? ""));
  expect(others.map(([path]) => path)).toEqual([]);
});

test("npm run sbom lists everything that is installed for users (CycloneDX)", async () => {
  const { code, stdout, stderr } = await shell("npm run --silent sbom", { cwd: repository });
  expect(code, stderr).toBe(0);
  const sbom = JSON.parse(stdout) as { bomFormat: string; components: { name: string; version: string }[] };
  expect(sbom.bomFormat).toBe("CycloneDX");
  const listed = new Set(sbom.components.map(({ name, version }) => `${name}@${version}`));
  const installed = production.map(
    ([path, { version = "" }]) => `${path.slice(path.lastIndexOf("node_modules/") + 13)}@${version}`,
  );
  expect(installed.filter((one) => !listed.has(one))).toEqual([]);
});

test("npm run audit passes without findings, fails on a finding, and says so if the registry does not respond", async () => {
  const answers = newFolder();
  const script = join(repository, "scripts/audit.js");
  const run = (report: string) => shell(`printf '%s' '${report}' | node '${script}' --report -`, { cwd: answers });
  const counts = { info: 0, low: 0, moderate: 0, high: 0, critical: 0 };
  const clean = await run(
    JSON.stringify({ vulnerabilities: {}, metadata: { vulnerabilities: { ...counts, total: 0 } } }),
  );
  expect([clean.code, clean.stdout]).toEqual([0, "npm audit: no known vulnerability in what users install\n"]);
  const vulnerabilities = { x: { name: "x", severity: "low", via: [{ title: "Prototype pollution" }] } };
  const found = await run(
    JSON.stringify({ vulnerabilities, metadata: { vulnerabilities: { ...counts, low: 1, total: 1 } } }),
  );
  expect(found.code).toBe(1);
  expect(found.stderr).toContain("x  low  Prototype pollution");
  for (const silent of [JSON.stringify({ message: "405 Method Not Allowed", error: { summary: "" } }), "", "<html>"]) {
    const unknown = await run(silent);
    expect([unknown.code, unknown.stdout]).toEqual([0, ""]);
    expect(unknown.stderr).toContain("NOT CHECKED");
  }
});
