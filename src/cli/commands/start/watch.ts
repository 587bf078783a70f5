import { readdirSync, realpathSync, statSync, watch as watchFolder, type FSWatcher } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import {
  isFixtureName,
  isPath,
  usualNames,
  readFixtures,
  type FoundFixtures,
  type NamedFixture,
} from "../../../serve/fixture-files.ts";
import type { Server } from "../../../serve/server.ts";
import { changeFixtures } from "../../../core/admin/seed/apply.ts";
import { printableJson } from "../../output/escape.ts";
import { failureOf, type Failure } from "../../failure.ts";
import type { Invocation } from "../../invocation.ts";
import { printFailure } from "../../output/print.ts";
import { timedLines, timeOfDay } from "./request-log.ts";
import { few, seedSummary } from "../../output/words.ts";
import { hintText } from "../../../core/base/hint.ts";
import { commandLine } from "../../output/command-line.ts";

/** How many milliseconds to wait for another event: an editor saves in several steps. */
const quiet = 80;

/** The real path; null if it does not exist or cannot be reached, which reading the fixtures then reports. */
function realPathOf(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

/** Watches folders, not files, to notice new files, and editors that replace a file instead of writing to it. */
function foldersOf(
  named: readonly NamedFixture[],
  sources: FoundFixtures["sources"],
): Map<string, (name: string) => boolean> {
  const folders = new Map<string, (name: string) => boolean>();
  const add = (folder: string, concerns: (name: string) => boolean): void => {
    const before = folders.get(folder);
    folders.set(folder, before === undefined ? concerns : (name) => before(name) || concerns(name));
  };
  if (named.length === 0) add(process.cwd(), (name) => usualNames.includes(name));
  for (const path of named.filter(isPath).map((one) => resolve(one))) {
    add(dirname(path), (name) => name === basename(path));
    const real = realPathOf(path);
    if (real === null) continue;
    if (statSync(real).isDirectory()) add(real, isFixtureName);
    else add(dirname(real), (name) => name === basename(real));
  }
  for (const source of sources) {
    if (!("text" in source) || source.folder === undefined) continue;
    for (const path of [...Object.keys(source.logos ?? {}), ...Object.keys(source.metadata ?? {})].map((file) =>
      resolve(source.folder ?? "", file),
    )) {
      add(dirname(path), (name) => name === basename(path));
    }
  }
  return folders;
}

/** What is watched. */
interface Watched {
  readonly named: readonly NamedFixture[];
  /** The fixtures in use. */
  readonly found: FoundFixtures;
  /** The folder of the user's own pages. */
  readonly templates: string | undefined;
}

/** A folder and those in it: not every system can watch a tree. */
const foldersBelow = (folder: string): readonly string[] =>
  statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
    ? [
        folder,
        ...readdirSync(folder, { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isDirectory())
          .map(({ parentPath, name }) => join(parentPath, name)),
      ]
    : [];

/**
 * `idp start --watch`: applies fixtures again when they change, until it is closed. If they have a mistake, it reports that and changes nothing.
 * @param named paths and texts; without any, the usual file of the working folder
 * @param read finds and reads the fixtures again
 */
function watchFixtures(
  cli: Invocation,
  server: Server,
  { named, found, read, templates }: Watched & { readonly read: () => Promise<FoundFixtures> },
): { readonly close: () => Promise<void> } {
  let watchers: readonly FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  let { sources } = found;
  let last = JSON.stringify(sources);
  let work = Promise.resolve();
  let closed = false;
  let arePagesNew = false;

  /** If this fails (too many watches), what is already watched stays watched. */
  function rewatch(): void {
    const fresh: FSWatcher[] = [];
    try {
      for (const folder of templates === undefined ? [] : foldersBelow(templates)) {
        const watcher = watchFolder(folder, () => {
          arePagesNew = true;
          later();
        });
        watcher.on("error", later);
        fresh.push(watcher);
      }
      for (const [folder, concerns] of foldersOf(named, sources)) {
        if (statSync(folder, { throwIfNoEntry: false }) === undefined) continue;
        const watcher = watchFolder(folder, (_event, name) => {
          if (name === null || concerns(name)) later();
        });
        watcher.on("error", later);
        fresh.push(watcher);
      }
    } catch (error) {
      for (const watcher of fresh) watcher.close();
      throw error;
    }
    for (const watcher of watchers) watcher.close();
    watchers = fresh;
  }

  function later(): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      work = work.then(refresh);
    }, quiet);
  }

  async function refresh(): Promise<void> {
    if (closed) return;
    let isOfFixtures = false;
    try {
      // The folder may be another one of the same name by now. This comes before the files are read, so that no change is missed.
      rewatch();
      if (arePagesNew && templates !== undefined) {
        arePagesNew = false;
        await server.reloadPages();
        tell({ applied: true, files: [templates] }, `${templates}: pages read again`);
      }
      isOfFixtures = true;
      const now = await read();
      const text = JSON.stringify(now.sources);
      if (text === last) return;
      last = text;
      ({ sources } = now);
      // It may have named another file.
      rewatch();
      if (now.names.length === 0) {
        tell({ applied: false, files: [] }, `The fixture file is gone. Its records stay until ${reset}.`);
        return;
      }
      const { vanished, ...seeded } = await changeFixtures(server.issuer.ctx, now.sources, true);
      const stays = vanished.length === 0 ? "" : `\n  no longer in them, but kept until ${reset}: ${few(vanished)}`;
      const line = `${now.names.join(", ")}: ${seedSummary(seeded)}${stays}`;
      tell({ applied: true, files: now.names, ...seeded, vanished }, line);
    } catch (error) {
      // Once they are right again, it says so.
      if (isOfFixtures) last = "";
      const failure = failureOf(error);
      if (cli.json) tell({ applied: false, error: { ...failure, hint: shownHint(failure) } }, "");
      else
        printFailure(
          cli,
          {
            ...failure,
            hint: { text: "The server still uses what it had before. Fix the file and save it again." },
          },
          null,
        );
    }
  }

  const reset = commandLine(cli)(["idp", "reset"]);
  const shownHint = ({ hint }: Failure): string | null => hint && hintText(hint, commandLine(cli));

  function tell(event: object, line: string): void {
    const time = new Date(cli.now());
    if (cli.json) {
      cli.stdout.write(`${printableJson({ event: "fixtures", time: time.toISOString(), ...event }, 0)}\n`);
    } else if (!cli.quiet) {
      cli.stdout.write(`${timedLines(cli.out.dim(timeOfDay(time)), line, cli.width)}\n`);
    }
  }

  rewatch();
  // For what changed since the start.
  later();
  return {
    async close() {
      closed = true;
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
      await work;
    },
  };
}

/** As {@link watchFixtures}. Whoever did not ask for it can go on without: null. @param log takes the reason */
export function watch(
  cli: Invocation,
  server: Server,
  log: (note: string) => void,
  { asked, ...what }: Watched & { readonly asked: boolean },
) {
  try {
    return watchFixtures(cli, server, { ...what, read: () => readFixtures(what.named, process.cwd()) });
  } catch (error) {
    if (asked) throw error;
    log(`Changes of fixtures are not noticed: ${error instanceof Error ? error.message : String(error)}`);
    return null;
  }
}
