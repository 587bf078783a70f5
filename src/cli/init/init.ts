/*
 * cli/init: `idp init`: from an app's folder to a fixture file.
 */
import { randomBytes } from "node:crypto";
import { clientIdForm } from "../../core/clients/client-id.ts";
import { OperationError } from "../../core/errors.ts";
import { checkHttpHost } from "../../core/clients/http-hosts.ts";
import { defaultSettings } from "../../core/context.ts";
import { checkRedirectUri, hasOpenPort } from "../../core/clients/redirect-uri.ts";
import { checkFixtures } from "../../core/fixtures/apply/seed.ts";
import { usernameForm } from "../../core/users/username.ts";
import type { Hint } from "../../core/hint.ts";
import { loopbackRedirectUri, type AppType } from "../program/app-types.ts";
import { askText, choose, needed } from "../input/ask.ts";
import { fixtureText, type App } from "./fixtures.ts";
import type { InitFlags } from "./flags.ts";
import { checkPlace, file, ignoreSecrets, schemaNearby, writeFixtures } from "./place.ts";
import { projectOf, usual, type Project } from "./project.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { findServer, startCommand } from "../target/target.ts";
import { pairs } from "../output/table.ts";

/** Short enough for the question and its answer to stand on one line of 80. */
const typesInWords: readonly { readonly value: AppType; readonly name: string }[] = [
  { value: "public", name: "Browser app           public, PKCE" },
  { value: "confidential", name: "Server-rendered app   confidential" },
  { value: "service", name: "API or worker         client credentials" },
  { value: "cli", name: "Command line, device  public, any port" },
];

/** The command once more, with a flag besides: off a terminal nobody is asked for a type that was not given. */
function again(
  cli: Invocation,
  { type, client, redirectUri = [], user = [] }: InitFlags,
  flag: string,
): readonly string[] {
  const isTold = type !== undefined || cli.interactive || projectOf(process.cwd()).type !== null;
  const words = [
    ...(isTold ? [] : ["--type", "public"]),
    ...(type === undefined ? [] : ["--type", type]),
    ...(client === undefined ? [] : ["--client", client]),
    ...redirectUri.flatMap((uri) => ["--redirect-uri", uri]),
    ...user.flatMap((name) => ["--user", name]),
  ];
  return ["idp", "init", ...words, flag];
}

async function typeOf(cli: Invocation, flags: InitFlags, project: Project): Promise<AppType> {
  if (flags.type !== undefined) return flags.type;
  if (!cli.interactive) {
    if (project.type !== null) return project.type;
    throw needed("the type of the app", "Give it: --type public, confidential, service or cli");
  }
  const proposed = (value: AppType): number => (value === project.type ? 0 : 1);
  const choices = [...typesInWords].sort((a, b) => proposed(a.value) - proposed(b.value));
  const chosen = await choose(cli, "What calls the identity provider?", choices, ["--type", "TYPE"]);
  return typesInWords.find(({ value }) => value === chosen)?.value ?? "public";
}

const clientIdProblem = (text: string): string | null =>
  clientIdForm.test(text) ? null : "1 to 200 visible ASCII characters, without spaces, not . or ..";

const redirectUriProblem =
  (type: AppType) =>
  (text: string): string | null =>
    checkRedirectUri(text) ??
    checkHttpHost(text, defaultSettings) ??
    (type === "confidential" && hasOpenPort(text) ? "Only a public client may leave the port open." : null);

async function redirectUrisOf(cli: Invocation, flags: InitFlags, type: AppType, project: Project) {
  if (type === "service") {
    if (flags.redirectUri === undefined) return [];
    throw new OperationError("usage", "a service signs nobody in: it takes no --redirect-uri");
  }
  if (flags.redirectUri !== undefined) return flags.redirectUri;
  // What a framework returns to is right for an app of its type only.
  const known = type === project.type;
  const web = known ? project.redirectUri : usual.redirectUri;
  const proposal = type === "cli" ? loopbackRedirectUri : web;
  if (!cli.interactive) return [proposal];
  const message =
    known && project.framework !== null ? `Redirect URI (proposed for ${project.framework})` : "Redirect URI";
  return [await askText(cli, message, { proposal, problem: redirectUriProblem(type) })];
}

const namesIn = (text: string): readonly string[] => [...new Set(text.split(/[\s,]+/).filter((name) => name !== ""))];

