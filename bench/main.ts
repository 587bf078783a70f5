import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { cli } from "./cli.ts";
import { flowNames, type FlowName } from "./flows.ts";
import { defaults, load } from "./load.ts";
import { shared } from "./shared.ts";

/** `npm run bench -- load`, `npm run bench -- cli` and `npm run bench -- shared`: figures, never a test; compare ratios of one run, not numbers of two. */

/** Of `cli`. */
const coldRounds = 15;

const help = `npm run bench -- load [flags]

Measures idp beside node-oidc-provider and, with --before, an older version
of idp. The servers run on one core, the load on another. bench/README.md
explains each figure.

  --rounds N        turns of each server (default ${defaults.rounds})
  --seconds S       length of a turn (default ${defaults.seconds})
  --warm-up N       flows of each server before anything is counted (default ${defaults.warmUp})
  --connections N   requests at the same time (default ${defaults.connections})
  --flows LIST      some of: ${flowNames.join(",")}
  --memory-flows N  full flows before memory is looked at (default ${defaults.memoryFlows});
                    0 leaves memory and start-up out
  --before DIR      a built checkout of another version, measured in the same run
  --json            one JSON document, with the figures of each round

npm run bench -- cli [--rounds N]

Measures how long commands take from a cold start, beside node -e 0, and how
much of that is the loading of modules (default ${coldRounds} rounds, a minute).

npm run bench -- shared [--rounds N] [--seconds S]

Measures one, two and three instances on one PostgreSQL beside a server on a
data folder.`;

const isFlow = (name: string): name is FlowName => (flowNames as readonly string[]).includes(name);

function usage(problem: string): never {
  console.error(`${problem}\n\n${help}`);
  process.exit(2);
}

function numberOf(flag: string, value: string | undefined, otherwise: number): number {
  if (value === undefined) return otherwise;
  const number = Number(value);
  return Number.isFinite(number) && number >= 0 ? number : usage(`${flag} takes a number, not "${value}"`);
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: "string" },
    seconds: { type: "string" },
    connections: { type: "string" },
    "warm-up": { type: "string" },
    flows: { type: "string" },
    "memory-flows": { type: "string" },
    before: { type: "string" },
    json: { type: "boolean" },
    help: { type: "boolean" },
  },
});
if (values.help === true) {
  console.log(help);
} else if (positionals[0] === "cli" && positionals.length === 1) {
  await cli(Math.max(1, numberOf("--rounds", values.rounds, coldRounds)));
} else if (positionals[0] === "shared" && positionals.length === 1) {
  await shared({
    rounds: Math.max(1, numberOf("--rounds", values.rounds, defaults.rounds)),
    seconds: numberOf("--seconds", values.seconds, defaults.seconds),
  });
} else if (positionals[0] !== "load" || positionals.length > 1) {
  usage("Name what to run: npm run bench -- load, cli or shared");
} else {
  const flows = values.flows?.split(",") ?? flowNames;
  const unknown = flows.find((name) => !isFlow(name));
  if (unknown !== undefined) usage(`there is no flow "${unknown}"`);
  await load({
    rounds: numberOf("--rounds", values.rounds, defaults.rounds),
    seconds: numberOf("--seconds", values.seconds, defaults.seconds),
    connections: numberOf("--connections", values.connections, defaults.connections),
    warmUp: numberOf("--warm-up", values["warm-up"], defaults.warmUp),
    flows: flows.filter(isFlow),
    memoryFlows: numberOf("--memory-flows", values["memory-flows"], defaults.memoryFlows),
    before: values.before === undefined ? null : resolve(values.before),
    json: values.json ?? false,
  });
}
