import { plainCommandLine, type CommandLine } from "../hint.ts";
import { clientIdForm } from "../identifiers.ts";
import { isDocumentUrl } from "../clients/documents.ts";
import { allowanceFor } from "../clients/redirect-patterns.ts";
import { staysNear } from "../clients/redirect-uri.ts";
import type { Context } from "../context.ts";
import type { KeptRequest } from "./ledger.ts";

/**
 * What a failed test says in place of a command: its server is gone when the evidence is read. What the command does is then done in the
 * fixtures, in the test or in the app.
 */

/** The values of a flag, in either form. */
const valuesOf = (words: readonly string[], flag: string): readonly string[] =>
  words.flatMap((word, at) =>
    word === flag ? (words[at + 1] ?? []) : word.startsWith(`${flag}=`) ? word.slice(flag.length + 1) : [],
  );

/** The first one; undefined without the flag. */
const valueOf = (words: readonly string[], flag: string): string | undefined => valuesOf(words, flag)[0];

/** The fields that `--set`, `--scope` and the like change, as a fixture file has them. @param of names their record, where nothing before does */
function changesIn(words: readonly string[], of = ""): readonly string[] {
  const [field = "", ...value] = (valueOf(words, "--set") ?? "").split("=");
  const scope = valueOf(words, "--scope");
  const scopes = valuesOf(words, "--add-scope");
  const uri = valueOf(words, "--add-redirect-uri");
  const logoutUri = valueOf(words, "--add-post-logout-uri");
  const acs = valueOf(words, "--add-saml-acs") ?? valueOf(words, "--saml-acs");
  const email = valueOf(words, "--email");
  const redirectUri = valueOf(words, "--redirect-uri");
  return [
    ...(field === "" ? [] : [`set ${field}${of} to ${value.join("=")}`]),
    ...(scope === undefined ? [] : [`set scope${of} to ${scope}`]),
    ...(scopes.length === 0 ? [] : [`add ${scopes.join(" and ")} to scope${of}`]),
    ...(uri === undefined ? [] : [`add ${uri} to redirect_uris${of}`]),
    ...(logoutUri === undefined ? [] : [`add ${logoutUri} to post_logout_redirect_uris${of}`]),
    ...(redirectUri === undefined ? [] : [`set redirect_uris${of} to [${redirectUri}]`]),
    ...(acs === undefined ? [] : [`add ${acs} to saml.acs${of}`]),
    ...(email === undefined ? [] : [`set email${of} to ${email}`]),
    ...(words.includes("--password-stdin") ? [`set password${of}`] : []),
  ];
}

/** The record that the command is about: its argument. */
function nameIn(words: readonly string[]): string {
  const afterDashes = words.includes("--") ? words.at(-1) : undefined;
  return afterDashes ?? words.find((word, at) => at > 2 && !word.startsWith("-")) ?? "";
}

/** A setting of `start`, as a fixture file has it; null for a flag of the server itself. */
function settingIn([, , flag = "", value]: readonly string[]): string | null {
  const name = flag.replace(/^--/, "").replaceAll("-", "_");
  if (["allow_host", "data", "port"].includes(name)) return null;
  return `in the fixtures, set ${name} to ${value ?? "true"} under settings`;
}

/** @returns null for a command that needs no server, and for one that no evidence has */
function adviceFor(words: readonly string[]): string | null {
  const [program, noun = "", verb = ""] = words;
  if (program === "curl") return `read ${words.at(-1) ?? ""} while the server runs`;
  if (program !== "idp") return null;
  if (noun === "start") return settingIn(words) ?? `start the server with ${words.slice(2).join(" ")}`;
  const one = noun.replace(/s$/, "");
  const name = nameIn(words);
  switch (`${noun} ${verb}`) {
    case "clients list":
    case "users list":
    case "keys list":
      return `see the ${noun} ${noun === "keys" ? "in the JWKS while the server runs" : "in the fixtures"}`;
    case "clients show":
    case "users show":
      return `see the ${one} ${name} in the fixtures`;
    case "users otp":
      return `in the test, ask the server for the code of ${name}: users.otp`;
    case "users restore":
      return `in the fixtures or the test, make the user ${name} active`;
    case "clients add":
    case "users add":
    case "clients edit":
    case "users edit": {
      if (words.includes("--saml-metadata")) return "in the fixtures, add a client with its metadata in saml";
      const record = `the ${one} ${name}`;
      if (verb === "add") return `in the fixtures, add ${[record, ...changesIn(words)].join(", ")}`;
      const changes = changesIn(words, ` of ${record}`).join(" and ");
      return changes === "" ? `see ${record} in the fixtures` : `in the fixtures, ${changes}`;
    }
    case "issue grant":
      return `in the fixtures, add under grants: { user: ${valueOf(words, "--user") ?? ""}, client: ${valueOf(words, "--client") ?? ""}, scope: ${valueOf(words, "--scope") ?? ""} }`;
    case "issuers add":
      return `in the test, add the issuer ${name} first`;
    case "clock reset":
    case "clock advance":
      return `in the test, ${verb} the clock${verb === "advance" ? ` by ${name}` : ""}`;
    default:
      return null;
  }
}