function usersProblem(text: string): string | null {
  const wrong = namesIn(text).find((name) => !usernameForm.test(name));
  return wrong === undefined ? null : `"${wrong}" is not a username: letters a to z, digits and . _ - @ +`;
}

async function usersOf(cli: Invocation, { user }: InitFlags, type: AppType): Promise<readonly string[]> {
  if (user !== undefined) return [...new Set(user)];
  if (type === "service") return [];
  if (!cli.interactive) return ["alice", "bob"];
  return namesIn(await askText(cli, "Users to sign in with", { proposal: "alice, bob", problem: usersProblem }));
}

async function appOf(cli: Invocation, flags: InitFlags): Promise<App> {
  const project = projectOf(process.cwd());
  const type = await typeOf(cli, flags, project);
  const clientId =
    flags.client ??
    (cli.interactive
      ? await askText(cli, "Its client_id", { proposal: project.clientId, problem: clientIdProblem })
      : project.clientId);
  const redirectUris = await redirectUrisOf(cli, flags, type, project);
  const users = await usersOf(cli, flags, type);
  const isPublic = type === "public" || type === "cli";
  return {
    ...{ type, clientId, redirectUris, users },
    // Of letters and digits alone: no shell takes it for a flag.
    secret: isPublic ? null : randomBytes(16).toString("hex"),
    schema: schemaNearby(),
  };
}

/** The flag that a field came from. */
const flagOf = (path: string): string =>
  path.startsWith("users") ? "--user" : path.includes("redirect_uris") ? "--redirect-uri" : "--client";

/** The file as our own checker reads it: what it would refuse came from a flag. @throws {OperationError} usage */
async function checkText(text: string): Promise<void> {
  try {
    await checkFixtures([{ name: file, text }]);
  } catch (error) {
    const [problem] = error instanceof OperationError ? error.problems : [];
    if (problem === undefined) throw error;
    throw new OperationError("usage", `${flagOf(problem.path)} ${problem.message}`);
  }
}

/** `idp init`: a fixture file for an app. @param files of another tool, with `--from` */
export async function init(cli: Invocation, files: readonly string[], flags: InitFlags): Promise<Outcome> {
  if (flags.from !== undefined) return (await import("./from.ts")).initFrom(cli, flags.from, files, flags);
  if (files.length > 0) {
    throw new OperationError("usage", `${files.join(" ")}: a file is read with --from only`, {
      hint: { text: "Write", command: ["idp", "init", "--from", "TOOL", ...files] },
    });
  }
  const place = { flags, again: (flag: string) => again(cli, flags, flag) };
  checkPlace(place);
  const app = await appOf(cli, flags);
  const text = fixtureText(app);
  await checkText(text);
  const { clientId: client_id, secret, redirectUris: redirect_uris, users } = app;
  const document = {
    file: flags.stdout === true ? null : file,
    client: { client_id, ...(secret !== null && { client_secret: secret }), redirect_uris },
    users: users.map((username) => ({ username, password: username })),
    ...(flags.stdout === true && { text }),
  };
  if (flags.stdout === true) return answer(document, () => text.trimEnd());
  writeFixtures(place, text);
  const ignored = ignoreSecrets();
  const server = await findServer(cli).catch(() => null);
  const longest = Math.max(0, ...users.map((username) => username.length));
  const next: Hint =
    server === null
      ? { text: "Next", command: startCommand }
      : { text: `Next, for the server that runs at ${server.url}`, command: ["idp", "seed"] };
  return answer(
    document,
    (shown, style) =>
      [
        `Created ${style.bold(file)}`,
        pairs(
          [
            ["Client", shown.client.client_id],
            ...(shown.client.client_secret === undefined ? [] : [["Secret", shown.client.client_secret] as const]),
            ...shown.client.redirect_uris.map((uri) => ["Returns to", uri] as const),
            ...shown.users.map(
              ({ username, password }, index) =>
                [index === 0 ? "Users" : "", `${username.padEnd(longest)}  password ${password}`] as const,
            ),
          ],
          style,
          "  ",
        ),
      ].join("\n"),
    {
      notes: [
        ...(ignored.length === 0 ? [] : [`Added to .gitignore: ${ignored.join(" ")}`]),
        next,
        { text: "What your app needs to know", command: ["idp", "env"] },
        { text: "To run your tests with it", command: ["idp", "exec", "--", "npm", "test"] },
      ],
    },
  );
}
