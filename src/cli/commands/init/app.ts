import { randomBytes } from "node:crypto";
import { clientIdForm, clientIdRule, usernameForm } from "../../../core/base/identifiers.ts";
import { checkHttpHost, checkRedirectUri, hasOpenPort } from "../../../core/records/redirect-uri.ts";
import { OperationError } from "../../../core/base/errors.ts";
import { forms } from "../env/libraries.ts";
import { askText, choose } from "../../input/ask.ts";
import type { Invocation } from "../../invocation.ts";
import { loopbackRedirectUri, type AppType } from "./app-types.ts";
import type { NewApp } from "./fixtures.ts";
import type { InitFlags } from "./flags.ts";
import type { BuiltInVendor } from "../env/app-client.ts";
import { askLibrary, foundLibrary, namedLibrary, redirectUriFor, suits, typeFor, vendorFor } from "./library.ts";
import { schemaNearby } from "./place.ts";
import type { FoundLibrary, Project } from "./project.ts";
import { defaultSettings } from "../../../core/admin/settings/table.ts";

/** The app that a fixture file is written for, from flags, from the files in its folder and from answers. */

/** Short, so that the question and its answer fit a line of 80 cells. */
const typesInWords: readonly { readonly value: AppType; readonly name: string }[] = [
  { value: "public", name: "Browser app           public, PKCE" },
  { value: "confidential", name: "Server-rendered app   confidential" },
  { value: "service", name: "API or worker         client credentials" },
  { value: "cli", name: "Command line, device  public, any port" },
];

/** Whether to ask a person: `--yes` accepts what is proposed. */
const asks = (cli: Invocation): boolean => cli.interactive && !cli.yes;

async function askType(cli: Invocation, project: Project): Promise<AppType> {
  const proposed = (value: AppType): number => (value === project.framework?.type ? 0 : 1);
  const choices = [...typesInWords].sort((a, b) => proposed(a.value) - proposed(b.value));
  const chosen = await choose(cli, "What calls the identity provider?", choices, ["--type", "TYPE"]);
  return typesInWords.find(({ value }) => value === chosen)?.value ?? "public";
}

interface Kind {
  readonly type: AppType;
  readonly found: FoundLibrary | null;
  readonly notes: readonly string[];
}

const generic =
  "No framework is known here: this is for a web app with a secret. Another: --type TYPE or --for LIBRARY";

/** Without a known library there is no code to print. */
const unknownLibrary = ({ frameworkTitle }: Project): readonly string[] =>
  frameworkTitle === null
    ? []
    : [
        `No library that signs users in is known in this ${frameworkTitle} app. To print the code for one, add --for LIBRARY`,
      ];

/** What kind of app it is, and which library signs its users in. */
async function kindOf(cli: Invocation, flags: InitFlags, project: Project): Promise<Kind> {
  const { type: wanted, for: library } = flags;
  if (library !== undefined) {
    const type = wanted ?? typeFor(library);
    if (suits(type, library)) return { type, found: namedLibrary(project, library), notes: [] };
    throw new OperationError("usage", `--for ${library} is for another kind of app than --type ${type}`, {
      hint: "Leave out --type",
    });
  }
  const { found, note } = await foundLibrary(cli, project, asks(cli), wanted);
  if (found !== null) {
    return { type: wanted ?? typeFor(found.library), found, notes: note === null ? [] : [note] };
  }
  if (asks(cli)) {
    const type = wanted ?? (await askType(cli, project));
    return { type, found: await askLibrary(cli, project, type), notes: [] };
  }
  const type = wanted ?? project.framework?.type;
  return { type: type ?? "confidential", found: null, notes: type === undefined ? [generic] : unknownLibrary(project) };
}

const clientIdProblem = (text: string): string | null => (clientIdForm.test(text) ? null : clientIdRule);

const redirectUriProblem =
  (type: AppType) =>
  (text: string): string | null =>
    checkRedirectUri(text) ??
    checkHttpHost(text, defaultSettings) ??
    (type === "confidential" && hasOpenPort(text) ? "Only a public client may leave the port open." : null);

/** An address of the app, on the port that it listens on. */
function onPort(uri: string, port: number | undefined): string {
  const address = new URL(uri);
  if (port !== undefined) address.port = String(port);
  return address.href;
}

async function redirectUrisOf(cli: Invocation, flags: InitFlags, { type, found }: Kind, project: Project) {
  const { redirectUri, port } = flags;
  if (port !== undefined && (type === "service" || type === "cli" || redirectUri !== undefined)) {
    const why = redirectUri === undefined ? `an app of the type ${type}` : "--redirect-uri, which names a port";
    throw new OperationError("usage", `--port has no effect with ${why}`);
  }
  if (type === "service") {
    if (redirectUri === undefined) return [];
    throw new OperationError("usage", "a service signs nobody in: it takes no --redirect-uri");
  }
  if (redirectUri !== undefined) return redirectUri;
  const proposal = type === "cli" ? loopbackRedirectUri : onPort(redirectUriFor(project, found, type), port);
  if (!asks(cli)) return [proposal];
  const title = found?.title ?? (project.framework?.type === type ? project.frameworkTitle : null);
  const message = title === null ? "Redirect URI" : `Redirect URI (proposed for ${title})`;
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
  if (!asks(cli)) return ["alice", "bob"];
  return namesIn(await askText(cli, "Users to sign in with", { proposal: "alice, bob", problem: usersProblem }));
}

/** @returns found: the library; notes: what was chosen without asking */
export async function appOf(
  cli: Invocation,
  flags: InitFlags,
  project: Project,
): Promise<{ readonly app: NewApp; readonly found: FoundLibrary | null; readonly notes: readonly string[] }> {
  const kind = await kindOf(cli, flags, project);
  const { type, found, notes } = kind;
  const clientId =
    flags.client ??
    (asks(cli)
      ? await askText(cli, "Its client_id", { proposal: project.clientId, problem: clientIdProblem })
      : project.clientId);
  const redirectUris = await redirectUrisOf(cli, flags, kind, project);
  const afterSignOut = found === null ? "/" : (forms[found.library].afterSignOut ?? "/");
  const users = await usersOf(cli, flags, type);
  const vendor = found === null ? null : vendorFor(project, found);
  const isPublic = type === "public" || type === "cli";
  // Only letters and digits, so that no command takes it for a flag.
  const secret = isPublic || vendor === "apple" ? null : randomBytes(16).toString("hex");
  return {
    app: {
      type,
      clientId,
      redirectUris,
      afterSignOut,
      users,
      secret,
      env: [],
      vendor,
      apple: null,
      schema: schemaNearby(),
    },
    found,
    notes: [...notes, ...vendorNotes(project, vendor)],
  };
}

/** What stands in for the vendors whose buttons the app has. @param chosen that of the fixtures; null for none */
const vendorNotes = ({ vendors }: Project, chosen: BuiltInVendor | null): readonly string[] =>
  vendors.map(({ vendor, variable }) =>
    vendor === chosen
      ? `The app signs users in with ${vendor} (${variable}): the fixtures have the setting endpoints: ${vendor}`
      : `The app signs users in with ${vendor} (${variable}). An issuer with the setting endpoints: ${vendor} answers as ${vendor} does: docs/vendors.md has the lines for your library`,
  );
