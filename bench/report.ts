import type { FlowName } from "./flows.ts";
import { median, type Figures } from "./measure.ts";

/** What `npm run bench -- load` was asked for. */
export interface LoadOptions {
  readonly rounds: number;
  /** Of one window. */
  readonly seconds: number;
  readonly connections: number;
  /** How often each server runs a flow before anything is counted. */
  readonly warmUp: number;
  readonly flows: readonly FlowName[];
  /** Full flows before memory is looked at; 0: memory and start-up are left out. */
  readonly memoryFlows: number;
  /** The folder of another version, built, that is measured in the same run; null: none. */
  readonly before: string | null;
  readonly json: boolean;
}

/** What a run prints: the figures, and one table of ratios. */

export interface Row {
  readonly flow: FlowName;
  readonly name: string;
  readonly rounds: readonly Figures[];
}

export interface Report {
  readonly machine: string;
  /** Servers and load generator had a core each. */
  readonly pinned: boolean;
  readonly options: LoadOptions;
  readonly rows: readonly Row[];
  /** Resident memory in bytes, before and after the full flows. */
  readonly memory: readonly { readonly name: string; readonly before: number; readonly after: number }[];
  readonly starts: readonly { readonly name: string; readonly ms: number; readonly times: readonly number[] }[];
}

const titles: Readonly<Record<FlowName, string>> = {
  full: "full flow: authorize, login, consent, token, UserInfo",
  returning: "returning user: authorize, token",
  refresh: "refresh",
  userinfo: "UserInfo",
  introspect: "introspection",
};

/** A ratio of one round: how many times as cheap, or as fast, this version is. */
interface Ratio {
  readonly what: string;
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

const ratioOf = (what: string, values: readonly number[]): Ratio => ({
  what,
  median: median(values),
  min: Math.min(...values),
  max: Math.max(...values),
});

const own = "idp 1000";

/** Ratios of the same round, so that what the machine did meanwhile hits both. Processor time comes first: throughput varies by a third. */
function ratiosOf({ rows, memory, starts, options }: Report): Ratio[] {
  const ratios = options.flows.flatMap((flow) => {
    const of = rows.filter((row) => row.flow === flow);
    const ours = of.find(({ name }) => name === own)?.rounds ?? [];
    return of.flatMap(({ name, rounds }) => {
      if (name === own) return [];
      const compare = (figure: "cpu" | "rate"): readonly number[] =>
        ours.map((one, round) => one[figure] / (rounds[round]?.[figure] ?? Number.NaN));
      return [
        ratioOf(`${flow}: processor time to ${name}`, compare("cpu")),
        ratioOf(`${flow}: flows/s to ${name}`, compare("rate")),
      ];
    });
  });
  const memoryOf = (name: string) => memory.find((one) => one.name === name)?.after ?? Number.NaN;
  for (const { name } of memory.filter((one) => one.name !== own)) {
    ratios.push(ratioOf(`memory to ${name}`, [memoryOf(own) / memoryOf(name)]));
  }
  const startsOf = (name: string) => starts.find((one) => one.name === name)?.times ?? [];
  for (const { name, times } of starts.filter((one) => one.name !== "idp")) {
    ratios.push(
      ratioOf(
        `start to ${name}`,
        startsOf("idp").map((ms, turn) => ms / (times[turn] ?? Number.NaN)),
      ),
    );
  }
  return ratios;
}

const medianOf = (rounds: readonly Figures[], figure: keyof Figures): number =>
  median(rounds.map((one) => one[figure]));

const right = (value: number | string, width: number): string => String(value).padStart(width);
const mb = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

function printTable(report: Report): void {
  const { machine, pinned, options, rows, memory, starts } = report;
  const { rounds, seconds, connections } = options;
  const line = (text = ""): void => void process.stdout.write(`${text}\n`);
  line(machine);
  line(
    `${pinned ? "Servers on core 0, load on core 1" : "NOT PINNED: servers and load share the cores"}; ` +
      `${connections} connections; medians of ${rounds} rounds of ${seconds} s.`,
  );
  for (const flow of options.flows) {
    line();
    line(titles[flow]);
    line(
      `${"".padEnd(22)}${right("flows/s", 9)}${right("p50 ms", 9)}${right("p99 ms", 9)}${right("CPU µs", 9)}${right("disk B", 9)}`,
    );
    for (const row of rows.filter((one) => one.flow === flow)) {
      const of = (figure: keyof Figures) => medianOf(row.rounds, figure);
      line(
        `  ${row.name.padEnd(20)}${right(Math.round(of("rate")), 9)}${right(of("p50").toFixed(2), 9)}` +
          `${right(of("p99").toFixed(2), 9)}${right(Math.round(of("cpu")), 9)}${right(Math.round(of("disk")), 9)}`,
      );
    }
  }
  if (memory.length > 0) {
    line();
    line(`memory before and after ${options.memoryFlows} full flows`);
    for (const { name, before, after } of memory)
      line(`  ${name.padEnd(20)}${right(mb(before), 9)}${right(mb(after), 9)}`);
  }
  if (starts.length > 0) {
    line();
    line("spawn to first answer, keys there");
    for (const { name, ms } of starts) line(`  ${name.padEnd(20)}${right(`${Math.round(ms)} ms`, 9)}`);
  }
  line();
  line("ratios, for docs/performance.md");
  line();
  line("| Ratio | Median | Lowest | Highest |");
  line("| --- | --- | --- | --- |");
  for (const { what, ...figures } of ratiosOf(report)) {
    line(`| ${[what, ...[figures.median, figures.min, figures.max].map((one) => one.toFixed(2))].join(" | ")} |`);
  }
  const busiest = Math.max(...rows.map((row) => medianOf(row.rounds, "load")));
  line();
  line(`The load generator used at most ${Math.round(busiest * 100)} % of its core.`);
}

export function printReport(report: Report): void {
  if (report.options.json) process.stdout.write(`${JSON.stringify({ ...report, ratios: ratiosOf(report) })}\n`);
  else printTable(report);
}
