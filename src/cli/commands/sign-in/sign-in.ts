/*
 * cli/commands/sign-in: `idp sign-in` signs a user in at an app, with src/client/app, and hands over what the browser then holds. forms.ts
 * writes it as text, files.ts to files.
 */
import { setTimeout as delay } from "node:timers/promises";
import { launchChromium } from "../../../check/frame/browsers.ts";
import { browserFlag, startButtonFlag } from "../../../check/frame/flags.ts";
import { nearLookup } from "../../../client/app/near.ts";
import { signInAt, type SignInServer } from "../../../client/app/sign-in-at.ts";
import { SignInError } from "../../../client/app/sign-in-error.ts";
import { smallBrowser } from "../../../client/app/small-browser.ts";
import type { Browser, Held, Places } from "../../../client/app/visit.ts";
import { OperationError, RemoteError } from "../../../core/base/errors.ts";
import { callServer, issuerAt, type Server } from "../../../serve/remote.ts";
import { signInServerOf } from "../../../serve/sign-in-server.ts";
import type { Declare } from "../../act.ts";
import { examples, type Command, type FlagsOf, Option } from "../../commander.ts";
import { collect, seconds, webUrl } from "../../flags/flag-values.ts";
import type { Invocation } from "../../invocation.ts";
import { escapeLine } from "../../output/escape.ts";
import { answer, say, type Outcome } from "../../output/print.ts";
import { count } from "../../output/words.ts";
import { serverOfUrl } from "../../target/server-of-url.ts";
import { findServer, noServer } from "../../target/target.ts";
import { forChildren } from "../exec/exec.ts";
import { filesFor, gitNote, writeSignedIn } from "./files.ts";
import { firstEnd, forms, textOf } from "./forms.ts";

const withFlags = (command: Command) =>
  command
    .addOption(
      new Option("--start <url>", "the address behind the app's Sign in button")
        .argParser(webUrl("http://localhost:3000/login"))
        .makeOptionMandatory(),
    )
    .option("--user <username>", "who signs in; repeatable (default: the first active user)", collect)
    .addOption(
      new Option("--signed-in <url>", "an address of the app that only users may see").argParser(
        webUrl("http://localhost:3000/login"),
      ),
    )
    .addOption(
      new Option("--as <form>", "Playwright's JSON, the file that curl reads, or one Cookie: line")
        .choices(forms)
        .default("storage-state"),
    )
    .option(
      "-o, --output <file>",
      "write to this file, readable only by you; with several users, {user} in it is the name",
    )
    .option(browserFlag.flag, browserFlag.help)
    .option(startButtonFlag.flag, startButtonFlag.help)
    .option("--allow-remote", "let addresses be outside this machine and private networks")
    .addOption(
      new Option("--timeout <seconds>", "how long a sign-in may take").argParser(seconds(1, 86_400)).default(30),
    );
type SignInFlags = FlagsOf<typeof withFlags>;

/** How many milliseconds the server has to say which issuer it is. */
const timeoutMs = 5000;

async function serverOf(cli: Invocation): Promise<{ readonly server: Server; readonly issuer: string }> {
  const server = cli.url === null ? await findServer(cli) : serverOfUrl(cli, cli.url);
  if (server === null) throw await noServer(cli);
  const issuer = await issuerAt(server.url, timeoutMs);
  if (issuer !== null) return { server, issuer };
  throw new OperationError("no_server", `no idp server answers at ${server.url}`);
}

/** Who signs in. @throws {OperationError | RemoteError} not_found for an unknown user; refused for one who is not active */
async function usersOf(server: Server, named: readonly string[] | undefined): Promise<readonly string[]> {
  if (named !== undefined) {
    const users = [...new Set(named)];
    for (const username of users) requireActive(await callServer(server, "users.show", { username }));
    return users;
  }
  const first = (await callServer(server, "users.list", {})).find(({ status }) => status === "active");
  if (first !== undefined) return [first.username];
  throw new OperationError("not_found", "no user is active, so nobody can sign in", {
    hint: { text: "To add one", command: ["idp", "users", "add", "alice"] },
  });
}

