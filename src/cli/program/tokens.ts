import { InvalidArgumentError, Option, type Command } from "commander";
import type { IssueCodeFlags, IssueFlags, IssueTokensFlags } from "../issue.ts";
import { examples, type Act } from "../act.ts";
import { seconds } from "./flag-values.ts";
import { setClaim } from "./set-field.ts";
import type { TokenIssueFlags } from "../tokens/issue.ts";
import type { VerifyFlags } from "../tokens/verify.ts";

/** The commands that issue, read and check tokens. */

/** Flags of everything that is issued for a user and a client. */
const forWhom = (command: Command): Command =>
  command
    .option("--user <username>", "for this user")
    .option("--client <client_id>", "for this client")
    .option("--scope <scopes>", 'scope names with spaces between them (default: "openid")');

function url(value: string): string {
  if (!URL.canParse(value) || !/^https?:/.test(value)) {
    throw new InvalidArgumentError("It is an address such as http://localhost:4370.");
  }
  return value;
}

/** Of tokens; a running server has its own. */
const withIssuer = (command: Command): Command =>
  command.addOption(
    new Option("--issuer <url>", "without a server: the issuer (default: the one the data was last served under)")
      .argParser(url)
      .env("IDP_ISSUER"),
  );

function declareIssue(program: Command, act: Act): void {
  const issue = program.command("issue").description("issue grants, codes or tokens without a browser");
  forWhom(issue.command("grant"))
    .description("record a consent")
    .addHelpText(
      "after",
      examples(
        'idp issue grant --user alice --client demo-app --scope "openid profile"',
        "idp issue grant --user alice --client demo-app --json | jq -r .id",
      ),
    )
    .action(act(async (cli, flags: IssueFlags) => (await import("../issue.ts")).issueGrant(cli, flags)));
  forWhom(issue.command("code"))
    .description("print an authorization code, as a running server would send it to the client")
    .option("--redirect-uri <uri>", "the redirect URI (default: the client's own, where it has one)")
    .option("--state <state>", "returned with the code")
    .option("--nonce <nonce>", "copied into the ID token")
    .option("--code-challenge <challenge>", "of PKCE, S256")
    .addHelpText(
      "after",
      examples(
        "idp issue code --user alice --client demo-app",
        'idp issue code --user alice --client demo-spa --scope "openid email" --code-challenge E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      ),
    )
    .action(act(async (cli, flags: IssueCodeFlags) => (await import("../issue.ts")).issueCode(cli, flags)));
  withIssuer(forWhom(issue.command("tokens")))
    .description("print a token response")
    .option("--nonce <nonce>", "copied into the ID token")
    .addHelpText(
      "after",
      examples(
        "idp issue tokens --user alice --client demo-app",
        'idp issue tokens --user alice --client demo-app --scope "openid email" --json | jq -r .id_token',
      ),
    )
    .action(act(async (cli, flags: IssueTokensFlags) => (await import("../issue.ts")).issueTokens(cli, flags)));
}

function declareToken(program: Command, act: Act): void {
  const token = program.command("token").description("decode, verify, introspect, issue and revoke tokens");
  const given = "a token, or - for standard input; Bearer … and a whole token response will do";
  token
    .command("decode")
    .description(
      "show what a token says, without a server and without any check; of several, each (--json: by name, or a list)",
    )
    .argument("[token]", given)
    .addHelpText(
      "after",
      examples("idp token decode eyJhbGciOi…", "pbpaste | idp token decode", "idp token decode - --json < tokens.json"),
    )
    .action(act(async (cli, text?: string) => (await import("../tokens/decode.ts")).tokenDecode(cli, text)));
  token
    .command("verify")
    .description("verify a token and report every check; exit 6 if one fails")
    .argument("[token]", given)
    .option("--audience <audience>", "the audience it must be for")
    .option("--leeway <seconds>", "seconds that clocks may be apart (default: 0)", seconds(0))
    .optionsGroup("With other keys than those of this server or folder:")
    .option("--issuer <url>", "the keys that this issuer publishes; with --jwks only whose the token must be", url)
    .option("--jwks <file|url>", "the keys of a JWK Set")
    .option("--secret-stdin", "the secret of HS256 is on standard input")
    .addHelpText(
      "after",
      examples(
        "idp token verify - --audience https://api.test < token.txt",
        "idp token verify - --issuer https://accounts.example.com < token.txt",
        'printf %s "$SECRET" | idp token verify eyJhbGciOi… --secret-stdin',
      ),
    )
    .action(
      act(async (cli, text: string | undefined, flags: VerifyFlags) =>
        (await import("../tokens/verify.ts")).tokenVerify(cli, text, flags),
      ),
    );
  withIssuer(token.command("introspect"))
    .description("tell what a token is good for now; exit 6 and the reason where it is inactive")
    .argument("[token]", given)
    .addHelpText(
      "after",
      examples("idp token introspect eyJhbGciOi…", "idp token introspect - --json < token.txt | jq -r .scope"),
    )
    .action(
      act(async (cli, text: string | undefined, flags: { issuer?: string }) =>
        (await import("../tokens/introspect.ts")).tokenIntrospect(cli, text, flags),
      ),
    );
  withIssuer(forWhom(token.command("issue")))
    .description("print a bare token and nothing else; without --user, one of the client for itself")
    .addOption(new Option("--type <type>", "which token").choices(["access", "id", "refresh"]).default("access"))
    .option("--claim <name=value>", "a claim more, JSON or text; may be repeated", setClaim)
    .option("--expires-in <seconds>", "how long it lives", seconds(1))
    .option("--audience <audience>", "aud in place of the usual one")
    .optionsGroup("Bad on purpose, for tests of what reads tokens:")
    .option("--expired", "exp an hour ago")
    .option("--not-yet-valid", "nbf an hour from now")
    .option("--wrong-issuer", "another iss")
    .option("--wrong-audience", "another aud")
    .option("--bad-signature", "one bit of the signature is wrong")
    .option("--unknown-kid", "signed with a key that nobody publishes")
    .option("--alg-none", "not signed")
    .addHelpText(
      "after",
      examples(
        "TOKEN=$(idp token issue --user alice --client demo-app)",
        "idp token issue --client demo-service --audience https://api.test --claim tenant=acme",
        "idp token issue --user alice --client demo-app --expired --wrong-issuer",
      ),
    )
    .action(act(async (cli, flags: TokenIssueFlags) => (await import("../tokens/issue.ts")).tokenIssue(cli, flags)));
  token
    .command("revoke")
    .description("revoke one token; with a refresh token its access tokens die too")
    .argument("[token]", given)
    .addHelpText("after", examples("idp token revoke eyJhbGciOi…", "idp token revoke - < token.txt"))
    .action(act(async (cli, text?: string) => (await import("../tokens/revoke.ts")).tokenRevoke(cli, text)));
}

/** Adds the commands on tokens to the program. */
export function declareTokens(program: Command, act: Act): void {
  program.commandsGroup("Tokens:");
  declareIssue(program, act);
  declareToken(program, act);
}
