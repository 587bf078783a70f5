import { basename, join } from "node:path";
import { rolldown } from "rolldown";
import { atEnd } from "./at-end.ts";
import { newFolder } from "./cli.ts";

/** Builds a program of the tests into one file, which is removed after the test or the test file: tsx would compile it again for each process. */
export async function built(path: string): Promise<string> {
  const program = await rolldown({ input: path, platform: "node", external: ["pg"] });
  const file = join(newFolder(atEnd), `${basename(path, ".ts")}.mjs`);
  await program.write({ file, format: "esm", codeSplitting: false });
  await program.close();
  return file;
}
