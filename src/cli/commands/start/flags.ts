import { type Command, type FlagsOf, InvalidArgumentError, Option } from "../../commander.ts";
import { collect, wholeNumber } from "../../flags/flag-values.ts";
import { fixturesOption, withSettings } from "../../flags/settings.ts";

/** The flags of `idp start`. */

function port(value: string): number {
  if (value === "auto") return 0;
  const number = Number(value);
  if (!/^\d+$/.test(value) || number > 65_535)
    throw new InvalidArgumentError("It must be a number from 0 to 65535, or auto.");
  return number;
}

export const withStartFlags = (command: Command) =>
  withSettings(
    command
      .option("--port <port>", "a port, or auto for a free one (default: 4370)", port)
      .option("--host <host>", "the address to listen on (default: localhost, both 127.0.0.1 and ::1)")
      .option("--issuer <url>", "the issuer, used exactly as given (default: http://localhost:<port>)")
      .option(...fixturesOption)
      .option(
        "--issuers <count>",
        "also serve issuers w1 to w<count>, each with its own data and these fixtures",
        wholeNumber,
      )
      .option("--watch", "apply fixtures again when they change (default on a terminal)")
      .option("--no-watch", "read fixtures at the start only")
      .option("--memory", "keep everything in memory, nothing on disk")
      .option(
        "--allow-host <host>",
        "also answer under this host name; .name: all names below it too; *: any; repeatable",
        collect,
      )
      .option(
        "--trusted-proxy <cidr>",
        "limits count requests from this network by their X-Forwarded-For; repeatable",
        collect,
      )
      .option("--https", "serve https without any files, with a certificate of its own")
      .option("--cert <file>", "serve https with this PEM certificate; needs --key")
      .option("--key <file>", "the PEM private key of --cert")
      .addOption(
        new Option(
          "--backchannel <how>",
          "dynamic: discovery under another host name gives the back-channel endpoints under that name",
        ).choices(["off", "dynamic"]),
      )
      .option("--dynamic-registration", "let clients register themselves (RFC 7591)")
      .option("--templates <dir>", "a folder with your own pages, texts and stylesheet; what it lacks is built in")
      .option("--open", "open the start page in a browser")
      .option("--ready-file <file>", "a JSON file that exists while the server is ready")
      .option(
        "--control-tokens <file>",
        "tokens of the control API for a team, each with a role: a list of { name, role, token }",
      )
      .option("--until-stdin-closes", "stop when standard input closes, so that no server outlives a killed test"),
  );
export type StartFlags = FlagsOf<typeof withStartFlags>;
