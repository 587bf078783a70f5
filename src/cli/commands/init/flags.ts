import { collect, appPort } from "../../flags/flag-values.ts";
import { toolNames } from "../../../migrate/tool-names.ts";
import { appTypes } from "./app-types.ts";
import { libraries } from "../env/choices.ts";
import { type Command, type FlagsOf, Option } from "../../commander.ts";

export const withInitFlags = (command: Command) =>
  command
    .addOption(
      new Option(
        "--type <type>",
        "public: an app in the browser; confidential: one that a server renders; service: an API or worker; cli: a command line or device",
      ).choices(appTypes),
    )
    .addOption(
      new Option("--for <library>", "the library that signs users in (default: found in the project)").choices(
        libraries,
      ),
    )
    .addOption(
      new Option("--from <tool>", "convert another tool's file, and list what could not be converted").choices(
        toolNames,
      ),
    )
    .option("--client <client_id>", "the app's client_id (default: the name in package.json)")
    .option("--redirect-uri <uri>", "a redirect URI of the app; repeatable", collect)
    .option("--port <port>", "the port that the app listens on (default: its framework's)", appPort)
    .option("--user <username>", "a user; the password is the username; repeatable (default: alice, bob)", collect)
    .option("--mcp-config", "write the entry of idp mcp-server for coding agents into .mcp.json")
    .option("--force", "replace an existing idp.fixtures.yaml")
    .option("--stdout", "print the file and write nothing");
export type InitFlags = FlagsOf<typeof withInitFlags>;
