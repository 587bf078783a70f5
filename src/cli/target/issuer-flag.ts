import { InvalidArgumentError, type AnyCommand as Command } from "../commander.ts";
import { hasTarget } from "../nouns.ts";
import { isWebUrl } from "../../text/url.ts";
import { globalFlags } from "../flags/global.ts";
import { OperationError } from "../../core/base/errors.ts";
import { issuerName } from "../../core/base/identifiers.ts";
import { addressOf } from "../../core/records/issuers/issuer-view.ts";

/**
 * `--issuer`: every command takes the name of an issuer to work on. A few also take a URL, and their help says what for. A name is never a
 * URL. IDP_ISSUER may be either, for all commands at once.
 */

/** The name of the issuer to work on; null for the first one, or the one at `--url`. */
export function namedIssuer(issuer: string | undefined, { IDP_ISSUER: set = "" }: NodeJS.ProcessEnv): string | null {
  const given = issuer ?? set;
  return issuerName.test(given) ? given : null;
}

/** The address of an issuer of the server at `url`. If `url` is not an address, it is refused when it is used. */
export const belowUrl = (url: string, name: string | null): string => (URL.canParse(url) ? addressOf(url, name) : url);

/** Passes a URL on to the command; a name is not passed on. @throws {OperationError} usage */
export function handIssuer(program: Command, command: Command, env: NodeJS.ProcessEnv): void {
  const { issuer } = globalFlags(program);
  const asIssuer: unknown = command.getOptionValue("asIssuer");
  // It is the iss of a token (RFC 9068 2.2); only IDP_ISSUER, which stands for both flags, may be a name.
  if (typeof asIssuer === "string" && command.getOptionValueSource("asIssuer") === "cli" && issuerName.test(asIssuer)) {
    throw new OperationError("usage", `--as-issuer "${asIssuer}" is not a URL, such as http://localhost:4370`, {
      hint: `For the issuer of that name: --issuer ${asIssuer}`,
    });
  }
  const option = command.options.find(({ long }) => long === "--issuer");
  const name = namedIssuer(issuer, env);
  if (name !== null) {
    if (command.name() === "start") {
      throw new OperationError("usage", `--issuer "${name}" is a name; idp start serves every issuer of the data`, {
        hint: { text: "To add one", command: ["idp", "issuers", "add", name] },
      });
    }
    if (option !== undefined) command.setOptionValue("issuer", undefined);
    // IDP_ISSUER may be the name of an issuer, for all commands.
    if (command.getOptionValueSource("asIssuer") === "env") command.setOptionValue("asIssuer", undefined);
    return;
  }
  if (issuer === undefined) return;
  const path = pathOf(command);
  if (option === undefined) {
    const hasOwn = command.options.some(({ long }) => long === "--as-issuer");
    const asIssuer = hasOwn ? "For the iss of the token: --as-issuer URL. " : "";
    throw new OperationError("usage", `--issuer takes the name of an issuer here: letters, digits, _ and -`, {
      hint:
        isWebUrl(issuer) && hasTarget(path)
          ? {
              text: `${asIssuer}Names are listed by idp issuers list. For a server elsewhere`,
              command: [...path, "--url", issuer],
            }
          : { text: `${asIssuer}To list the names`, command: ["idp", "issuers", "list"] },
    });
  }
  const parse = (before: unknown, value: string): unknown => option.parseArg?.(value, before) ?? value;
  try {
    command.setOptionValueWithSource("issuer", parse(undefined, issuer), "cli");
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    const hint = { text: "See", command: [...path, "--help"] };
    throw new OperationError("usage", `--issuer "${issuer}" is not valid. ${error.message}`, { hint, cause: error });
  }
}

/** `["idp", "users", "list"]` */
function pathOf(command: Command): readonly string[] {
  return command.parent === null ? [command.name()] : [...pathOf(command.parent), command.name()];
}
