// The coordinates of release.json, and every place that shows one: what `release:apply` writes there, and `release:check` expects.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** The form of each coordinate, and an example. */
const forms = {
  repository: [/^https:\/\/[\w.-]+(?:\/[\w.-]+)+(?<!\.git)$/, "https://github.com/acme/idp"],
  npm: [/^(?:@[a-z0-9-~][\w.~-]*\/)?[a-z0-9-~][a-z0-9-._~]*$/, "dev-idp"],
  image: [/^[a-z0-9.-]+(?::\d+)?(?:\/[a-z0-9._-]+)+$/, "ghcr.io/acme/idp"],
  pypi: [/^[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?$/, "pytest-dev-idp"],
  mavenGroup: [/^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_-]*)+$/, "io.github.acme"],
  goModule: [/^[a-z0-9.-]+\.[a-z]+(?:\/[\w.~-]+)+$/, "github.com/acme/idp/integrations/go"],
};

/** @returns the coordinates, which of them nobody has chosen, and what is wrong with the others */
export function readCoordinates(root) {
  const all = JSON.parse(readFileSync(join(root, "release.json"), "utf8"));
  const names = Object.keys(forms);
  const problems = [
    ...names
      .filter((name) => !(name in all))
      .map((name) => `release.json lacks ${name}; write null where nobody has chosen`),
    ...Object.keys(all).flatMap((name) => (names.includes(name) ? [] : [`release.json has the unknown name ${name}`])),
    ...names.flatMap((name) => {
      const [form, example] = forms[name];
      const given = all[name] ?? null;
      if (given === null || (typeof given === "string" && form.test(given))) return [];
      return [`release.json: ${name} ${JSON.stringify(given)} must have the form of ${example}`];
    }),
  ];
  const { goModule, repository } = all;
  // `go get` finds a module below its repository by the folder that it is in.
  if (typeof goModule === "string" && typeof repository === "string") {
    const path = `${repository.replace("https://", "")}/integrations/go`;
    if (goModule !== path && goModule.startsWith(repository.replace("https://", "")))
      problems.push(`release.json: goModule ${goModule} must be ${path}, where go.mod is`);
  }
  return { coordinates: all, missing: names.filter((name) => (all[name] ?? null) === null), problems };
}

/** The text between two comments of a document, which this file writes. */
const block = (name, textOf) => (text, given) => {
  const form = new RegExp(`(<!-- release:${name} -->\n)[^]*?(<!-- /release:${name} -->)`);
  if (!form.test(text)) throw new Error(`has no block release:${name}`);
  return text.replace(form, (_, before, after) => `${before}\n${textOf(given).trim()}\n\n${after}`);
};

const code = (language, ...lines) => ["```" + language, ...lines, "```"].join("\n");

function packageJson(text, { repository, npm }) {
  const { name, repository: _, homepage: __, bugs: ___, ...rest } = JSON.parse(text);
  const links = repository === null ? pick(JSON.parse(text), ["repository", "homepage", "bugs"]) : linksOf(repository);
  const entries = Object.entries({ name: npm ?? name, ...rest });
  const at = entries.findIndex(([key]) => key === "license") + 1;
  const all = Object.fromEntries([...entries.slice(0, at), ...Object.entries(links), ...entries.slice(at)]);
  return `${JSON.stringify(all, null, 2)}\n`;
}

const pick = (object, names) =>
  Object.fromEntries(names.filter((name) => name in object).map((name) => [name, object[name]]));

const linksOf = (repository) => ({
  repository: { type: "git", url: `git+${repository}.git` },
  homepage: `${repository}#readme`,
  bugs: { url: `${repository}/issues` },
});

function lockFile(text, { npm }) {
  const lock = JSON.parse(text);
  if (npm === null || lock.name === npm) return text;
  return `${JSON.stringify({ ...lock, name: npm, packages: { ...lock.packages, "": { ...lock.packages[""], name: npm } } }, null, 2)}\n`;
}

