import module from "node:module";
import type { FlowName } from "./flows.ts";
import type { LoadOptions } from "./load.ts";
import { median, type Figures } from "./measure.ts";

/** One table of a run: the figures, and the ratios with their floors. */

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

/** Node.js 22 keeps compiled code between starts. */
const hasCompileCache = "enableCompileCache" in module;

/** How one server's figure has to compare with another's. */
interface Goal {
  readonly what: string;
  readonly of: readonly [flow: FlowName, name: string];
  readonly to: readonly [flow: FlowName, name: string];
  readonly limit: number;
}

const ofOurs = (flow: FlowName, name: string, limit: number): Goal => ({
  what: `${flow} to ${name}`,
  of: [flow, "idp 1000"],
  to: [flow, name],
  limit,
});

const goals: readonly Goal[] = [
  ...(["full", "returning", "refresh"] as const).map((flow) => ofOurs(flow, "before", 0.75)),
  ofOurs("full", "oidc-provider", 1.4),
  ofOurs("returning", "oidc-provider", 1.3),
  ofOurs("refresh", "oidc-provider", 1),
  ofOurs("userinfo", "oidc-provider", 2.5),
  ...(["full", "returning", "refresh", "userinfo", "introspect"] as const).map((flow): Goal => ({
    what: `${flow} with 100000 to 1000`,
    of: [flow, "idp 100000"],
    to: [flow, "idp 1000"],
    limit: 0.85,
  })),
];

/** A ratio and what it has to be: `least` where more is better. */
interface Ratio {
  readonly what: string;
  readonly limit: number;
  readonly least: boolean;
  readonly median: number;
  readonly min: number;
  readonly max: number;
  readonly met: boolean;
}

function ratioOf(what: string, values: readonly number[], limit: number, least: boolean): Ratio {
  const middle = median(values);
  const met = least ? middle >= limit : middle <= limit;
  return { what, limit, least, median: middle, min: Math.min(...values), max: Math.max(...values), met };
}

/** Ratios of the same round, so that what the machine did meanwhile hits both. */
function ratiosOf({ rows, memory, starts }: Report): Ratio[] {
  const roundsOf = ([flow, name]: Goal["of"]) => rows.find((row) => row.flow === flow && row.name === name)?.rounds;
  const ratios = goals.flatMap(({ what, of, to, limit }) => {
    const [ours, theirs] = [roundsOf(of), roundsOf(to)];
    if (ours === undefined || theirs === undefined) return [];
    const values = ours.map((one, round) => one.rate / (theirs[round]?.rate ?? Number.NaN));
    return [ratioOf(what, values, limit, true)];
  });
  const memoryOf = (name: string) => memory.find((one) => one.name === name)?.after ?? Number.NaN;
  if (memory.length > 0) {
    const value = memoryOf("idp 1000") / memoryOf("oidc-provider");
    ratios.push(ratioOf("memory to oidc-provider", [value], 0.8, false));
  }
  const startOf = (name: string) => starts.find((one) => one.name === name)?.times ?? [];
  if (startOf("before").length > 0) {
    const values = startOf("idp").map((ms, turn) => ms / (startOf("before")[turn] ?? Number.NaN));
    ratios.push(ratioOf("start to before", values, hasCompileCache ? 2 : 2.5, false));
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
  line(`${"ratios".padEnd(38)}${right("goal", 8)}${right("median", 9)}${right("min", 8)}${right("max", 8)}`);
  for (const { what, limit, least, median: middle, min, max, met } of ratiosOf(report)) {
    const figures = `${right(middle.toFixed(2), 9)}${right(min.toFixed(2), 8)}${right(max.toFixed(2), 8)}`;
    line(`  ${what.padEnd(36)}${right(`${least ? "≥" : "≤"} ${limit}`, 8)}${figures}${met ? "" : "  missed"}`);
  }
  const busiest = Math.max(...rows.map((row) => medianOf(row.rounds, "load")));
  line();
  line(`The load generator used at most ${Math.round(busiest * 100)} % of its core.`);
}

export function printReport(report: Report): void {
  if (report.options.json) process.stdout.write(`${JSON.stringify({ ...report, ratios: ratiosOf(report) })}\n`);
  else printTable(report);
}