function requireActive({ username, status }: { readonly username: string; readonly status: string }): void {
  if (status === "active") return;
  throw new OperationError("refused", `${username} is ${status}, and cannot sign in`, {
    hint: { text: "To restore sign-in", command: ["idp", "users", "restore", username] },
  });
}

/** What a reader sees is not enough: codes and sessions are a tester's. @throws {OperationError | RemoteError} forbidden */
async function requireTester(server: Server, username: string): Promise<void> {
  try {
    await callServer(server, "users.otp", { username });
  } catch (error) {
    // A user without one-time codes.
    if (error instanceof RemoteError && error.code === "refused") return;
    if (!(error instanceof RemoteError) || error.code !== "forbidden") throw error;
    throw new OperationError("forbidden", "sign-in needs a tester, and this token is a reader's", {
      ...(error.hint !== null && { hint: error.hint }),
    });
  }
}

/** The browsers of the command. */
async function openBrowsers(
  cli: Invocation,
  { browser }: Pick<SignInFlags, "browser">,
): Promise<{ readonly newBrowser: (places: Places) => Promise<Browser>; readonly close: () => Promise<void> }> {
  if (browser !== true)
    return { newBrowser: (places) => Promise.resolve(smallBrowser(places)), close: () => Promise.resolve() };
  const { chromiumBrowser } = await import("../../../client/app/chromium.ts");
  const chromium = await launchChromium(forChildren(cli.env));
  return {
    newBrowser: async ({ lookup, ...places }) =>
      chromiumBrowser(
        { ...places, lookup: chromium.keeping(lookup) },
        await chromium.newContext({ ignoreHTTPSErrors: true }),
      ),
    close: () => chromium.close(),
  };
}

/** What the user of the command reads of a sign-in that failed. */
function failureOf({ kind, message, rule, given, fix, flow }: SignInError): OperationError {
  const parts: readonly (readonly [string, string | null])[] = [
    ["rule", rule],
    ["given", given],
    ["fix", fix],
    ["more", flow === null ? null : `idp open ${flow}`],
  ];
  const lines = parts.flatMap(([name, value]) => (value === null ? [] : `${name.padEnd(8)} ${escapeLine(value)}`));
  const code = kind === "far" ? "usage" : kind === "unanswered" ? "no_server" : "refused";
  return new OperationError(code, message, lines.length === 0 ? {} : { hint: lines.join("\n") });
}

