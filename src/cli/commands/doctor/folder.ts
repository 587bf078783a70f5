import { spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join, resolve } from "node:path";
import { OperationError, problemText, RemoteError } from "../../../core/base/errors.ts";
import { describeFault } from "../../../files/durable-file.ts";
import { readFixtures } from "../../../serve/fixture-files.ts";
import { readLock } from "../../../store/json/lock.ts";
import { peek, type Peek } from "../../../store/json/load.ts";
import { folderOf, namesIn } from "../../../store/json/issuer-stores.ts";
import { maxClockDifference, ok, timeoutMs, problem, warning, type Finding } from "./finding.ts";
import { failureOf, fixAndRetry } from "../../failure.ts";
import type { Invocation } from "../../invocation.ts";
import { issuerAt } from "../../../serve/remote.ts";
import { findTarget } from "../../target/target.ts";
import { requiredNode } from "../../../files/package.ts";
import { fixturePaths, withFixtures } from "../../flags/fixtures.ts";
import { commandLine } from "../../output/command-line.ts";
import { count } from "../../output/words.ts";
import { quoteWord } from "../../../text/terminal.ts";

/** What doctor looks at on this machine: Node.js, the data folder, its lock and its disk, the clock, the fixtures. */

export function nodeFinding(): Finding {
  const { node } = process.versions;
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const [leastMajor = 0, leastMinor = 0] = requiredNode.split(".").map(Number);
  const isEnough = major > leastMajor || (major === leastMajor && minor >= leastMinor);
  return isEnough
    ? ok("node", `${node} (${requiredNode} or newer is needed)`)
    : problem("node", `${node} is too old`, `Install Node.js ${requiredNode} or newer.`);
}

/** @param answers whether the server of the folder answers */
export async function folderFindings(cli: Invocation, answers: boolean): Promise<readonly Finding[]> {
  return [
    ...(await dataFindings(cli).catch((error: unknown) => [unreadable("data")(error)])),
    await lockFinding(cli).catch(unreadable("lock")),
    ...diskFindings(cli),
    // The findings above report what is wrong with the lock or the folder.
    ...(await issuerFindings(cli).catch(() => [])),
    await fixtureFinding(cli, answers),
  ];
}

/** The issuers beside the first one: one whose data cannot be read is not served. */
async function issuerFindings(cli: Invocation): Promise<readonly Finding[]> {
  const names = namesIn(cli.data);
  const lock = readLock(cli.data);
  // While a server writes, it alone knows.
  const broken =
    lock === null || lock.state === "dead" ? await brokenIn(cli, names) : await brokenAtServer(cli).catch(() => null);
  if (broken === null || names.length === 0) return [];
  const good = names.length - broken.length;
  const all = `${count(names.length, "issuer")} beside the first one: ${names.join(", ")}`;
  return good === 0 ? broken : [...broken, ok("issuers", all)];
}

async function brokenIn(cli: Invocation, names: readonly string[]): Promise<readonly Finding[]> {
  const broken: Finding[] = [];
  for (const name of names) {
    await peek(folderOf(cli.data, name), cli.now).catch((error: unknown) => {
      broken.push(unreadable("issuers")(error));
    });
  }
  return broken;
}

async function brokenAtServer(cli: Invocation): Promise<readonly Finding[]> {
  const issuers = await (await findTarget(cli)).call("issuers.list", {});
  return issuers.flatMap(({ name, problem: why }) =>
    why === null
      ? []
      : [problem("issuers", `issuer ${name}: ${why}`, { text: "", command: ["idp", "issuers", "show", name] })],
  );
}

/** The data, if no server uses it; only the server knows what it is about to write. */
export function peekAt(cli: Invocation): Promise<Peek | null> {
  return peek(cli.data, cli.now);
}

export const unreadable =
  (name: string) =>
  (error: unknown): Finding => {
    const { code, message, hint } = failureOf(error);
    if (code === "unexpected") throw error;
    return problem(name, message, hint);
  };

async function dataFindings(cli: Invocation): Promise<readonly Finding[]> {
  const file = join(cli.data, "data.json");
  // existsSync says that nothing is in a folder that this user may not read.
  if (existsSync(cli.data)) accessSync(cli.data, constants.R_OK | constants.X_OK);
  if (!existsSync(file)) return [noData(cli)];
  const { mode } = statSync(file);
  const what = await describeData(cli, file).catch(unreadable("data"));
  return [
    what,
    ...((mode & 0o077) !== 0
      ? [
          warning(
            "mode",
            `${file} can be read by other users (${(mode & 0o777).toString(8)}), and holds keys and secrets`,
            { text: "", command: ["chmod", "600", file] },
          ),
        ]
      : [ok("mode", `${file} is for its owner only`)]),
    gitFinding(cli),
  ];
}

const noData = (cli: Invocation): Finding =>
  ok("data", `none in ${cli.data} yet: ${commandLine(cli)(["idp", "start"])} makes it`);

const size = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;

