import { forShell, hintText, plainCommandLine, type CommandLine, type Hint } from "../../base/hint.ts";

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

/** A fix that a server wrote with a command, in the words of a test. */
export const fixOfTest = (hint: Hint, fix: string | null): string | null =>
  hint.command === undefined || adviceFor(hint.command) === null ? fix : hintText(hint, commandLineOfTest);

/** Writes what to change in place of commands, for the server of a test. Pages are read while it runs: `open` and `login` stay commands. */
export const commandLineOfTest: CommandLine = (words, issuer = null, writing = forShell()) => {
  const advice = adviceFor(words);
  return advice === null ? plainCommandLine(words, issuer, writing) : writing.sentence(advice);
};