async function inTime<T>(limit: number, user: string, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = delay(limit * 1000, null, { signal: over.signal }).then(() => {
    throw new OperationError("no_server", `the sign-in of ${user} did not end within ${limit} s`, {
      hint: "Is the app slow? Give it more time with --timeout SECONDS.",
    });
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    over.abort();
    late.catch(() => undefined);
    work.catch(() => undefined);
  }
}

interface SignedIn {
  readonly user: string;
  readonly held: Held;
  readonly output: string | null;
}

/** What a sign-in needs, for the command and for the tool of coding agents. */
export type SignInWays = Pick<
  SignInFlags,
  "start" | "signedIn" | "browser" | "startButton" | "allowRemote" | "timeout"
> & {
  /** Absent: the first active user. */
  readonly user?: readonly string[] | undefined;
};

/**
 * Signs users in, one after the other.
 * @param place is asked where each one's result goes before anybody signs in
 * @param each is called with what the browser of a user holds
 * @throws {SignInError | OperationError | RemoteError}
 */
export async function signInUsers(
  cli: Invocation,
  ways: SignInWays,
  place: (users: readonly string[]) => void,
  each: (user: string, held: Held) => Promise<void>,
): Promise<void> {
  const { start, signedIn = null, timeout, startButton } = ways;
  const { server, issuer } = await serverOf(cli);
  const users = await usersOf(server, ways.user);
  place(users);
  for (const user of users) await requireTester(server, user);
  const lookup = nearLookup(ways.allowRemote === true);
  const running: SignInServer = signInServerOf(issuer, (name, input) => callServer(server, name, input));
  const browsers = await openBrowsers(cli, ways);
  try {
    for (const user of users) {
      const options = { start, signedIn, user, startButton, lookup, newBrowser: browsers.newBrowser };
      await each(user, await inTime(timeout, user, signInAt(running, options)));
    }
  } finally {
    await browsers.close();
  }
}

/** `idp sign-in`. */
async function signIn(cli: Invocation, flags: SignInFlags): Promise<Outcome> {
  const { start, signedIn = null, as } = flags;
  let files: ReadonlyMap<string, string> | null = null;
  const done: SignedIn[] = [];
  const place = (users: readonly string[]): void => {
    files = filesFor(users, flags.output);
  };
  await signInUsers(cli, flags, place, async (user, held) => {
    const output = files?.get(user) ?? null;
    if (output !== null) await writeSignedIn(output, textOf(as, held, signedIn ?? start));
    done.push({ user, held, output });
  }).catch((error: unknown) => {
    throw error instanceof SignInError ? failureOf(error) : error;
  });
  for (const one of done) sayDone(cli, flags, one);
  const documents = done.map(({ user, held, output }) => ({
    ...{ user, start, signedIn, as, output, expires: firstEnd(held) },
    ...(output === null && held),
  }));
  const [first] = done;
  const text = first === undefined || first.output !== null ? "" : textOf(as, first.held, signedIn ?? start);
  return answer(done.length === 1 ? documents[0] : documents, () => text);
}

/** How many cookies there are, and until when. */
export function cookiesText(held: Held): string {
  const { length } = held.cookies;
  const closing = held.cookies.filter(({ expires }) => expires === -1).length;
  const dated = length - closing;
  const end = firstEnd(held);
  const which = (some: number): string => (some === length ? "" : `${some} `);
  return [
    count(length, "cookie"),
    ...(closing === 0 ? [] : [`${which(closing)}until the browser closes`]),
    ...(end === null ? [] : [`${which(dated)}until ${end}${dated === 1 ? "" : " at the earliest"}`]),
  ].join(", ");
}

/** Says who, where and until when, and how to use the file. */
function sayDone(cli: Invocation, { start, as }: SignInFlags, { user, held, output }: SignedIn): void {
  say(cli, `Signed in as ${user} at ${new URL(start).origin} (${cookiesText(held)})`);
  if (output === null) return;
  const uses = {
    "storage-state": [
      `  Playwright:  use: { storageState: '${output}' }`,
      "  curl:        curl -b cookies.txt, after --as cookies --output cookies.txt",
    ],
    cookies: [`  curl:        curl -b ${output}`],
    header: [`  curl:        curl -H @${output}`],
  };
  for (const line of uses[as]) say(cli, line);
  const git = gitNote(output);
  if (git !== null) say(cli, git);
}

const help = `
It signs in at the app through the running server, as a person would: the user
is picked, one-time codes are given, and consent is allowed. The result has the
cookies of the app and none of idp. Without --signed-in, the app's callback has
to set or change a cookie. Exit 6: the user is not signed in.
`;

/** Declares `idp sign-in`. */
export const declareSignIn: Declare = (command, { act }) => {
  withFlags(command)
    .addHelpText("after", help.trimEnd())
    .addHelpText(
      "after",
      examples(
        "idp sign-in --start http://localhost:3000/login --signed-in http://localhost:3000/me --output state.json",
        "idp sign-in --start http://localhost:3000/login --user alice --user bob --output auth/{user}.json",
        "idp sign-in --start http://localhost:3000/login --as cookies --output cookies.txt",
      ),
    )
    .action(act(signIn));
};
