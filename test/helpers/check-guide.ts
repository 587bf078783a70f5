import { readFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import type { Ended } from "./cli.ts";
import { repository } from "./readme.ts";

/** The guide of a command of `idp check`. */
export const checkGuide = (name: string): string => readFileSync(join(repository, `docs/${name}.md`), "utf8");

/** The names of cases that the table of a guide leaves out. */
export function leftOut(guide: string, cases: readonly { readonly name: string }[]): readonly string[] {
  const table = guide.slice(guide.indexOf("## The cases"), guide.indexOf("## On a running server"));
  return cases.map(({ name }) => name).filter((name) => !table.includes(`\`${name}\``));
}

interface Workflow {
  readonly jobs: { readonly check: { readonly steps: readonly { readonly run?: string }[] } };
}

/** The command that the pipeline of a guide runs. */
export function pipelineCommand(guide: string): string {
  const [, yaml = ""] = /^```yaml\n(name:[\s\S]+?)^```$/m.exec(guide) ?? [];
  return (load(yaml) as Workflow).jobs.check.steps.findLast(({ run }) => run !== undefined)?.run ?? "";
}

/** The words of that command after `npx dev-idp`, with one case and without the program. */
export function pipelineWords(guide: string, oneCase: string): readonly string[] {
  const words = pipelineCommand(guide).replace("npx dev-idp ", "").replace("node server.js", "").trim().split(/\s+/);
  return [...words.slice(0, 2), "--case", oneCase, ...words.slice(2)];
}

/** A check with `--json` that has ended, with the names of its cases by their verdicts. */
export function withVerdicts({ code, stdout, stderr }: Ended) {
  const document = stdout.startsWith("{") ? stdout : `{"cases":[]}`;
  const { cases } = JSON.parse(document) as {
    readonly cases: readonly { readonly name: string; readonly verdict: string }[];
  };
  return {
    ...{ code, stdout, stderr },
    named: (verdict: string) => cases.filter((one) => one.verdict === verdict).map(({ name }) => name),
  };
}

/** Names as the guides list them. */
export const inCode = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");
