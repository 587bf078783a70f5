import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { afterAll, expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { repository } from "../helpers/readme.ts";
import { timeLimit } from "../helpers/runs.ts";

/** release.json and what shows its coordinates: `npm run release:check` and `release:apply`, in copies of the repository. */

const made = {
  repository: "https://github.com/acme/idp",
  npm: "@acme/dev-idp",
  image: "ghcr.io/acme/idp",
  pypi: "pytest-acme-idp",
  mavenGroup: "io.github.acme",
  goModule: "github.com/acme/idp/integrations/go",
};
const left = /^(?:node_modules|\.git|binary|shots|coverage|\.idp)$|\.tmp$/;

/** The repository as a release has it, without what it never reads. */
function copied(): string {
  const folder = newFolder(afterAll);
  for (const name of readdirSync(repository).filter((one) => !left.test(one)))
    if (name !== "test" && name !== "bench") cpSync(join(repository, name), join(folder, name), { recursive: true });
  return folder;
}

function run(folder: string, script: string, ...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, "scripts", script), ...words], {
    encoding: "utf8",
  });
  return { code: status, lines: stdout.split("\n"), said: stdout + stderr };
}

const change = (folder: string, file: string, edit: (text: string) => string) => {
  const before = readFileSync(join(folder, file), "utf8");
  const after = edit(before);
  expect(after, `nothing to change in ${file}`).not.toBe(before);
  writeFileSync(join(folder, file), after);
};

test(
  "the repository can be released; coordinates that nobody has chosen are named, and are no failure",
  { timeout: timeLimit },
  () => {
    const { code, said } = run(repository, "release-check.js");
    expect(code, said).toBe(0);
    const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as { version: string };
    expect(said).toContain(`${version} can be released.`);
    const chosen = JSON.parse(readFileSync(join(repository, "release.json"), "utf8")) as Record<string, string | null>;
    for (const name of Object.keys(chosen)) if (chosen[name] === null) expect(said).toContain(name);
  },
);

test(
  "chosen coordinates are missing until release:apply writes them into every manifest and README",
  { timeout: timeLimit },
  () => {
    const folder = copied();
    writeFileSync(join(folder, "release.json"), JSON.stringify(made));
    const before = run(folder, "release-check.js");
    expect(before.code).toBe(1);
    const shows = {
      "package.json": ["@acme/dev-idp", "git+https://github.com/acme/idp.git", "https://github.com/acme/idp/issues"],
      "package-lock.json": ["@acme/dev-idp"],
      "integrations/pytest/pyproject.toml": [
        'name = "pytest-acme-idp"',
        'Issues = "https://github.com/acme/idp/issues"',
      ],
      "integrations/junit/pom.xml": ["<groupId>io.github.acme</groupId>", "<url>https://github.com/acme/idp</url>"],
      "integrations/go/go.mod": ["module github.com/acme/idp/integrations/go\n"],
      "integrations/go/README.md": [
        '\tidptest "github.com/acme/idp/integrations/go"',
        "go get github.com/acme/idp/integrations/go@v",
      ],
      "integrations/pytest/README.md": ["pip install pytest-acme-idp=="],
      "integrations/junit/README.md": ["<groupId>io.github.acme</groupId>"],
      Dockerfile: ['org.opencontainers.image.source="https://github.com/acme/idp"'],
      "action.yml": ["uses: acme/idp@v"],
      "README.md": ["https://github.com/acme/idp/releases/latest"],
      "docs/containers.md": ["ghcr.io/acme/idp:"],
      "docs/ci.md": ["uses: acme/idp@v"],
      "SECURITY.md": ["https://github.com/acme/idp/security/advisories/new"],
      ".github/ISSUE_TEMPLATE/config.yml": ["https://github.com/acme/idp/security/advisories/new"],
    };
    const files = Object.entries(shows);
    for (const [file] of files) expect(before.said).toContain(`${file} does not say what release.json says`);
    expect(run(folder, "release-apply.js").lines).toEqual(expect.arrayContaining(files.map(([file]) => file)));
    for (const [file, texts] of files)
      for (const text of texts) expect(readFileSync(join(folder, file), "utf8"), file).toContain(text);
    const goFiles = readdirSync(join(folder, "integrations/go")).map((name) =>
      readFileSync(join(folder, "integrations/go", name), "utf8"),
    );
    expect(goFiles.filter((text) => text.includes("dev-idp/idptest"))).toEqual([]);
    const after = run(folder, "release-check.js");
    expect(after.code, after.said).toBe(0);
    expect(after.said).not.toContain("Nobody has chosen");
    expect(run(folder, "release-apply.js").said).toContain("already");
    // A coordinate that changes later replaces the first one.
    writeFileSync(
      join(folder, "release.json"),
      JSON.stringify({
        ...made,
        repository: "https://github.com/other/idp",
        goModule: "github.com/other/idp/integrations/go",
      }),
    );
    run(folder, "release-apply.js");
    for (const [file] of files) expect(readFileSync(join(folder, file), "utf8"), file).not.toContain("github.com/acme");
    expect(run(folder, "release-check.js").code).toBe(0);
  },
);