function pyproject(text, { repository, pypi }) {
  const named = pypi === null ? text : text.replace(/^name = ".*"$/m, `name = "${pypi}"`);
  if (repository === null) return named;
  const urls = [
    "[project.urls]",
    `Homepage = "${repository}"`,
    `Issues = "${repository}/issues"`,
    `Changelog = "${repository}/blob/main/CHANGELOG.md"`,
  ];
  return named.replace(/(?:^\[project\.urls\]\n(?:\w.*\n)*\n)?(?=^\[project\.entry-points)/m, `${urls.join("\n")}\n\n`);
}

function pom(text, { repository, mavenGroup }) {
  const grouped =
    mavenGroup === null
      ? text
      : text.replace(/(<\/modelVersion>\s*<groupId>)[^<]*/, (_, before) => before + mavenGroup);
  if (repository === null) return grouped;
  const links = [
    `  <url>${repository}</url>`,
    "  <scm>",
    `    <connection>scm:git:${repository}.git</connection>`,
    `    <url>${repository}</url>`,
    "  </scm>",
    "  <issueManagement>",
    `    <url>${repository}/issues</url>`,
    "  </issueManagement>",
  ];
  return grouped.replace(/(<\/description>\n)[^]*?(?= {2}<licenses>)/, (_, before) => `${before}${links.join("\n")}\n`);
}

/** The path of the Go module everywhere in it. Its package is idptest, so another last part of the path needs that name in imports. */
const goPath =
  (root) =>
  (text, { goModule }) => {
    if (goModule === null) return text;
    const [, before] = /^module (\S+)$/m.exec(readFileSync(join(root, "integrations/go/go.mod"), "utf8"));
    const imported = goModule.endsWith("/idptest") ? `"${goModule}"` : `idptest "${goModule}"`;
    return text
      .replaceAll(new RegExp(`^(\\s+)(?:idptest )?"${before}"$`, "gm"), `$1${imported}`)
      .replaceAll(before, goModule);
  };

/** Labels that continue on further lines. */
const ownLabels = /^LABEL org\.opencontainers\.image\.title=(?:.*\\\n)*.*\n/m;
const linkLabels = /^LABEL org\.opencontainers\.image\.url=(?:.*\\\n)*.*\n/m;

function image(text, { repository }) {
  if (repository === null) return text;
  const links = `LABEL org.opencontainers.image.url="${repository}" \\\n  org.opencontainers.image.source="${repository}"\n`;
  return text.replace(linkLabels, "").replace(ownLabels, (label) => label + links);
}

const slug = (repository) =>
  repository?.startsWith("https://github.com/") ? repository.slice("https://github.com/".length) : null;

const action = (text, { repository, version }) => {
  const uses = slug(repository) === null ? "./node_modules/dev-idp" : `${slug(repository)}@v${version}`;
  return text.replace(/^# In a job, after npm ci: .*$/m, `# In a job, after npm ci: uses: ${uses}`);
};

/** Each place by its file. A function gives the file as it must be. */
export const placesOf = (root) => [
  ["package.json", packageJson],
  ["package-lock.json", lockFile],
  ["integrations/pytest/pyproject.toml", pyproject],
  ["integrations/junit/pom.xml", pom],
  // First in the module, because the others read the path that it has.
  ...["idptest_test.go", "README.md"].map((name) => [`integrations/go/${name}`, goPath(root)]),
  ["integrations/go/go.mod", goPath(root)],
  ["Dockerfile", image],
  ["action.yml", action],
  [
    "README.md",
    block("executable", ({ repository }) =>
      repository === null
        ? "- **One executable** that needs nothing installed: `npm run binary`, in a checkout of this repository, writes `binary/idp` for its platform."
        : `- **One executable** that needs nothing installed: [the newest release](${repository}/releases/latest) has it for Linux, macOS and Windows.`,
    ),
  ],
  [
    "docs/containers.md",
    block("image", ({ image: name, version }) =>
      name === null
        ? "No registry has the image yet. Build it in a checkout of this repository: `docker build -t idp .`"
        : `Each release publishes the image for amd64 and arm64:\n\n${code("text", `docker run --read-only -p 127.0.0.1:4370:4370 -v idp-data:/data ${name}:${version}`)}`,
    ),
  ],
  [
    "docs/ci.md",
    block("action", ({ repository, version }) =>
      slug(repository) === null
        ? "The action comes with the package, so that both have the same version."
        : `\`uses: ${slug(repository)}@v${version}\` is the same action. It runs the \`dev-idp\` that the job installed.`,
    ),
  ],
  [
    "SECURITY.md",
    block("channel", ({ repository }) =>
      repository === null
        ? "Use the private channel for security reports where you got `idp`. If there is none, write to its maintainers, not to a public list."
        : `Report it in private: ${repository}/security/advisories/new. Do not open an issue for it.`,
    ),
  ],
  [
    "integrations/pytest/README.md",
    block("install", ({ npm, pypi, version }) =>
      pypi === null
        ? `The npm package contains the plugin, so that both have the same version:\n\n${code("sh", `npm install --save-dev ${npm ?? "dev-idp"}`, `pip install ./node_modules/${npm ?? "dev-idp"}/integrations/pytest`)}`
        : `Install the plugin and the npm package of the same version:\n\n${code("sh", `npm install --save-dev ${npm ?? "dev-idp"}@${version}`, `pip install ${pypi}==${version}`)}`,
    ),
  ],
  [
    "integrations/junit/README.md",
    block("install", ({ npm, mavenGroup, version }) =>
      [
        "The npm package contains the extension, so that both have the same version. It needs Java 17 and JUnit 5:",
        "",
        code(
          "sh",
          `npm install --save-dev ${npm ?? "dev-idp"}`,
          `mvn install -f node_modules/${npm ?? "dev-idp"}/integrations/junit -DskipTests`,
        ),
        "",
        code(
          "xml",
          "<dependency>",
          `  <groupId>${mavenGroup ?? "dev.idp"}</groupId>`,
          "  <artifactId>idp-junit</artifactId>",
          `  <version>${version}</version>`,
          "  <scope>test</scope>",
          "</dependency>",
        ),
      ].join("\n"),
    ),
  ],
  [
    "integrations/go/README.md",
    block("install", ({ npm, goModule, version }) =>
      goModule === null
        ? `The npm package contains this module, so that both have the same version:\n\n${code("sh", `npm install --save-dev ${npm ?? "dev-idp"}`, `go mod edit -require dev-idp/idptest@v${version} -replace dev-idp/idptest=./node_modules/${npm ?? "dev-idp"}/integrations/go`)}`
        : `Install the module and the npm package of the same version:\n\n${code("sh", `npm install --save-dev ${npm ?? "dev-idp"}@${version}`, `go get ${goModule}@v${version}`)}`,
    ),
  ],
  [
    ".github/ISSUE_TEMPLATE/config.yml",
    (text, { repository }) =>
      [
        "blank_issues_enabled: false",
        ...(repository === null
          ? []
          : [
              "contact_links:",
              "  - name: A vulnerability",
              `    url: ${repository}/security/advisories/new`,
              "    about: Report it in private, as SECURITY.md says.",
            ]),
        "",
      ].join("\n"),
  ],
];

/**
 * Every file that differs from what the coordinates say.
 * @returns the files, each with its text as it must be
 */
export function outdated(root) {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const given = { ...readCoordinates(root).coordinates, version };
  const texts = new Map();
  for (const [file, rewrite] of placesOf(root)) {
    if (!existsSync(join(root, file))) throw new Error(`${file} is missing`);
    const text = texts.get(file) ?? readFileSync(join(root, file), "utf8");
    try {
      texts.set(file, rewrite(text, given));
    } catch (error) {
      throw new Error(`${file} ${error.message}`, { cause: error });
    }
  }
  return [...texts].filter(([file, text]) => text !== readFileSync(join(root, file), "utf8"));
}