/** Writes what to change in place of commands, for the server of a test. Pages are read while it runs: `open` and `login` stay commands. */
export const commandLineOfTest: CommandLine = (words, issuer = null) =>
  adviceFor(words) ?? plainCommandLine(words, issuer);

/** Whether a line of {@link commandLineOfTest} is a sentence, which nobody can paste. */
export const isAdvice = (line: string): boolean => /^(?:in the|see the|read|start the server) /.test(line);

/** A fix of a server that was started without {@link commandLineOfTest}, for a test of it that failed. */
export function fixOfTest(fix: string): string {
  const at = /(?:^|: )(?=(?:npx dev-idp|idp|curl) )/.exec(fix);
  if (at === null) return fix;
  const from = at.index + at[0].length;
  const quoted = fix.slice(from).match(/(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\])+/g) ?? [];
  const words = quoted.map((word) => word.replaceAll(/'([^']*)'|"([^"]*)"|\\(.)/g, "$1$2$3"));
  const own = words[0] === "npx" ? ["idp", ...words.slice(2)] : words;
  const target = ["--url", "--data", "--store", "--admin-token-file", "--issuer"];
  const plain = own.filter((word, index) => !target.includes(word) && !target.includes(own[index - 1] ?? ""));
  const advice = adviceFor(plain);
  return advice === null ? fix : fix.slice(0, from) + advice;
}

/** What repairs a refused request. */
interface Fix {
  readonly kind: "add-redirect-uri" | "create-client" | "restore";
  /** A client id or a username. */
  readonly target: string;
  /** The redirect URI; null: the fix needs none. */
  readonly uri: string | null;
  /** Whether somebody made it since. */
  readonly isMade: boolean;
}

/** A parameter as it was sent; null where the ledger recorded less than all of it. */
function sent({ parameters }: KeptRequest, name: string): string | null {
  const value = parameters[name];
  return typeof value === "string" && !value.includes("…") ? value : null;
}

/** Whether the fix that the ledger recorded is a command with these words. */
const proposes = ({ refusal }: KeptRequest, ...words: readonly string[]): boolean =>
  words.every((word) => refusal?.hint?.command?.includes(word) === true);

/** The fix, by the records as they are now; null: there is none. */
export const fixOf = (ctx: Context, record: KeptRequest): Promise<Fix | null> =>
  ctx.store.read((tx) => {
    const user = record.user === null ? undefined : tx.find("users", "username", record.user);
    if (user !== undefined && (user.status !== "active" || proposes(record, "users", "restore")))
      return { kind: "restore", target: user.username, uri: null, isMade: user.status === "active" };
    const [clientId, uri] = [sent(record, "client_id") ?? record.client, sent(record, "redirect_uri")];
    // Anybody can send a request, and a click must not let its sender receive codes at another host.
    if (clientId === null || uri === null || !staysNear(uri, ctx.settings)) return null;
    const client = tx.get("clients", clientId);
    // Only the client can change its metadata document.
    if (client?.fromDocument === true || (client === undefined && isDocumentUrl(clientId, ctx))) return null;
    if (client === undefined) {
      return clientIdForm.test(clientId) ? { kind: "create-client", target: clientId, uri, isMade: false } : null;
    }
    const isRegistered = allowanceFor(ctx, client, uri) !== null;
    const wasProposed = proposes(record, "--add-redirect-uri") || proposes(record, "clients", "add");
    if (isRegistered && !wasProposed) return null;
    return { kind: "add-redirect-uri", target: clientId, uri, isMade: isRegistered };
  });
