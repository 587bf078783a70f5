import { issuerName } from "../../core/base/identifiers.ts";
import { webUrl } from "./flag-values.ts";
import { type Command, type Flags, Option } from "../commander.ts";

/** Flags of everything that is issued for a user and a client. */
export const withUserAndClient = <A extends unknown[], F extends Flags, G extends Flags>(command: Command<A, F, G>) =>
  command
    .option("--user <username>", "the user")
    .option("--client <client_id>", "the client")
    .option("--scope <scopes>", 'scopes, separated by spaces (default: "openid")');

const url = webUrl("http://localhost:4370");

/** Adds the flag for the issuer of tokens. A running server has its own. */
export const withIssuer = <A extends unknown[], F extends Flags, G extends Flags>(command: Command<A, F, G>) =>
  command.addOption(
    new Option("--as-issuer <url>", "the issuer if no server is running (default: the last one used with the data)")
      // IDP_ISSUER may be the name of an issuer, for all commands.
      .argParser((value) => (issuerName.test(value) ? value : url(value)))
      .env("IDP_ISSUER"),
  );
