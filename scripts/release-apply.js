// Writes the coordinates of release.json into every manifest and document that shows them. Prints the files that it changed.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { outdated, readCoordinates } from "./release-coordinates.js";

const root = fileURLToPath(new URL("..", import.meta.url));
function apply() {
  const { problems } = readCoordinates(root);
  if (problems.length > 0) throw new Error(problems.join("\n"));
  const changed = outdated(root);
  for (const [file, text] of changed) {
    writeFileSync(join(root, file), text);
    console.log(file);
  }
  if (changed.length === 0) console.log("Every file has the coordinates of release.json already.");
}

try {
  apply();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
