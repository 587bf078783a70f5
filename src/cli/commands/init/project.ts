import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { BuiltInVendor } from "../env/app-client.ts";
import type { Library } from "../env/choices.ts";
import { forms } from "../env/libraries.ts";
import { frameworkAmong, type Framework } from "../env/frameworks.ts";
import type { Code } from "../env/libraries/form.ts";
import { dependenciesOf, installedMajor, manifestOf } from "../env/manifest.ts";

/** What a project's files say about the app. It is only used for proposals. The libraries themselves are in cli/commands/env/libraries.ts. */

/** Files in which projects in other languages name their dependencies. */
const otherManifests = [
  ...["pom.xml", "build.gradle", "build.gradle.kts"],
  ...["requirements.txt", "pyproject.toml", "Pipfile", "go.mod", "Gemfile", "composer.json"],
];

/** A library that signs users in, as the project names it. */
export interface FoundLibrary {
  readonly library: Library;
  /** The npm package that shows this; null if another file does. */
  readonly package: string | null;
  /** "next-auth 4". */
  readonly title: string;
}

export interface Project extends Code {
  /** A client id made from its name. */
  readonly clientId: string;
  readonly framework: Framework | null;
  /** "next 16". */
  readonly frameworkTitle: string | null;
  readonly libraries: readonly FoundLibrary[];
  /** The vendors whose buttons its files of variables name: "Google" by GOOGLE_CLIENT_ID. */
  readonly vendors: readonly { readonly vendor: BuiltInVendor; readonly variable: string }[];
  /** Whether a file with the dependencies of another language has this word, in lower case. */
  readonly mentions: (word: string) => boolean;
  /** The words of the command that runs its tests. */
  readonly testsWith: (found: FoundLibrary | null) => readonly string[];
}

/** For a project about which nothing is known. */
export const usual = { clientId: "app", origin: "http://localhost:3000" };

/** What can be proposed for the project in a folder. */
export function projectOf(folder: string): Project {
  const manifest = manifestOf(folder);
  const packages = dependenciesOf(manifest);
  const has = (name: string): boolean => Object.hasOwn(packages, name);
  const titled = (name: string): string => [name, installedMajor(folder, name) ?? ""].join(" ").trim();
  const [name, framework] = frameworkAmong(packages) ?? [];
  const exists = (path: string): boolean => existsSync(join(folder, path));
  const isTypeScript = exists("tsconfig.json");
  const others = textOf(folder);
  const isBundled = name !== undefined && !["express", "fastify", "hono", "koa", "elysia"].includes(name);
  return {
    clientId: clientIdOf(manifest["name"]),
    framework: framework ?? null,
    frameworkTitle: name === undefined ? null : titled(name),
    libraries: librariesOf(has, titled, others),
    vendors: vendorsOf(folder),
    mentions: (word) => others.includes(word),
    testsWith: (found) =>
      testsOf(exists) ?? (found === null ? undefined : forms[found.library].tests) ?? ["npm", "test"],
    exists,
    has,
    isTypeScript,
    isModule: manifest["type"] === "module" || isTypeScript || isBundled,
  };
}

/** By the files that the tools of each language work with; undefined without any. */
function testsOf(exists: (path: string) => boolean): readonly string[] | undefined {
  if (exists("package.json")) return ["npm", "test"];
  if (exists("go.mod")) return ["go", "test", "./..."];
  if (exists("pom.xml")) return [exists("mvnw") ? "./mvnw" : "mvn", "test"];
  if (exists("build.gradle") || exists("build.gradle.kts")) return [exists("gradlew") ? "./gradlew" : "gradle", "test"];
  if (exists("manage.py")) return ["python", "manage.py", "test"];
  return ["requirements.txt", "pyproject.toml", "Pipfile"].some(exists) ? ["pytest"] : undefined;
}

/** Each library once, in the order of the table, without those that another one wraps. */
function librariesOf(
  has: (name: string) => boolean,
  titled: (name: string) => string,
  others: string,
): readonly FoundLibrary[] {
  const all = (Object.keys(forms) as Library[]).flatMap((library): readonly FoundLibrary[] => {
    const { packages = {}, mention } = forms[library];
    const name = Object.keys(packages).find(has);
    if (name !== undefined) return [{ library, package: name, title: titled(name) }];
    return mention !== undefined && others.includes(mention) ? [{ library, package: null, title: mention }] : [];
  });
  const wrapped = all.map(({ library }) => forms[library].wraps);
  return all.filter(({ library }) => !wrapped.includes(library));
}

/** What the manifests of other languages say, in lower case. */
const textOf = (folder: string): string =>
  [...otherManifests, ...readdirSync(folder).filter((name) => name.endsWith(".csproj"))]
    .map((name) => join(folder, name))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, "utf8").toLowerCase())
    .join("\n");

/** Files in which apps list their variables. */
const variableFiles = [".env", ".env.example", ".env.sample", ".env.development", ".env.local", ".env.local.example"];

/** By the names of variables: AUTH_GOOGLE_ID, GITHUB_CLIENT_ID. */
function vendorsOf(folder: string): Project["vendors"] {
  const text = variableFiles
    .map((name) => join(folder, name))
    .filter((path) => existsSync(path))
    .map((path) => readFileSync(path, "utf8"))
    .join("\n");
  return (["google", "github", "apple"] as const).flatMap((vendor) => {
    const name = new RegExp(`^[\\s#]*(?:export )?(\\w*${vendor.toUpperCase()}_(?:CLIENT_)?ID)\\s*=`, "m");
    const variable = name.exec(text)?.[1];
    return variable === undefined ? [] : [{ vendor, variable }];
  });
}

function clientIdOf(name: unknown): string {
  const clientId = (typeof name === "string" ? name : "").replace(/^@[^/]*\//, "").replace(/[^A-Za-z0-9._-]/g, "-");
  return /[A-Za-z0-9]/.test(clientId) ? clientId : usual.clientId;
}
