// Whether a release can be made: versions, changelog, coordinates, workflows and the files of the package agree. Coordinates that nobody has chosen
// are named, and are no failure. With `--tag v1.2.3` it is that release, so the changelog needs its date.
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { outdated, readCoordinates } from "./release-coordinates.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const { tag } = parseArgs({ options: { tag: { type: "string" } } }).values;
const read = (name) => readFileSync(join(root, name), "utf8");
const manifest = JSON.parse(read("package.json"));
const { version } = manifest;

/** Where the version is, beside package.json. */
const versions = [
  ["package-lock.json", /"version": "([^"]+)"/],
  ["Dockerfile", /org\.opencontainers\.image\.version="([^"]+)"/],
  ["integrations/pytest/pyproject.toml", /^version = "([^"]+)"$/m],
  ["integrations/junit/pom.xml", /<artifactId>idp-junit<\/artifactId>\s*<version>([^<]+)</],
  ["integrations/go/idptest.go", /^const Version = "([^"]+)"$/m],
];

const versionProblems = () =>
  versions.flatMap(([file, form]) => {
    const found = form.exec(read(file))?.[1];
    return found === version ? [] : [`${file} has the version ${found ?? "nowhere"}, and package.json ${version}`];
  });

function changelogProblems() {
  const [, when] =
    new RegExp(`^## \\[${version.replaceAll(".", "\\.")}\\] - (.*)$`, "m").exec(read("CHANGELOG.md")) ?? [];
  if (when === undefined) return [`CHANGELOG.md has no heading "## [${version}] - DATE"`];
  if (tag === undefined) return [];
  return [
    ...(tag === `v${version}` ? [] : [`the tag is ${tag}, and package.json has the version ${version}`]),
    ...(/^\d{4}-\d{2}-\d{2}$/.test(when)
      ? []
      : [`CHANGELOG.md dates ${version} "${when}"; write the day of the release`]),
  ];
}

function coordinateProblems(problems) {
  if (problems.length > 0) return problems;
  try {
    return outdated(root).map(([file]) => `${file} does not say what release.json says: npm run release:apply`);
  } catch (error) {
    return [error.message];
  }
}

/** What runs, and what others name, is in the package. */
function packageProblems() {
  const shell = process.platform === "win32";
  const said = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: root,
    encoding: "utf8",
    shell,
  });
  const packed = new Set(JSON.parse(said)[0].files.map(({ path }) => path));
  const exported = Object.values(manifest.exports).flatMap((one) =>
    typeof one === "string" ? [one] : Object.values(one),
  );
  const run = [...read("action.yml").matchAll(/^ {2}(?:main|post): (\S+)$/gm)].map(([, path]) => path);
  const named = [manifest.types, ...exported, ...Object.values(manifest.bin), ...run].map((path) =>
    path.replace("./", ""),
  );
  const needed = [
    ...named,
    ...["README.md", "CHANGELOG.md", "LICENSE", "SECURITY.md", "action.yml", "fixtures/idp.fixtures.schema.json"],
    ...["pytest/pyproject.toml", "junit/pom.xml", "go/go.mod"].map((path) => `integrations/${path}`),
  ];
  const absent = [...new Set(needed)].filter((path) => !packed.has(path));
  const stray = [...packed].filter((path) =>
    /^(?:test|scripts|src|\.github)\/|(?:^|\/)(?:release\.json|\.env.*)$/.test(path),
  );
  const empty = manifest.files.filter((path) => !path.startsWith("!") && !existsSync(join(root, path)));
  return [
    ...absent.map((path) => `${path} is not in the package${path.startsWith("dist/") ? ": npm run build" : ""}`),
    ...stray.map((path) => `${path} is in the package, and must not be`),
    ...empty.map((path) => `package.json lists ${path} in files, which is not there`),
  ];
}

/** What can be said of the workflows without running them: actions by commit, and no permission that a job does not ask for. */
function workflowProblems() {
  const folder = ".github/workflows";
  return readdirSync(join(root, folder)).flatMap((name) => {
    const text = read(`${folder}/${name}`);
    const loose = [...text.matchAll(/^\s*(?:- )?uses: (.*)$/gm)].filter(
      ([, what]) => !/^\S+@[0-9a-f]{40} # v\d/.test(what),
    );
    return [
      ...loose.map(([, what]) => `${folder}/${name} uses ${what}; name the commit, and the version in a comment`),
      ...(/^permissions: \{\}$/m.test(text) ? [] : [`${folder}/${name} must begin with permissions: {}`]),
    ];
  });
}

const { missing, problems } = readCoordinates(root);
const found = [
  ...versionProblems(),
  ...changelogProblems(),
  ...coordinateProblems(problems),
  ...packageProblems(),
  ...workflowProblems(),
];
for (const problem of found) console.error(problem);
if (missing.length > 0) console.log(`Nobody has chosen in release.json: ${missing.join(", ")}`);
console.log(found.length === 0 ? `${manifest.name} ${version} can be released.` : `${found.length} to repair.`);
process.exitCode = found.length === 0 ? 0 : 1;