test("what disagrees is a failure that names the file", { timeout: timeLimit }, () => {
  const folder = copied();
  const failures: [string, (text: string) => string, RegExp][] = [
    [
      "package-lock.json",
      (text) => text.replace('"version": "', '"version": "9.'),
      /package-lock\.json has the version 9\./,
    ],
    ["Dockerfile", (text) => text.replace('image.version="', 'image.version="9.'), /Dockerfile has the version 9\./],
    [
      "integrations/pytest/pyproject.toml",
      (text) => text.replace('version = "', 'version = "9.'),
      /pyproject\.toml has the version 9\./,
    ],
    ["integrations/junit/pom.xml", (text) => text.replace("<version>", "<version>9."), /pom\.xml has the version 9\./],
    [
      "integrations/go/idptest.go",
      (text) => text.replace('Version = "', 'Version = "9.'),
      /idptest\.go has the version 9\./,
    ],
    ["CHANGELOG.md", (text) => text.replace(/^## \[.*$/m, "## Next"), /CHANGELOG\.md has no heading/],
    ["SECURITY.md", (text) => text.replace("Use the private channel", "Use a channel"), /SECURITY\.md does not say/],
    ["package.json", (text) => text.replace('    "action",\n', ""), /action\/main\.js is not in the package/],
    ["package.json", (text) => text.replace('    "docs",\n', '    "docs",\n    "gone",\n'), /lists gone in files/],
    ["package.json", (text) => text.replace('    "docs",\n', '    "scripts",\n'), /scripts\/.* is in the package/],
    [
      ".github/workflows/ci.yml",
      (text) => text.replace(/checkout@[0-9a-f]{40}/, "checkout@v4"),
      /uses actions\/checkout@v4/,
    ],
    [
      ".github/workflows/release.yml",
      (text) => text.replace("permissions: {}", "permissions: write-all"),
      /must begin with permissions/,
    ],
  ];
  for (const [file, edit] of failures) change(folder, file, edit);
  const { code, said } = run(folder, "release-check.js", "--tag", "v9.9.9");
  expect(code).toBe(1);
  for (const [, , message] of failures) expect(said).toMatch(message);
});

test("what stands in no file, and a coordinate of another form, are failures", { timeout: timeLimit }, () => {
  const folder = copied();
  change(folder, "README.md", (text) => text.replace("<!-- release:executable -->", ""));
  change(folder, "SECURITY.md", (text) => text.replace("Use the private channel", "Use a channel"));
  const { code, said } = run(folder, "release-check.js", "--tag", "v9.9.9");
  expect([code, said]).toEqual([1, expect.stringContaining("README.md has no block release:executable")]);
  expect(said).toContain("the tag is v9.9.9");
  writeFileSync(
    join(folder, "release.json"),
    JSON.stringify({ ...made, repository: "github.com/acme", imag: null, image: undefined }),
  );
  const refused = run(folder, "release-apply.js");
  expect(refused.code).toBe(1);
  expect(refused.said).toContain('repository "github.com/acme" must have the form of https://github.com/acme/idp');
  expect(refused.said).toContain("unknown name imag");
  expect(refused.said).toContain("lacks image");
});

test("a tag needs the day in the changelog, and its text is the release's", { timeout: timeLimit }, () => {
  const folder = copied();
  const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version: string };
  change(folder, "CHANGELOG.md", (text) => text.replace(/^(## \[[\d.]+\] - ).*$/m, "$1someday"));
  expect(run(folder, "release-check.js", "--tag", `v${version}`).said).toContain('"someday"; write the day');
  change(folder, "CHANGELOG.md", (text) => text.replace("- someday", "- 2027-01-31"));
  expect(run(folder, "release-check.js", "--tag", `v${version}`).code).toBe(0);
  const notes = run(folder, "release-notes.js");
  expect(notes.said).toContain("`npx dev-idp start`");
  expect(notes.said).not.toContain("## [");
});

test(
  "workflows: the least permissions, no secret of a registry, and every job that publishes waits for the check",
  { timeout: timeLimit },
  () => {
    const read = (name: string) =>
      load(readFileSync(join(repository, ".github/workflows", name), "utf8")) as {
        permissions: object;
        jobs: Record<string, { needs?: string | string[]; permissions?: Record<string, string> }>;
      };
    const release = read("release.yml");
    for (const { permissions, jobs } of [read("ci.yml"), release]) {
      expect(permissions).toEqual({});
      for (const job of Object.values(jobs)) expect(job.permissions).toBeDefined();
    }
    expect(Object.values(read("ci.yml").jobs).map(({ permissions }) => permissions)).toEqual([
      { contents: "read" },
      { contents: "read" },
    ]);
    for (const [name, { needs = [] }] of Object.entries(release.jobs))
      if (name !== "check") expect([needs].flat()).toContain("check");
    expect(readFileSync(join(repository, ".github/workflows/release.yml"), "utf8")).not.toMatch(/secrets\./);
  },
);
