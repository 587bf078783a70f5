import { growth } from "./growth.ts";

/** `npm run bench -- <name>`: figures, never a test; compare ratios of one run, not numbers of two. */

const benches: Readonly<Record<string, () => Promise<void>>> = { growth };

const [name = ""] = process.argv.slice(2);
const bench = Object.hasOwn(benches, name) ? benches[name] : undefined;
if (bench === undefined) {
  console.error(
    `Name one: ${Object.keys(benches)
      .map((known) => `npm run bench -- ${known}`)
      .join(", ")}`,
  );
  process.exitCode = 2;
} else {
  await bench();
}
