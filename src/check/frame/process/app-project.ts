import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import type { StartCommand } from "./app-process.ts";
import type { Host } from "../host.ts";

/** The libraries of what is checked, so that the line to change is one of its own language: another one may lie in the same folder. */

type Language = "JavaScript" | "Python" | "Java" | "Go" | "other";

/** The programs that start an app, by its language. */
const programs: Readonly<Record<Language, RegExp>> = {
  JavaScript: /^(?:node|nodejs|npm|npx|pnpm|yarn|bun|bunx|tsx|ts-node|deno|next|vite|nuxt)$/,
  Python:
    /^(?:python[\d.]*|pypy[\d.]*|flask|gunicorn|uvicorn|hypercorn|waitress-serve|uwsgi|daphne|uv|uvx|poetry|pipenv|pdm|hatch|django-admin|manage\.py)$/,
  Java: /^(?:java|mvn|mvnw|gradle|gradlew)$/,
  Go: /^go$/,
  other: /^(?:ruby|bundle|rails|puma|php|composer|dotnet|cargo|mix|elixir)$/,
};

/** The files that name the dependencies of each. */
const manifests: readonly (readonly [name: string, language: Language])[] = [
  ["package.json", "JavaScript"],
  ...["requirements.txt", "pyproject.toml", "Pipfile"].map((name) => [name, "Python"] as const),
  ...["pom.xml", "build.gradle", "build.gradle.kts"].map((name) => [name, "Java"] as const),
  ["go.mod", "Go"],
  ...["Gemfile", "composer.json", "mix.exs", "Cargo.toml"].map((name) => [name, "other"] as const),
];

/** The language of the program that a command starts, also within `sh -c '…'`; null: it does not say. */
function languageOf(command: StartCommand | null): Language | null {
  const words = (command ?? []).flatMap((word) => word.split(/\s+/)).filter((word) => !word.includes("="));
  const found = words
    .map((word) => basename(word).replace(/\.(?:exe|cmd|bat)$/i, ""))
    .flatMap((name) => (Object.keys(programs) as Language[]).filter((language) => programs[language].test(name)));
  return found[0] ?? null;
}

/** What is known of the libraries of an app. */
interface AppProject {
  /** The library that signs users in, as `idp init` names it; null: none is known. */
  readonly library: string | null;
  /** Whether it has an npm package. */
  readonly has: (name: string) => boolean;
  /** Whether a file with the dependencies of another language has this word. */
  readonly mentions: (word: string) => boolean;
}

/** @param command that starts the app; null: it runs already */
export function appProject(
  command: StartCommand | null,
  { cwd, projectIn }: Pick<Host, "cwd" | "projectIn">,
): AppProject {
  const { libraries, has, mentions } = projectIn(cwd);
  const there = new Set(manifests.filter(([name]) => existsSync(join(cwd, name))).map(([, language]) => language));
  // Where files of several languages lie side by side, only the command can tell.
  const language = languageOf(command) ?? (there.size === 1 ? [...there][0] : null);
  const isNpm = language === "JavaScript";
  const isOther = language !== null && language !== undefined && !isNpm;
  const own = libraries.find((one) => (one.package === null ? isOther : isNpm));
  return {
    library: own?.library ?? null,
    has: (name) => isNpm && has(name),
    mentions: (word) => isOther && mentions(word),
  };
}
