import { Chalk, type ChalkInstance } from "chalk";

/** Paints text, or leaves it as it is if color is off. */
export type Style = ChalkInstance;

export type ColorChoice = "auto" | "always" | "never";

/**
 * The style of one stream. `--color` decides; otherwise `NO_COLOR` (with any value), a dumb terminal, or a stream without a terminal means
 * no color. The sixteen colors of the terminal's theme are enough, and readable on every background.
 */
export function styleOf(stream: { readonly isTTY?: boolean }, choice: ColorChoice, env: NodeJS.ProcessEnv): Style {
  const wanted =
    choice === "auto"
      ? stream.isTTY === true && (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb"
      : choice === "always";
  return new Chalk({ level: wanted ? 1 : 0 });
}
