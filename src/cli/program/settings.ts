import { InvalidArgumentError, Option, type Command } from "commander";
import { factorNames, type Factor } from "../../core/step-up/names.ts";
import { collect, collectList, notListed, seconds } from "./flag-values.ts";

/** Flags of the commands that run a server. */

export const fixturesOption = [
  "--fixtures <path>",
  "a fixture file or folder, - for stdin, or the text itself ({…}); repeatable (env: IDP_FIXTURES)",
  collect,
] as const;

function login(value: string): string {
  if (!/^(picker|password|auto:.+)$/.test(value)) {
    throw notListed(
      value,
      ["picker", "password"],
      "It must be picker, password, or auto: and a username, as in auto:USERNAME.",
    );
  }
  return value;
}

function factors(value: string): readonly Factor[] {
  return value.split(",").map((name) => {
    const factor = factorNames.find((known) => known === name.trim());
    if (factor === undefined)
      throw notListed(name, factorNames, `It must be a list of ${factorNames.join(", ")}, as in pwd,otp.`);
    return factor;
  });
}

/** The name of a vendor, or paths as JSON. The content is checked with the other settings. */
function endpoints(value: string): unknown {
  if (!value.startsWith("{")) return value;
  try {
    return JSON.parse(value);
  } catch {
    throw new InvalidArgumentError('It must be the name of a vendor, or JSON like {"authorize":"/authorize"}.');
  }
}

/** The settings of fixtures, as flags. */
export const withSettings = (command: Command): Command =>
  command
    .optionsGroup("Settings (these override the fixtures):")
    .option("--login <how>", "picker, password, or auto:<username> to sign in without a page", login)
    .option("--factors <factors>", "what the user of --login auto: proves, such as pwd,otp", factors)
    .addOption(new Option("--consent <how>", "ask, or skip to approve without a page").choices(["ask", "skip"]))
    .addOption(
      new Option("--access-token-alg <alg>", "RS256: for resource servers that verify by JWKS").choices([
        "HS256",
        "RS256",
      ]),
    )
    .addOption(
      new Option("--access-token-typ <typ>", "JWT: for resource servers that do not accept at+jwt").choices([
        "at+jwt",
        "JWT",
      ]),
    )
    .addOption(
      new Option("--dpop-nonce <how>", "required: DPoP proofs need a nonce of the server").choices(["off", "required"]),
    )
    .addOption(
      new Option(
        "--userinfo-format <form>",
        "the UserInfo format of clients that set none (default: combined)",
      ).choices(["native", "standard", "combined"]),
    )
    .addOption(
      new Option("--id-token-claims <set>", "the claims in ID tokens of clients that set none (default: all)").choices([
        "all",
        "minimal",
      ]),
    )
    .option("--code-ttl <seconds>", "lifetime of an authorization code", seconds(1))
    .option("--access-token-ttl <seconds>", "lifetime of an access token", seconds(1))
    .option("--refresh-token-ttl <seconds>", "lifetime of a refresh token", seconds(1))
    .option("--session-ttl <seconds>", "lifetime of a browser session", seconds(1))
    .addOption(
      new Option("--refresh-rotation <on|off>", "issue a new refresh token at each refresh").choices(["on", "off"]),
    )
    .option("--refresh-grace <seconds>", "how long a rotated refresh token still works", seconds(0))
    .option(
      "--http-redirect-hosts <hosts>",
      "hosts that may use plain http, such as names in a container network; repeatable",
      collectList,
    )
    .option("--any-loopback-port", "let confidential clients register loopback redirect URIs with any port")
    .option("--registration-loopback", "let clients that register themselves use loopback addresses (jwks_uri, …)")
    .option("--mcp", "for MCP servers and clients: metadata documents, registration, RS256 access tokens")
    .option("--client-metadata-documents", "accept a client_id that is the https URL of its metadata document")
    .option("--client-metadata-loopback", "allow metadata documents on this machine, on plain http too")
    .option(
      "--endpoints <paths>",
      'the paths of auth0, okta, keycloak, cognito or entra for its SDK; or your own as JSON: {"token":"/token"}',
      endpoints,
    );
