import { readFileSync } from "node:fs";
import { repository } from "./readme.ts";

/** `Dockerfile`, read as a build reads it: the tests have no container engine. */

export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** Its stages, each from its FROM on. */
export function dockerStages(): readonly (readonly Instruction[])[] {
  const lines = readFileSync(`${repository}/Dockerfile`, "utf8").replaceAll("\\\n", " ").split("\n");
  const stages: Instruction[][] = [];
  for (const line of lines) {
    const [, name = "", text = ""] = /^([A-Z]+)\s+(.+)$/.exec(line) ?? [];
    if (name === "FROM") stages.push([]);
    if (name !== "") stages.at(-1)?.push({ name, text });
  }
  return stages;
}

/** The texts of all instructions of one name. */
export const texts = (stage: readonly Instruction[], name: string): readonly string[] =>
  stage.filter((one) => one.name === name).map(({ text }) => text);

/** What `ENV` sets, `/data` in place of another folder. */
export function imageEnvironment(data: string): Readonly<Record<string, string>> {
  const all = texts(dockerStages().at(-1) ?? [], "ENV").flatMap((text) => text.split(/\s+/));
  return Object.fromEntries(
    all.map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1).replace(/^\/data$/, data)]),
  );
}
