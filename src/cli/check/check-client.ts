/*
 * cli/check: `idp check client`. flags.ts checks what was typed, place.ts has the issuer, app-process.ts the app, control.ts connects the
 * cases to the issuer. src/client/app-check runs them; result.ts prints the result, report.ts writes files. opened.ts closes what was
 * opened.
 */
import { constants } from "node:os";
import { setTimeout as wait } from "node:timers/promises";
import { control as controlCase } from "../../client/app-check/cases/control.ts";
import { runCases, type RunResult } from "../../client/app-check/run.ts";
import type { Browser, Places } from "../../client/app-check/browser.ts";
import type { Case } from "../../client/app-check/case.ts";
import { smallBrowser } from "../../client/app-check/small-browser.ts";
import { OperationError } from "../../core/errors.ts";
import { randomText } from "../../random.ts";
import { foreignCommand, ownWords, type TypedCommand } from "../input/foreign-command.ts";
import type { Invocation } from "../invocation.ts";
import type { Outcome } from "../output/print.ts";
import { say } from "../output/print.ts";
import { endWithShellOfNpm } from "../start/npm-shell.ts";
import { appProcess, waitForAnswer, type AppProcess } from "./app-process.ts";
import { controlOf } from "./control.ts";
import { casesOf, checkAddresses, checkReport, type CheckFlags } from "./flags.ts";
import { Opened } from "./opened.ts";
import { ownServer, requireIssuer, runningServer, type CheckPlace } from "./place.ts";
import { writeReport } from "./report.ts";
import { caseLine, lastWords, outcomeOf } from "./result.ts";

export type { CheckFlags };

/** The command after `--`; null without one. @throws {OperationError} usage */
function commandOf(typed: TypedCommand): readonly [string, ...string[]] | null {
  const { command, stray } = foreignCommand(typed);
  const [program = "", ...args] = command;
  if (stray.length > 0 || (typed.words.includes("--") && program === "")) {
    const flags = ownWords(typed.words).filter((word) => !stray.includes(word));
    const meant = [program === "" ? stray : command, ["npm", "start"]].find((one) => one.length > 0) ?? [];
    throw new OperationError("usage", "the command that starts the app must follow --", {
      hint: { text: "Put -- before it", command: ["idp", ...flags, "--", ...meant] },
    });
  }
  return program === "" ? null : [program, ...args];
}

/** `idp check client`: whether the app notices wrong responses. */
export async function checkClient(cli: Invocation, typed: TypedCommand, flags: CheckFlags): Promise<Outcome | number> {
  const command = commandOf(typed);
  const cases = casesOf(flags);
  checkReport(flags);
  await checkAddresses(flags);
  let interrupt: (exit: number) => void = () => undefined;
  const interrupted = new Promise<number>((resolve) => {
    interrupt = resolve;
  });
  cli.takeSignals((signal) => {
    interrupt(128 + constants.signals[signal]);
  });
  endWithShellOfNpm(cli, () => {
    interrupt(128 + constants.signals.SIGTERM);
  });
  const opened = new Opened();
  try {
    return await Promise.race([interrupted, checked(cli, flags, cases, command, opened)]);
  } finally {
    await opened.close();
  }
}

async function checked(
  cli: Invocation,
  flags: CheckFlags,
  cases: readonly Case[],
  command: readonly [string, ...string[]] | null,
  opened: Opened,
): Promise<Outcome> {
  const place = await (command === null ? runningServer(cli, flags, opened) : ownServer(cli, flags, opened));
  const [program = "", ...args] = command ?? [];
  const app =
    command === null ? null : appProcess(program, args, place.env, { address: flags.start, timeout: flags.timeout });
  if (app !== null) await opened.add(() => app.stop());
  const failure = await (app === null ? waitForAnswer(flags.start, flags.timeout, () => null) : app.start());
  if (failure !== null) throw neverAnswered(failure, app);
  if (!cli.json) say(cli, `Checking ${flags.start} as client ${place.client.client_id} of ${place.issuer}`);
  const result = await runAll(cli, flags, cases, place, app, opened);
  if (flags.report !== undefined) await writeReport(flags.report, result);
  return outcomeOf(cli, result, app);
}

function neverAnswered(why: string, app: AppProcess | null): OperationError {
  const hint = lastWords(app?.output() ?? []);
  if (hint !== null || (app?.ended() ?? null) !== null) {
    return new OperationError("no_server", why, hint === null ? {} : { hint });
  }
  return new OperationError("no_server", why, {
    hint: "Is this the address and port of the app? To wait longer, add --timeout SECONDS",
  });
}

async function runAll(
  cli: Invocation,
  flags: CheckFlags,
  cases: readonly Case[],
  place: CheckPlace,
  app: AppProcess | null,
  opened: Opened,
): Promise<RunResult> {
  const { issuer, client, user, isOwn, server } = place;
  const redirectUris = client.redirect_uris;
  const control = controlOf(server, { issuer, client: client.client_id, redirectUris, user, isOwn });
  await opened.add(() => control.close());
  const { start, signedIn, signedInText = null, signOut = null } = flags;
  const addresses = [start, signedIn, ...(signOut === null ? [] : [signOut]), ...redirectUris];
  const origins = addresses.filter((address) => /^https?:/.test(address) && URL.canParse(address));
  const places: Places = { issuer, redirectUris, origins: origins.map((one) => new URL(one).origin), user };
  const newBrowser = await browserOf(cli, flags, places, opened);
  if (app === null) await requireIssuer(place, flags, await newBrowser());
  return runCases(
    {
      ...{ control, newBrowser, wait, now: cli.now, random: randomText },
      app: { start, signedIn, signedInText, signOut },
      restart:
        app === null
          ? null
          : async () => {
              await app.stop();
              return opened.isClosed ? "the check has ended" : app.start();
            },
      onResult: (one) => {
        if (!cli.json && !opened.isClosed) cli.stdout.write(`${caseLine(one, cli.out)}\n`);
      },
    },
    controlCase,
    cases,
  );
}

/** Makes a browser for each case. */
async function browserOf(
  cli: Invocation,
  flags: CheckFlags,
  places: Places,
  opened: Opened,
): Promise<() => Promise<Browser>> {
  if (flags.browser !== true) return () => Promise.resolve(smallBrowser(places, cli.now));
  const { launchChromium } = await import("./chromium.ts");
  const { chromiumBrowser } = await import("../../client/app-check/chromium.ts");
  const chromium = await launchChromium(cli);
  await opened.add(() => chromium.close());
  return async () => chromiumBrowser(places, await chromium.newContext({ ignoreHTTPSErrors: true }));
}
