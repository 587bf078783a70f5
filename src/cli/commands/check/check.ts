/*
 * cli/commands/check: the commands of `idp check`. check.ts declares `client`, `sp` and `api`, and calls leaver/ and scim/, which declare their own.
 * Types of flags are in flags.ts, flags that several commands share in common.ts.
 *
 * session.ts is the frame of every check. In it, flags.ts checks what was typed, accepted.ts reads which cases may go unnoticed, app-process.ts
 * runs the app, result.ts prints the result, report.ts writes files, and opened.ts closes what was opened. subject.ts has the words of the output.
 */
import { webUrl, seconds } from "../../flags/flag-values.ts";
import type { ApiFlags, CheckFlags, SpFlags } from "./flags.ts";
import { checkClient } from "./check-client.ts";
import { type Declare, examples } from "../../act.ts";
import { browserOption, handUrl, withAddresses, withCommon } from "./common.ts";
import { declareCheckLeaver } from "./leaver/check-leaver.ts";
import { declareCheckScim } from "./scim/check-scim.ts";
import { checkApi } from "./check-api.ts";
import { Option } from "../../commander.ts";
import { withVariables } from "../env/app-variables.ts";

const address = webUrl("http://localhost:3000/login");

const clientHelp = `
Each case lets the app sign a user in, with one thing wrong in a response, and
then asks --signed-in whether somebody is signed in: 2xx, and no redirect to
sign in. An ordinary sign-in must succeed first, between the cases and last.
Verdicts: noticed, unnoticed, not-required (the paragraph says so), not-reached,
works (a control, or a case that must still work). The exit code is 6 if
something went unnoticed that is not accepted or the app does not sign in, and 5
if it never answers at --start.

With -- CMD, a server in memory is started, and the app with the environment of
idp exec; both end with the command. Without it, the cases run on the running
server: on their own issuer, which the app must use, or on the issuer of
--client, where their faults apply only to that client.
`;

const apiHelp = `
Each case sends a request with one thing wrong: a token that expired, is for
another API or is not signed, a token in the address, and so on. A good token
must be let in first, between the cases and last. Verdicts: noticed (refused as
required), unnoticed (let in, or refused in another way), not-required (the
paragraph says so), not-reached, works. The exit code is 6 if something went
unnoticed that is not accepted or a good token is refused, and 5 if the API
never answers.

With -- CMD, a server in memory is started, and the API with the environment of
idp exec, OIDC_AUDIENCE and OIDC_JWKS_URI; both end with the command. Without
it, the tokens are those of the running server, for a user and a client that are
removed at the end.
`;

const spHelp = `
Each case brings the app a SAML response with one thing wrong: another audience,
no signature, a forged assertion beside the signed one, an answer to the request
of another browser, and so on. --who decides who is signed in. Two users must
sign in first: --user, and an attacker whose own signed response carries the
forged ones. Verdicts: noticed, unnoticed, not-required (the paragraph says so),
not-reached, works. The exit code is 6 if something went unnoticed that is not
accepted or a user does not sign in, and 5 if the app never answers at --start.

With -- CMD, a server in memory is started, and the app with the environment of
idp exec; both end with the command. Without it, the cases run on the running
server: on their own issuer, which the app must use, or on the issuer of
--client, where their faults apply only to that client.
`;

/** Declares the commands of `idp check`. The command of the app is after -- in the words that were typed. */
export const declareCheck: Declare = (check, declaring) => {
  const { act, program, words, env } = declaring;
  const client = withAddresses(
    check
      .command("client")
      .usage("[options] [-- <command...>]")
      .description("report which wrong responses an app does not notice")
      .argument("[command...]"),
  )
    .option("--signed-in-text <text>", "what --signed-in shows only to users, if it answers 200 to everybody")
    .addOption(new Option("--sign-out <url>", "an address that signs the user out").argParser(address))
    .addOption(
      new Option("--within <seconds>", "how soon a logout at the provider must end the session of the app")
        .argParser(seconds(0, 600))
        .default(2),
    )
    .option(...browserOption);
  withVariables(withCommon(client, "app", "--start"))
    .addHelpText(
      "after",
      clientHelp +
        examples(
          "idp check client --start http://localhost:3000/login --signed-in http://localhost:3000/me -- npm start",
          "idp check client --start http://localhost:3000/login --signed-in http://localhost:3000/me --client demo-app",
          "idp check client --start http://localhost:3000/login --signed-in http://localhost:3000/me --case pkce --report report.xml -- npm start",
        ),
    )
    .action(act((cli, before: readonly string[], flags: CheckFlags) => checkClient(cli, { before, words }, flags)));
  const sp = withAddresses(
    check
      .command("sp")
      .usage("[options] [-- <command...>]")
      .description("report which wrong SAML messages a service provider takes")
      .argument("[command...]"),
  )
    .addOption(
      new Option(
        "--who <url>",
        "a page that shows NameID, e-mail or name of the user (default: --signed-in)",
      ).argParser(address),
    )
    .option(
      "--attacker <username>",
      "another user whom the app admits (default: one that is added, and removed at the end)",
    )
    .option("--no-unsolicited", "the app must refuse a response that answers no request")
    .option(...browserOption);
  withCommon(sp, "app", "--start")
    .option("--client <client_id>", "the app's entityID (default: the first client with saml)")
    .addHelpText(
      "after",
      spHelp +
        examples(
          "idp check sp --start http://localhost:3000/login --signed-in http://localhost:3000/me -- npm start",
          "idp check sp --start http://localhost:3000/login --signed-in http://localhost:3000/ --who http://localhost:3000/me --attacker bob -- npm start",
          "idp check sp --start http://localhost:3000/login --signed-in http://localhost:3000/me --case xsw-3 --report report.xml -- npm start",
        ),
    )
    .action(
      // It has XML, which the others do without.
      act(async (cli, before: readonly string[], flags: SpFlags) =>
        (await import("./sp/check-sp.ts")).checkSp(cli, { before, words }, flags),
      ),
    );
  const api = check
    .command("api")
    .usage("[options] [-- <command...>]")
    .description("report which wrong requests an API does not refuse")
    .argument("[command...]")
    .option("--url <url>", "an address of the API that needs a token (IDP_URL names a server)")
    .hook("preAction", (_hooked, command) => {
      handUrl(program, command, env);
    })
    .option("--method <method>", "of the requests (default: GET; with --mcp: POST)")
    .option("--audience <uri>", "aud of good tokens (default: that of the client, else the issuer; with --mcp: --url)")
    .option("--scope <scopes>", 'of good tokens (default: "openid")')
    .option("--needs-scope <scope>", "a scope without which the API must answer 403")
    .option("--mcp", "it is an MCP server: also check its metadata")
    .option("--dpop", "send tokens that are bound to a key, and check the proofs");
  withVariables(withCommon(api, "API", "--url"))
    .addHelpText(
      "after",
      apiHelp +
        examples(
          "idp check api --url http://localhost:8080/orders --audience https://api.example.test -- npm start",
          "idp check api --url http://localhost:8080/orders --needs-scope orders:read --report report.xml -- npm start",
          "idp check api --url http://localhost:8080/mcp --mcp",
        ),
    )
    .action(act((cli, before: readonly string[], flags: ApiFlags) => checkApi(cli, { before, words }, flags)));
  declareCheckScim(check, declaring);
  declareCheckLeaver(check, declaring);
};
