/*
 * cli/input: what a person types or pipes in.
 */
import { OperationError } from "../../core/base/errors.ts";
import { splitScope } from "../../core/records/scopes/scopes.ts";
import { escapeLine } from "../output/escape.ts";
import { wrap } from "../output/table.ts";
import type { Invocation } from "../invocation.ts";
import type { Target } from "../target/target.ts";
import type { Hint } from "../../core/base/hint.ts";
import { commandLine } from "../output/command-line.ts";
import { withNames } from "./example.ts";

/** Questions to the person at the terminal. If nobody can be asked, the error names the flag that answers instead. */

interface Choice {
  readonly value: string;
  readonly name: string;
}

/** With more choices than this, typing is faster than the arrow keys. */
const maxChoices = 10;

/** Questions go to stderr, so that `$(idp …)` gets only the answer. */
async function prompts(cli: Invocation): Promise<ReturnType<typeof import("inquirer").createPromptModule>> {
  const { createPromptModule } = await import("inquirer");
  return createPromptModule({ input: cli.stdin, output: cli.stderr });
}

/** Asks for one of some values. @param example what to type next time: `["--user", "USERNAME"]` */
export async function choose(
  cli: Invocation,
  message: string,
  choices: readonly Choice[],
  example: readonly string[],
): Promise<string> {
  const shown = choices.map(({ value, name }) => ({ value, name: escapeLine(name) }));
  const ask = await prompts(cli);
  if (shown.length <= maxChoices) {
    const picked: { readonly value: unknown } = await ask({
      value: { type: "select", message, choices: shown, loop: false },
    });
    return String(picked.value);
  }
  const source = (typed = ""): readonly Choice[] =>
    shown.filter(({ name }) => name.toLowerCase().includes(typed.toLowerCase()));
  const question = {
    type: "search",
    message: `${message} Type to search (next time: ${commandLine(cli)(example)})`,
    source,
  } as const;
  const found: { readonly value: unknown } = await ask({ value: question });
  return String(found.value);
}

/** The refusal if nobody can be asked. */
export const needed = (what: string, hint: string | Hint): OperationError =>
  new OperationError("usage", `${what} is missing, and there is no terminal to ask for it`, { hint });

/** The refusal if nobody can be asked, with a command that names a record of the data. @param example with USERNAME, CLIENT_ID, … for the name */
const neededName = async (cli: Invocation, what: string, example: readonly string[]): Promise<OperationError> =>
  needed(what, { text: "Give it", command: await withNames(cli, example) });

/** How many cells the names of a list take. A long name does not make the column wider. */
const nameWidth = (names: readonly string[]): number => Math.min(20, Math.max(0, ...names.map((name) => name.length)));

/** The given username, or else the one that the person picks. @param example how to give it */
export async function userOr(
  cli: Invocation,
  target: Target,
  given: string | undefined,
  example: readonly string[] = ["--user", "USERNAME"],
): Promise<string> {
  if (given !== undefined) return given;
  if (!cli.interactive) throw await neededName(cli, "the user", example);
  const users = await target.call("users.list", {});
  const width = nameWidth(users.map(({ username }) => username));
  return choose(
    cli,
    "Which user?",
    users.map(({ username, email, status }) => ({
      value: username,
      name: `${username.padEnd(width)}  ${email}${status === "active" ? "" : `  (${status})`}`,
    })),
    example,
  );
}

/**
 * The given usernames, each once, or else the one that the person picks.
 * @throws {OperationError} not_found if one of several is unknown, before anything is changed
 */
export async function usersOr(
  cli: Invocation,
  target: Target,
  given: readonly string[],
  example: readonly string[],
): Promise<readonly string[]> {
  const names = [...new Set(given)];
  if (names.length < 2) return [await userOr(cli, target, names[0], example)];
  for (const username of names) await target.call("users.show", { username });
  return names;
}

/** The given client id, or else the one that the person picks. */
export async function clientOr(
  cli: Invocation,
  target: Target,
  given: string | undefined,
  example: readonly string[] = ["--client", "CLIENT_ID"],
): Promise<string> {
  if (given !== undefined) return given;
  if (!cli.interactive) throw await neededName(cli, "the client", example);
  const clients = await target.call("clients.list", {});
  const width = nameWidth(clients.map(({ client_id }) => client_id));
  return choose(
    cli,
    "Which client?",
    clients.map(({ client_id, client_name }) => ({
      value: client_id,
      name: `${client_id.padEnd(width)}  ${typeof client_name === "string" ? client_name : ""}`.trimEnd(),
    })),
    example,
  );
}

