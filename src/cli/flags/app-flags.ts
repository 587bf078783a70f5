import { variableName, variablePrefix } from "../commands/env/app-variables.ts";
import type { Command, Flags } from "../commander.ts";

/** Adds the flags that name the app's client and its variables. */
export const withVariables = <A extends unknown[], F extends Flags, G extends Flags>(command: Command<A, F, G>) =>
  command
    .option("--client <client_id>", "the app's client (default: the first that signs users in)")
    .option("--prefix <prefix>", "prefix of each name, as in VITE_OIDC_ISSUER", variablePrefix)
    .option(
      "--name <value=NAME>",
      "another name for issuer, client_id, client_secret or redirect_uri; repeatable",
      variableName,
    );
