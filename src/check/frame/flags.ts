import { OperationError } from "../../core/base/errors.ts";
import { didYouMean } from "../../core/base/nearest.ts";

/** The flags of a check, as rows. The command line reads them (cli/commands/check); their types follow here. */

/** A flag of one check, or of several. */
export interface Flag {
  /** As it is typed: `--start <url>`. */
  readonly flag: string;
  readonly help: string;
  /** What its value is. Absent: a text. */
  readonly is?:
    | "url"
    | "domain"
    | "method"
    | { readonly seconds: readonly [min: number, max: number] }
    | { readonly oneOf: readonly string[] };
  readonly repeats?: true;
  readonly required?: true;
  readonly usual?: string | number;
  /** `usual` as the help shows it. */
  readonly shown?: string;
}

/** A flag of this check, or those that other commands have, too: `--fixtures`; `--client`, `--prefix` and `--name`. */
export type FlagRow = Flag | "fixtures" | "variables";

type Camel<S extends string> = S extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : S;
type Name<F extends string> = F extends `--no-${infer N}`
  ? Camel<N>
  : F extends `--${infer N} <${string}`
    ? Camel<N>
    : F extends `--${infer N}`
      ? Camel<N>
      : never;
type One<R> = R extends { readonly is: { readonly oneOf: readonly (infer V)[] } }
  ? V
  : R extends { readonly is: { readonly seconds: unknown } }
    ? number
    : string;
type Value<R extends Flag> = R["flag"] extends `${string} <${string}`
  ? R extends { readonly repeats: true }
    ? readonly One<R>[]
    : One<R>
  : R["flag"] extends `--no-${string}`
    ? boolean
    : true;
/** Rows whose flags always have a value. */
type Always = { readonly required: true } | { readonly usual: string | number } | { readonly flag: `--no-${string}` };

/** What was typed, by the rows. */
export type FlagsOf<Rows extends readonly FlagRow[]> = {
  readonly [R in Extract<Rows[number], Flag & Always> as Name<R["flag"]>]: Value<R>;
} & {
  readonly [R in Exclude<Extract<Rows[number], Flag>, Always> as Name<R["flag"]>]?: Value<R>;
} & ("variables" extends Rows[number] ? { readonly client?: string } : unknown);

export const startButtonFlag = {
  flag: "--start-button <text>",
  help: "the button or link to press, where the page at --start has several",
} as const satisfies Flag;

/** The addresses of an app. */
export const appFlags = [
  { flag: "--start <url>", help: "the address behind the app's Sign in button", is: "url", required: true },
  { flag: "--signed-in <url>", help: "an address of the app that only users may see", is: "url", required: true },
  { flag: "--signed-in-text <text>", help: "what --signed-in shows only to users, if it answers 200 to everybody" },
  startButtonFlag,
] as const satisfies readonly Flag[];
export type AppFlags = FlagsOf<typeof appFlags>;

export const browserFlag = {
  flag: "--browser",
  help: "use Chromium, for apps that need scripts; needs playwright-core or playwright",
} as const satisfies Flag;

export const attackerFlag = {
  flag: "--attacker <username>",
  help: "another user whom the app admits (default: one that is added, and removed at the end)",
} as const satisfies Flag;

/** @param whose what the user does */
export const userFlag = (whose: string, usual = "the first active user") =>
  ({ flag: "--user <username>", help: `${whose} (default: ${usual})` }) as const satisfies Flag;

/** What every check takes. @param what "app" or "API" @param place the flag with its address */
export const runFlags = (what: string, place: string) =>
  [
    { flag: "--case <name>", help: "only this case; repeatable", repeats: true },
    {
      flag: "--accept <name[=reason]>",
      help: "let this case go unnoticed; repeatable, also in idp.check.yaml",
      repeats: true,
    },
    { flag: "--report <file>", help: "also write JUnit (.xml) or Markdown (.md)" },
    {
      flag: "--timeout <seconds>",
      help: `how long the ${what} may take to start`,
      is: { seconds: [1, 86_400] },
      usual: 30,
    },
    {
      flag: "--total-timeout <seconds>",
      help: "how long the whole check may take",
      is: { seconds: [1, 86_400] },
      ...{ usual: 900, shown: "15m" },
    },
    { flag: "--allow-remote", help: `let ${place} be outside this machine and private networks` },
  ] as const satisfies readonly Flag[];
export type RunFlags = FlagsOf<ReturnType<typeof runFlags>>;

/** Who signs in, and as which client. */
export interface PlaceFlags {
  readonly user?: string;
  readonly client?: string;
}

/**
 * The cases that were named, and those whose verdicts they read, in the order of the list; all of them by default.
 * @param controls names of cases that run in any case
 * @throws {OperationError} usage
 */
export function casesOf<C extends { readonly name: string; readonly reads?: readonly string[] }>(
  wanted: readonly string[] | undefined,
  all: readonly C[],
  controls: readonly string[],
): readonly C[] {
  if (wanted === undefined) return all;
  const names = [...controls, ...all.map(({ name }) => name)];
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const list = `The cases are:\n${names.map((name) => `  ${name}`).join("\n")}`;
    const { text } = didYouMean(unknown, names, "");
    throw new OperationError("usage", `there is no case "${unknown}"`, {
      hint: text === "" ? list : `${text}\n${list}`,
    });
  }
  const withRead = new Set<string>();
  const add = (name: string): void => {
    if (withRead.has(name)) return;
    withRead.add(name);
    all.find((one) => one.name === name)?.reads?.forEach(add);
  };
  wanted.forEach(add);
  return all.filter(({ name }) => withRead.has(name));
}

/** A case that was named needs another flag. */
export const missingFlag = (name: string, flag: string): OperationError =>
  new OperationError("usage", `--case ${name} needs ${flag}`);