/** The given grant id, or else the one that the person picks. @param only "active": revoked ones are not offered */
export async function grantOr(
  cli: Invocation,
  target: Target,
  given: string | undefined,
  example: readonly string[],
  only: "active" | "all",
): Promise<string> {
  if (given !== undefined) return given;
  if (!cli.interactive) throw await neededName(cli, "the grant", example);
  const grants = (await target.call("grants.list", {})).filter(({ status }) => only === "all" || status === "active");
  if (grants.length === 0) {
    throw new OperationError("not_found", only === "all" ? "no grants yet" : "no active grants", {
      hint: { text: "Sign in to a client, or create one", command: ["idp", "issue", "grant"] },
    });
  }
  return choose(
    cli,
    "Which grant?",
    grants.map(({ id, user, client, scope }) => ({ value: id, name: `${user}  ${client}  ${scope}` })),
    example,
  );
}

/** The given session id, or else the one that the person picks. */
export async function sessionOr(cli: Invocation, target: Target, given: string | undefined): Promise<string> {
  if (given !== undefined) return given;
  const example = ["idp", "sessions", "end", "--user", "USERNAME"];
  if (!cli.interactive) throw await neededName(cli, "the session", example);
  const sessions = await target.call("sessions.list", {});
  if (sessions.length === 0) throw new OperationError("not_found", "no sessions: nobody is signed in");
  return choose(
    cli,
    "Which session?",
    sessions.map(({ id, user, signedInAt }) => ({ value: id, name: `${user}  since ${signedInAt}` })),
    example,
  );
}

/**
 * Asks for scopes that the client may use. All are ticked at first, as on the consent page, and `openid` stays ticked.
 * @returns their names with spaces between
 */
export async function askScopes(cli: Invocation, target: Target, client: string): Promise<string> {
  const { scope } = await target.call("clients.show", { client_id: client });
  const defined = (await target.call("scopes.list", {})).map(({ name }) => name);
  const names = typeof scope === "string" ? splitScope(scope).filter((name) => defined.includes(name)) : defined;
  const choices = names
    .filter((name) => name !== "openid")
    .map((name) => ({ value: name, name: escapeLine(name), checked: true }));
  if (choices.length === 0) return "openid";
  const ask = await prompts(cli);
  const said: { readonly value: unknown } = await ask({
    value: { type: "checkbox", message: "Which scopes, in addition to openid?", choices, loop: false },
  });
  return ["openid", ...(Array.isArray(said.value) ? said.value.map(String) : [])].join(" ");
}

/** Asks for a line of text. @param more `problem`: what is wrong with an answer, in a sentence; then it is asked for again */
export async function askText(
  cli: Invocation,
  message: string,
  more: { readonly proposal?: string; readonly problem?: (text: string) => string | null } = {},
): Promise<string> {
  const { proposal, problem = () => null } = more;
  const ask = await prompts(cli);
  const question = {
    type: "input",
    message,
    ...(proposal !== undefined && { default: proposal }),
    validate: (text: string) => problem(text) ?? true,
  } as const;
  const said: { readonly value: unknown } = await ask({ value: question });
  return String(said.value);
}

/** Asks for a line of text that is not shown. */
export async function askSecret(cli: Invocation, message: string): Promise<string> {
  const ask = await prompts(cli);
  const said: { readonly value: unknown } = await ask({ value: { type: "password", message } });
  return String(said.value);
}

/**
 * Whether to go on. A person is asked, unless `--yes` is given; if nobody can be asked, the command goes on.
 * @param byDefault what Enter alone says
 * @param find throws where there is nothing to ask about
 */
export async function confirmed(
  cli: Invocation,
  message: string,
  { byDefault = false, find }: { readonly byDefault?: boolean; readonly find?: () => Promise<unknown> } = {},
): Promise<boolean> {
  if (cli.yes || !cli.interactive) return true;
  await find?.();
  const ask = await prompts(cli);
  // On a narrow terminal the question has several lines: with its mark before it, and (y/N) behind it.
  const shown = wrap(escapeLine(message), cli.width - "? ".length - " (y/N) ".length, "");
  const question = { type: "confirm", message: shown, default: byDefault } as const;
  const said: { readonly value: unknown } = await ask({ value: question });
  return said.value === true;
}

/** The error after somebody answered no. @param nothing what was not done: "nothing was removed" */
export const notConfirmed = (nothing: string): OperationError =>
  new OperationError("refused", `not confirmed: ${nothing}`);
