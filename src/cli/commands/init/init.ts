/*
 * cli/commands/init: `idp init` makes a fixture file, the app's variables and the code that signs users in, from the app's folder. project.ts says what
 * is in the folder, app.ts asks for the rest, connect.ts makes code and writes variables, mcp-config.ts the
 * entry for coding agents, place.ts writes the other files.
 */
import { readFileSync } from "node:fs";
import { OperationError } from "../../../core/base/errors.ts";
import { checkFixtures } from "../../../core/admin/seed/seed.ts";
import type { Hint } from "../../../core/base/hint.ts";
import { confirmed } from "../../input/ask.ts";
import type { Invocation } from "../../invocation.ts";
import { escapeLine, escapeText } from "../../output/escape.ts";
import { answer, type Outcome } from "../../output/print.ts";
import type { Style } from "../../output/style.ts";
import { asTyped } from "../../output/command-line.ts";
import { pairs, wrap } from "../../output/table.ts";
import { findServer, startCommand } from "../../target/target.ts";
import { appOf } from "./app.ts";
import { appleKeyOf } from "./apple-key.ts";
import { connectionOf, type CodePiece, type Connection, addToEnvFile } from "./connect.ts";
import { fixtureText, type NewApp } from "./fixtures.ts";
import { mcpNote, readMcpConfig, writeMcpConfig } from "./mcp-config.ts";
import { checkPlace, file, hasFixtureFile, ignoreSecrets, secretsHere, writeFixtures, writeNewFile } from "./place.ts";
import { projectOf } from "./project.ts";
import { examples } from "../../commander.ts";
import type { Declare } from "../../act.ts";
import { envFile } from "../env/choices.ts";
import { type InitFlags, withInitFlags } from "./flags.ts";

/** The same command with one more flag. */
const commandWith = (
  { type, for: library, client, redirectUri = [], port, user = [] }: InitFlags,
  flag: string,
): readonly string[] => [
  ...["idp", "init"],
  ...(type === undefined ? [] : ["--type", type]),
  ...(library === undefined ? [] : ["--for", library]),
  ...(client === undefined ? [] : ["--client", client]),
  ...redirectUri.flatMap((uri) => ["--redirect-uri", uri]),
  ...(port === undefined ? [] : ["--port", String(port)]),
  ...user.flatMap((name) => ["--user", name]),
  flag,
];

/** The flag that set a field. */
const flagOf = (path: string): string =>
  path.startsWith("users") ? "--user" : path.includes("redirect_uris") ? "--redirect-uri" : "--client";

/** Checks the file as `idp start` would: whatever is refused came from a flag. @throws {OperationError} usage */
async function checkText(text: string): Promise<void> {
  try {
    await checkFixtures([{ name: file, text }]);
  } catch (error) {
    const [problem] = error instanceof OperationError ? error.problems : [];
    if (problem === undefined) throw error;
    throw new OperationError("usage", `${flagOf(problem.path)} ${problem.message}`);
  }
}

/** Whether `--mcp-config` is all that is asked for, in a project that has its fixtures. */
const wantsEntryAlone = ({ mcpConfig, ...others }: InitFlags, files: readonly string[]): boolean =>
  mcpConfig === true && files.length === 0 && Object.keys(others).length === 0 && hasFixtureFile();

/** `idp init`. @param files of another tool, with `--from` */
async function init(cli: Invocation, files: readonly string[], flags: InitFlags): Promise<Outcome> {
  const isWritten = flags.mcpConfig === true && flags.stdout !== true;
  // Before the other files, so that the command can be repeated where this one cannot be read.
  if (isWritten) readMcpConfig();
  if (wantsEntryAlone(flags, files)) {
    const isNew = await writeMcpConfig();
    return answer({ mcp: { written: isNew } }, () => "", { notes: [mcpNote(isNew)] });
  }
  const made = await initApp(cli, files, flags);
  const isNew = isWritten ? await writeMcpConfig() : null;
  const document = made.document as object;
  return {
    ...made,
    document: isNew === null ? document : { ...document, mcp: { written: isNew } },
    // A file that is converted or printed is not the time to hear of it.
    notes: [
      ...made.notes,
      ...(isNew !== null || !(flags.from !== undefined || flags.stdout === true) ? [mcpNote(isNew)] : []),
    ],
  };
}

/** An app's fixture file, variables and code. */
async function initApp(cli: Invocation, files: readonly string[], flags: InitFlags): Promise<Outcome> {
  if (flags.from !== undefined) return (await import("./from.ts")).initFrom(cli, flags.from, files, flags);
  if (files.length > 0) {
    throw new OperationError("usage", `${files.join(" ")}: a file is read with --from only`, {
      hint: { text: "Write", command: ["idp", "init", "--from", "TOOL", ...files] },
    });
  }
  const place = { flags, withFlag: (flag: string) => commandWith(flags, flag) };
  checkPlace(place);
  const project = projectOf(process.cwd());
  const { app: asked, found, notes } = await appOf(cli, flags, project);
  const kept = await secretsHere(asked.clientId);
  const apple = asked.vendor === "apple" ? appleKeyOf(kept.env) : null;
  const app = { ...asked, apple, secret: asked.secret === null ? null : (kept.secret ?? asked.secret) };
  const text = fixtureText(app);
  await checkText(text);
  const connection = await connectionOf(cli, text, { clientId: app.clientId, project, found });
  const { own, more } = connection;
  // Secrets stay. An address, such as NEXTAUTH_URL, follows the redirect URI.
  const env = [...(apple?.variables ?? []), ...more].map(
    ([name, value]) => [name, URL.canParse(value) ? value : (kept.env[name] ?? value)] as const,
  );
  const whole = asTyped(fixtureText({ ...app, env }), cli);
  if (flags.stdout === true) {
    return answer({ ...documentOf(app), file: null, text: whole }, () => whole.trimEnd(), {
      notes: [...notes, ...((app.secret === null && apple === null) || kept.secret !== null ? [] : [newSecrets])],
    });
  }
  // Before the fixtures, so that the command can be repeated where a file cannot be written.
  const pieces = await writeCode(cli, connection.pieces.filter(isMissing));
  writeFixtures(place, whole);
  const { added, different } = own === null ? { added: [], different: [] } : await addToEnvFile(own, env);
  const titles = [project.frameworkTitle, found?.title ?? null].filter((title) => title !== null);
  const document = {
    ...documentOf(app),
    file,
    found: titles,
    library: found?.library ?? null,
    env: added.length === 0 ? null : { file: envFile, variables: added },
    pieces,
  };
  return answer(document, (shown, style) => textOf(shown, pieces, style, cli.width), {
    notes: [...notes, ...(await nextNotes(cli, connection, { different, tests: project.testsWith(found) }))],
  });
}