async function describeData(cli: Invocation, file: string): Promise<Finding> {
  const lock = readLock(cli.data);
  if (lock !== null && lock.state !== "dead") return ok("data", `${file}, ${size(statSync(file).size)}, in use`);
  const data = await peekAt(cli);
  if (data === null) return noData(cli);
  const counts = await data.read((tx) => [count(tx.count("users"), "user"), count(tx.count("clients"), "client")]);
  return ok("data", [file, `schema ${data.schemaVersion}`, size(data.bytes), ...counts].join(", "));
}

/** A folder that was there before does not have our `.gitignore`: then git is asked, if there is one. */
function gitFinding({ data }: Invocation): Finding {
  const own = join(data, ".gitignore");
  if (existsSync(own) && /^\*$/m.test(readFileSync(own, "utf8"))) return ok("git", `${data} is ignored by git`);
  const asked = spawnSync("git", ["check-ignore", "-q", "data.json"], { cwd: resolve(data), stdio: "ignore" });
  if (asked.status === 0) return ok("git", `${data} is ignored by git`);
  if (asked.status !== 1) return ok("git", `${data} is not in a git work tree`);
  return warning(
    "git",
    `${data} is not ignored by git, and holds keys and secrets`,
    // The folder may belong to a project with its own .gitignore.
    { text: "", command: ["sh", "-c", `printf "%s\\n" "/data.j*" "/lock.json*" >> ${quoteWord(own)}`] },
  );
}

async function lockFinding({ data }: Invocation): Promise<Finding> {
  const lock = readLock(data);
  if (lock === null) return ok("lock", "nobody holds the data");
  const { pid, url, host, state, kind, startedAt } = lock;
  if (state === "dead") {
    return warning(
      "lock",
      `left behind by process ${pid}, which has ended`,
      "Nothing to do: the next command takes it over.",
    );
  }
  if (state === "elsewhere") {
    // Its owner touched the lock a moment ago.
    if (host === hostname()) return ok("lock", `held by process ${pid} of another container`);
    const detail = `held by process ${pid} on the machine ${host}, which cannot be seen from here`;
    return warning("lock", detail, { text: "If no idp runs there", command: ["rm", join(data, "lock.json")] });
  }
  if (kind === "command") return ok("lock", `held by a command at this moment (pid ${pid})`);
  if (url === null)
    return warning("lock", `held by pid ${pid}, which has been starting since ${startedAt}`, {
      text: "",
      command: ["idp", "wait"],
    });
  return (await issuerAt(url, timeoutMs)) === null
    ? problem("lock", `held by pid ${pid}, which does not answer at ${url} (was it stopped?)`, {
        text: `End it with kill -9 ${pid}, or let it continue`,
        command: ["kill", "-CONT", String(pid)],
      })
    : ok("lock", `held by pid ${pid}, which answers at ${url}`);
}

/** Writes a file where the data is, or would be, and removes it: whether that works, and which time the disk gives it. */
function diskFindings(cli: Invocation): readonly Finding[] {
  let folder = resolve(cli.data);
  while (!existsSync(folder)) folder = dirname(folder);
  const file = join(folder, `.idp-doctor.${process.pid}.tmp`);
  try {
    writeFileSync(file, "x", { flag: "wx", mode: 0o600 });
    const off = Math.round((statSync(file).mtimeMs - cli.now()) / 1000);
    return [
      ok("disk", `${folder} can be written`),
      Math.abs(off) <= maxClockDifference
        ? ok("clock", "agrees with the file system's")
        : warning(
            "clock",
            `${Math.abs(off)} s ${off > 0 ? "behind" : "ahead of"} the file system's`,
            "Set the clock of this machine: tokens carry its time, and other machines check it.",
          ),
    ];
  } catch (error) {
    return [problem("disk", `${folder} cannot be written: ${describeFault(error)}`, fixAndRetry)];
  } finally {
    // On a full disk the file exists, with nothing in it.
    if (existsSync(file)) rmSync(file);
  }
}

/** The fixtures of this folder; if it has none, those of its server. */
export async function fixtureFinding(cli: Invocation, answers: boolean): Promise<Finding> {
  const named = fixturePaths(cli, {});
  try {
    const { sources, names } = await readFixtures(named, process.cwd());
    if (names.length === 0 && answers) {
      const { files } = await (await findTarget(cli)).call("fixtures.check", {});
      return ok(
        "fixtures",
        `of the server: ${files.length === 0 ? "no files" : `${files.join(", ")}: no problem found`}`,
      );
    }
    if (names.length === 0) return ok("fixtures", "no file of your own here: the built-in demo");
    const { checkFixtures } = await import("../../../core/admin/seed/seed.ts");
    await withFixtures(sources, () => checkFixtures(sources));
    return ok("fixtures", `${names.join(", ")}: no problem found`);
  } catch (error) {
    if (!(error instanceof OperationError || error instanceof RemoteError)) throw error;
    const [first] = error.problems;
    const where = first === undefined ? "" : `: ${problemText(first)}`;
    return problem("fixtures", `${error.message}${where}`, { text: "", command: ["idp", "seed", "--check", ...named] });
  }
}
