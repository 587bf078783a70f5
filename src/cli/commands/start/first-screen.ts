import { baseOf } from "../../../core/base/endpoints.ts";
import { commandOn, plainCommandLine, type CommandLine } from "../../../core/base/hint.ts";
import { quoteWord } from "../../../text/terminal.ts";
import { envFile } from "../env/choices.ts";
import type { Style } from "../../output/style.ts";
import { columnWidths, rowLines } from "../../output/table.ts";

/** The first screen of `idp start`. It is at most 80 cells wide, but what a person copies is never cut. */

/** A user as the screen shows it. */
interface ScreenUser {
  readonly username: string;
  readonly email: string;
  readonly status: "active" | "suspended" | "banned";
  /** Only for the built-in demo. */
  readonly password: string | null;
}

/** A client as the screen shows it. */
export interface ScreenClient {
  readonly id: string;
  readonly isPublic: boolean;
  /** True: a service provider of SAML, and nothing of OpenID Connect. */
  readonly isSaml?: true;
  /** False: keys or tokens of workloads prove who a confidential client is. */
  readonly hasSecret?: false;
  /** Only for the built-in demo, whose secrets are public. */
  readonly secret: string | null;
  readonly redirectUris: readonly string[];
  readonly grantTypes: readonly string[];
}

export interface Screen {
  readonly version: string;
  /** Milliseconds from the start of the process to ready. */
  readonly took: number;
  readonly issuer: string;
  /** Whether a person reads it at a terminal, where keys can be pressed. */
  readonly hasKeys: boolean;
  /** The first few users, and how many there are. */
  readonly users: { readonly first: readonly ScreenUser[]; readonly all: number };
  readonly clients: { readonly first: readonly ScreenClient[]; readonly all: number };
  /** The client that an app is likely to use; null if none signs users in. */
  readonly app: ScreenClient | null;
  /** Whether `.env.local` in the working folder has the app's issuer and client. */
  readonly isInEnvFile: boolean;
  /** Whether the client of `idp login` is registered. */
  readonly hasLogin: boolean;
  /** The first few of the issuers beside the first one, and how many there are. */
  readonly issuers: { readonly first: readonly (readonly [name: string, issuer: string])[]; readonly all: number };
  /** Where it listens, in words; null if the issuer says so. */
  readonly listens: string | null;
  /** The path of the certificate that `--https` made; absent without one. */
  readonly caFile?: string | undefined;
  /** Where the data is, in words. */
  readonly data: readonly string[];
  /** Which fixtures were applied, and what they added and changed. */
  readonly fixtures: readonly string[];
}

/** How many users and clients are shown before "… 14 more". */
export const maxRows = 6;

/** How many cells a line and its title take. */
const width = 80;
const titleWidth = 14;

/** Columns of plain text, aligned. */
function columns(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = columnWidths(rows, width - titleWidth);
  return rows.flatMap((row) => rowLines(row, widths, width - titleWidth));
}

const more = (all: number, shown: number, command: readonly string[], line: CommandLine): readonly string[] =>
  all > shown ? [`… ${all - shown} more: ${line(command)}`] : [];

function userRows({ users: { first, all } }: Screen, line: CommandLine): readonly string[] {
  if (all === 0) return ["none yet: name some in a fixture file"];
  const remark = ({ status, password }: ScreenUser): string =>
    status === "active" ? (password === null ? "" : `password ${password}`) : status;
  return [
    ...columns(first.map((user) => [user.username, user.email, remark(user)])),
    ...more(all, first.length, ["idp", "users", "list"], line),
  ];
}

function clientRows({ clients: { first, all } }: Screen, line: CommandLine): readonly string[] {
  if (all === 0) return ["none yet: name some in a fixture file"];
  return [
    ...columns(
      first.map(({ id, isPublic, isSaml, hasSecret, secret, redirectUris, grantTypes }) => [
        id,
        isSaml === true ? "SAML" : isPublic ? "public" : hasSecret === false ? "no secret" : (secret ?? "secret"),
        redirectUris[0] ?? grantTypes.join(" "),
      ]),
    ),
    ...more(all, first.length, ["idp", "clients", "list"], line),
  ];
}

const issuerRows = ({ issuers: { first, all } }: Screen, line: CommandLine): readonly string[] => [
  ...columns(first),
  ...more(all, first.length, ["idp", "issuers", "list"], line),
];

/** The settings that an app needs. */
function environment({ issuer, app }: Screen, line: CommandLine): readonly string[] {
  if (app === null) return [`OIDC_ISSUER=${issuer}`];
  const { id, isPublic, hasSecret, secret, redirectUris } = app;
  const secretLine =
    secret === null
      ? `# To show OIDC_CLIENT_SECRET: ${line(commandOn(["idp", "clients", "show"], id, ["--show-secrets"]))}`
      : `OIDC_CLIENT_SECRET=${quoteWord(secret)}`;
  return [
    `OIDC_ISSUER=${issuer}`,
    `OIDC_CLIENT_ID=${quoteWord(id)}`,
    ...(isPublic || hasSecret === false ? [] : [secretLine]),
    `OIDC_REDIRECT_URI=${quoteWord(redirectUris.find((uri) => !uri.includes("*")) ?? redirectUris[0]?.replace(":*", ":3000") ?? "")}`,
  ];
}

/** The whole screen, ending in a line break. @param line writes the commands on it */
export function firstScreen(screen: Screen, style: Style, line: CommandLine = plainCommandLine): string {
  const { issuer, took } = screen;
  const block = (title: string, lines: readonly string[]): string =>
    lines.map((line, index) => `  ${style.dim((index === 0 ? title : "").padEnd(10))}  ${line}`.trimEnd()).join("\n");
  return [
    "",
    `  ${style.bold(`idp ${screen.version}`)}   ${style.green(`ready in ${took < 1000 ? `${Math.round(took)} ms` : `${(took / 1000).toFixed(1)} s`}`)}`,
    "",
    block("Issuer", [style.cyan(issuer)]),
    ...(screen.listens === null ? [] : [block("Listens on", [screen.listens])]),
    ...(screen.caFile === undefined
      ? []
      : [block("HTTPS", [`Node.js trusts it with NODE_EXTRA_CA_CERTS=${quoteWord(screen.caFile)}`])]),
    block("Discovery", [`${baseOf(issuer)}/.well-known/openid-configuration`]),
    block("Inspector", [`${screen.hasKeys ? "press o, or run: " : ""}${line(["idp", "open"])}`]),
    ...(screen.issuers.all === 0 ? [] : [block("Issuers", issuerRows(screen, line))]),
    block("Account", [`${baseOf(issuer)}/account`]),
    ...(screen.hasLogin ? [block("Try it", [`${line(["idp", "login"])}, or open the issuer in a browser`])] : []),
    "",
    block("Users", userRows(screen, line)),
    block("Clients", clientRows(screen, line)),
    "",
    screen.isInEnvFile ? `  Already in ${envFile}:` : "  Put this in your app:",
    "",
    ...environment(screen, line).map((variable) => `  ${variable}`),
    "",
    block("Data", screen.data),
    block("Fixtures", screen.fixtures),
    "",
    style.dim("  For development and tests only. Ctrl+C to stop."),
    "",
  ].join("\n");
}