const newSecrets = "Each run makes new secrets: idp init will write others";

/** Whether the app does not have the code yet, from an earlier run. */
const isMissing = ({ there, text }: CodePiece): boolean =>
  there === null || readFileSync(there, "utf8").trim() !== text.trim();

/** Writes the files that do not exist yet, if the person says so, or `--yes` does. */
async function writeCode(cli: Invocation, pieces: readonly CodePiece[]) {
  const files = pieces.flatMap(({ file: name }) => (name === null ? [] : [name]));
  const isWritten =
    files.length > 0 &&
    (cli.yes || (cli.interactive && (await confirmed(cli, `Write ${files.join(" and ")}?`, { byDefault: true }))));
  return pieces.map(({ where, file: name, text }) => {
    if (name === null || !isWritten) return { where, text, written: false };
    writeNewFile(name, `${text}\n`);
    return { where: `into ${name}`, text, written: true };
  });
}

const documentOf = ({ clientId, secret, redirectUris, users }: NewApp) => ({
  client: { client_id: clientId, ...(secret !== null && { client_secret: secret }), redirect_uris: redirectUris },
  users: users.map((username) => ({ username, password: username })),
});

type Shown = ReturnType<typeof documentOf> & {
  readonly found: readonly string[];
  readonly env: { readonly variables: readonly string[] } | null;
};

type Pieces = Awaited<ReturnType<typeof writeCode>>;

/** Code is not indented, so that it can be copied as it is. */
function textOf({ client, users, found, env }: Shown, pieces: Pieces, style: Style, width: number): string {
  const maxLength = Math.max(0, ...users.map(({ username }) => username.length));
  const rows = [
    ...(found.length === 0 ? [] : [["For", found.join(", ")] as const]),
    ["Client", client.client_id] as const,
    ...(client.client_secret === undefined ? [] : [["Secret", client.client_secret] as const]),
    ...client.redirect_uris.map((uri) => ["Redirect URI", uri] as const),
    ...users.map(
      ({ username, password }, index) =>
        [index === 0 ? "Users" : "", `${username.padEnd(maxLength)}  password ${password}`] as const,
    ),
  ];
  return [
    `Created ${style.bold(file)}`,
    pairs(rows, style, "  "),
    ...(env === null ? [] : [`Wrote ${style.bold(envFile)}`, wrap(env.variables.join(", "), width, "  ")]),
    ...pieces.flatMap(({ where, text, written }) => [
      "",
      `${written ? "Wrote" : "Paste"} this ${style.bold(escapeLine(where))}:`,
      "",
      // A tab is part of the code, and acts upon no terminal.
      text.split("\t").map(escapeText).join("\t"),
    ]),
    ...(pieces.length === 0 ? [] : [""]),
  ].join("\n");
}

/** The next steps. */
async function nextNotes(
  cli: Invocation,
  { signsInAt, signsOutAt, noSignOut, notes }: Connection,
  { different, tests }: { readonly different: readonly string[]; readonly tests: readonly string[] },
): Promise<readonly (string | Hint)[]> {
  const ignored = ignoreSecrets();
  const server = await findServer(cli).catch(() => null);
  const next: Hint =
    server === null
      ? { text: "Next", command: startCommand }
      : { text: `Next, for the server that runs at ${server.url}`, command: ["idp", "seed"] };
  return [
    ...notes,
    ...(different.length === 0 ? [] : [`${envFile} has other values. The app needs: ${different.join(" ")}`]),
    ...(ignored.length === 0 ? [] : [`Added to .gitignore: ${ignored.join(" ")}`]),
    next,
    ...(signsInAt === null ? [] : [`Then start your app, and sign in at ${signsInAt}`]),
    ...(signsOutAt === null ? [] : [`To sign out, at the provider too: ${signsOutAt}`]),
    ...(noSignOut === null ? [] : [noSignOut]),
    { text: "To print the settings that your app needs", command: ["idp", "env"] },
    { text: "To run your tests with it", command: ["idp", "exec", "--", ...tests] },
  ];
}

/** Declares `idp init`. */
export const declareInit: Declare = (command, { act }) => {
  withInitFlags(command)
    .argument("[file...]", "with --from: the files to convert")
    .addHelpText(
      "after",
      examples(
        "idp init",
        "idp init --yes --for next-auth",
        "idp init --no-input --type public --redirect-uri http://localhost:5173/callback",
        "idp init --no-input --type confidential --client shop --user erin --user frank",
        "idp init --yes --port 5401",
        "idp init --mcp-config",
        "idp init --from keycloak realm-export.json",
      ),
    )
    .action(act(init));
};
