import { Option, type Command } from "commander";
import type { IssueCodeFlags, IssueFlags, IssueSamlFlags, IssueTokensFlags } from "../commands/issue.ts";
import { issuerName } from "../../core/issuers/issuer-view.ts";
import { examples, type Act } from "../act.ts";
import { once, seconds, webUrl } from "../flags/flag-values.ts";
import { setClaim } from "../flags/set-field.ts";
import { withFlaws } from "../commands/token/flaws.ts";
import type { TokenIssueFlags } from "../commands/token/issue.ts";
import type { VerifyFlags } from "../commands/token/verify.ts";

/** The commands that issue, read and check tokens. */

/** Flags of everything that is issued for a user and a client. */
const forWhom = (command: Command): Command =>
  command
    .option("--user <username>", "the user")
    .option("--client <client_id>", "the client")
    .option("--scope <scopes>", 'scopes, separated by spaces (default: "openid")');

const url = webUrl("http://localhost:4370");

/** Adds the flag for the issuer of tokens. A running server has its own. */
const withIssuer = (command: Command): Command =>
  command.addOption(
    new Option("--as-issuer <url>", "the issuer if no server is running (default: the last one used with the data)")
      // IDP_ISSUER may be the name of an issuer, for all commands.
      .argParser((value) => (issuerName.test(value) ? value : url(value)))
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
    .action(act(async (cli, flags: IssueFlags) => (await import("../commands/issue.ts")).issueGrant(cli, flags)));
  forWhom(issue.command("code"))
    .description("print an authorization code and its callback URL")
    .option("--redirect-uri <uri>", "the redirect URI (default: the client's first one without *)")
    .option("--state <state>", "returned with the code")
    .option("--nonce <nonce>", "copied into the ID token")
    .option("--code-challenge <challenge>", "the PKCE challenge (S256)")
    .option("--acr <value>", "as if the user had met this acr")
    .addHelpText(
      "after",
      examples(
        "idp issue code --user alice --client demo-app",
        'idp issue code --user alice --client demo-spa --scope "openid email" --code-challenge E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      ),
    )
    .action(act(async (cli, flags: IssueCodeFlags) => (await import("../commands/issue.ts")).issueCode(cli, flags)));
  withIssuer(forWhom(issue.command("tokens")))
    .description("print a token response")
    .option("--nonce <nonce>", "copied into the ID token")
    .option("--acr <value>", "as if the user had met this acr")
    .addHelpText(
      "after",
      examples(
        "idp issue tokens --user alice --client demo-app",
        'idp issue tokens --user alice --client demo-app --scope "openid email" --json | jq -r .id_token',
      ),
    )
    .action(act(async (cli, flags: IssueTokensFlags) => (await import("../commands/issue.ts")).issueTokens(cli, flags)));
  issue
    .command("saml")
    .description("print a SAML response, as the browser would post it")
    .option("--user <username>", "the user")
    .option("--client <entity_id>", "the service provider")
    .option("--acs <url>", "where it is posted (default: the first registered address)")
    .option("--in-response-to <id>", "the ID of the AuthnRequest that it answers (default: unsolicited)")
    .option("--relay-state <state>", "returned with the response")
    .option("--acr <value>", "as if the user had met this acr")
    .option("--xml", "print the XML")
    .addHelpText(
      "after",
      examples(
        "idp issue saml --user alice --client http://localhost:3000/saml/metadata --json | jq -r .SAMLResponse",
        "idp issue saml --user alice --client http://localhost:3000/saml/metadata --xml",
      ),
    )
    .action(act(async (cli, flags: IssueSamlFlags) => (await import("../commands/issue.ts")).issueSaml(cli, flags)));
}

function declareToken(program: Command, act: Act): void {
  const token = program.command("token").description("decode, verify, introspect, issue and revoke tokens");
  const given = "a token, a token response, Bearer … or a SAML message; - for standard input";
  token
    .command("decode")
    .description("show the contents of one or more tokens without checking them")
    .argument("[token]", given)
    .addHelpText(
      "after",
      examples("idp token decode eyJhbGciOi…", "pbpaste | idp token decode", "idp token decode - --json < tokens.json"),
    )
    .action(act(async (cli, text?: string) => (await import("../commands/token/decode.ts")).tokenDecode(cli, text)));
  token
    .command("verify")
    .description("verify a token and report every check; exit 6 if one fails")
    .argument("[token]", given)
    .option("--audience <audience>", "require this audience")
    .option("--leeway <seconds>", "allowed difference between clocks (default: 0)", seconds(0))
    .optionsGroup("To verify with other keys:")
    .option("--issuer <url>", "use the keys of this issuer; with --jwks, only require it as iss", url)
    .option("--jwks <file|url>", "use the keys of this JWK Set")
    .option("--secret-stdin", "read the HS256 secret from standard input")
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
        (await import("../commands/token/verify.ts")).tokenVerify(cli, text, flags),
      ),
    );
  withIssuer(token.command("introspect"))
    .description("show whether a token is active; exit 6 and the reason if it is not")
    .argument("[token]", given)
    .addHelpText(
      "after",
      examples("idp token introspect eyJhbGciOi…", "idp token introspect - --json < token.txt | jq -r .scope"),
    )
    .action(
      act(async (cli, text: string | undefined, flags: { asIssuer?: string }) =>
        (await import("../commands/token/introspect.ts")).tokenIntrospect(cli, text, flags),
      ),
    );
  const issue = withIssuer(forWhom(token.command("issue")))
    .description("print one token; without --user, a token of the client itself")
    .addOption(new Option("--type <type>", "which token").choices(["access", "id", "refresh"]).default("access"))
    .option("--claim <name=value>", "add a claim, as JSON or text; repeatable", setClaim)
    .option("--expires-in <seconds>", "its lifetime", seconds(1))
    .option("--audience <audience>", "the aud of the token", once("the token has one aud"))
    .option("--dpop-jkt <thumbprint>", "bound to this key (DPoP)")
    .option(
      "--workload <name>",
      "a token of this workload instead: github-actions, gitlab, kubernetes or one of the fixtures",
    );
  withFlaws(issue, "Bad tokens, to test your API:")
    .addHelpText(
      "after",
      examples(
        "TOKEN=$(idp token issue --user alice --client demo-app)",
        "idp token issue --client demo-service --audience https://api.test --claim tenant=acme",
        "idp token issue --user alice --client demo-app --expired --wrong-issuer",
        "idp token issue --workload github-actions --audience https://api.test",
      ),
    )
    .action(act(async (cli, flags: TokenIssueFlags) => (await import("../commands/token/issue.ts")).tokenIssue(cli, flags)));
  token
    .command("revoke")
    .description("revoke one token; a refresh token takes its access tokens with it")
    .argument("[token]", given)
    .addHelpText("after", examples("idp token revoke eyJhbGciOi…", "idp token revoke - < token.txt"))
    .action(act(async (cli, text?: string) => (await import("../commands/token/revoke.ts")).tokenRevoke(cli, text)));
}

/** Adds the commands on tokens to the program. */
export function declareTokens(program: Command, act: Act): void {
  program.commandsGroup("Tokens:");
  declareIssue(program, act);
  declareToken(program, act);
}
