// `npm audit` for what users install. A finding fails; a registry that gives no answer does not, but nobody can take it for a pass.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

/** `--report -` reads what `npm audit --json` printed from stdin instead. */
function report() {
  if (process.argv[2] === "--report") return readFileSync(0, "utf8");
  return spawnSync("npm", ["audit", "--omit=dev", "--json"], { encoding: "utf8" }).stdout ?? "";
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

const { vulnerabilities, metadata, message } = parsed(report());
if (vulnerabilities === undefined || metadata?.vulnerabilities === undefined) {
  const why = message === undefined ? "" : ` (${message})`;
  console.error(`npm audit: NOT CHECKED, the registry gave no answer${why}. Run it again where it does: npm run audit`);
} else if (metadata.vulnerabilities.total === 0) {
  console.log("npm audit: no known vulnerability in what users install");
} else {
  for (const { name, severity, via } of Object.values(vulnerabilities)) {
    const titles = via.map((one) => (typeof one === "string" ? `by ${one}` : one.title));
    console.error(`${name}  ${severity}  ${titles.join("; ")}`);
  }
  console.error(
    "npm audit: see npm audit --omit=dev; npm audit fix, or hold the package back in docs/decisions/dependencies.md",
  );
  process.exitCode = 1;
}
