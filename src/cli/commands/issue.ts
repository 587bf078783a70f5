import type { TokenResponse } from "../../core/protocol/tokens/settle.ts";
import { OperationError } from "../../core/base/errors.ts";
import { duration } from "../../text/time.ts";
import { askScopes, clientOr, userOr } from "../input/ask.ts";
import { describeGrant } from "./grants.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { scopeNotes } from "../output/scope-notes.ts";
import type { Style } from "../output/style.ts";
import { timeThere } from "../target/clock.ts";
import { findTarget, type Target } from "../target/target.ts";
import { examples } from "../commander.ts";
import type { Declare } from "../act.ts";
import { withIssuer, withUserAndClient } from "../flags/issuing.ts";

/** Flags of everything that is issued for a user and a client. */
export interface IssueFlags {
  readonly user?: string;
  readonly client?: string;
  readonly scope?: string;
}

interface IssueTokensFlags extends IssueFlags {
  readonly nonce?: string;
  readonly acr?: string;
  readonly asIssuer?: string;
}

interface IssueCodeFlags extends IssueFlags {
  readonly redirectUri?: string;
  readonly state?: string;
  readonly nonce?: string;
  readonly codeChallenge?: string;
  readonly acr?: string;
}

/**
 * Where tokens are issued.
 * @param issuer the issuer of tokens that are issued on a folder
 * @throws {OperationError} usage if a server with another issuer runs
 */
export async function targetUnder(cli: Invocation, issuer: string | undefined): Promise<Target> {
  const target = await findTarget(cli, issuer);
  // IDP_ISSUER is set for all commands at once, so here it does not ask for anything.
  if (issuer === undefined || issuer === cli.env.IDP_ISSUER || target.server === null) return target;
  const { issuer: own } = await target.call("status", {});
  if (own === issuer) return target;
  throw new OperationError(
    "usage",
    `--as-issuer ${issuer} is for data that no server runs on: this one issues as ${own}`,
    {
      hint: {
        text: "Leave it out. For a token that names another issuer",
        command: ["idp", "token", "issue", "--wrong-issuer"],
      },
    },
  );
}

/** For whom something is issued. Asks for what is missing. */
async function forWhom(
  cli: Invocation,
  target: Target,
  flags: IssueFlags,
): Promise<{ user: string; client: string; scope: string | undefined }> {
  const user = await userOr(cli, target, flags.user);
  const client = await clientOr(cli, target, flags.client);
  // A person who names both wants the default scope.
  const asked = flags.user === undefined || flags.client === undefined;
  const scope = flags.scope ?? (asked && cli.interactive ? await askScopes(cli, target, client) : undefined);
  return { user, client, scope };
}

/** `idp issue grant` */
async function issueGrant(cli: Invocation, flags: IssueFlags): Promise<Outcome> {
  const target = await findTarget(cli);
  const asked = await forWhom(cli, target, flags);
  const grant = await target.call("issue.grant", asked);
  const now = await timeThere(cli, target);
  return answer(grant, (shown, style) => describeGrant(shown, style, now), {
    notes: [...(await scopeNotes(target, asked.scope)), target.where],
  });
}

/** `idp issue code` prints the address that the browser would be sent to. Codes are kept in a running server, or in a shared store. */
async function issueCode(cli: Invocation, flags: IssueCodeFlags): Promise<Outcome> {
  const target = await findTarget(cli);
  const { state, nonce, acr } = flags;
  const asked = await forWhom(cli, target, flags);
  const issued = await target.call("issue.code", {
    ...asked,
    ...{ state, nonce, acr, redirect_uri: flags.redirectUri, code_challenge: flags.codeChallenge },
  });
  return answer(issued, (shown) => shown.url, {
    notes: [
      `The code works once, for ${duration(issued.expires_in)}.`,
      ...(await scopeNotes(target, asked.scope)),
      target.where,
    ],
  });
}

/** `idp issue tokens` */
async function issueTokens(cli: Invocation, flags: IssueTokensFlags): Promise<Outcome> {
  const target = await targetUnder(cli, flags.asIssuer);
  const asked = await forWhom(cli, target, flags);
  const tokens = await target.call("issue.tokens", { ...asked, nonce: flags.nonce, acr: flags.acr });
  return answer(tokens, describeTokens, { notes: [...(await scopeNotes(target, asked.scope)), target.where] });
}

interface IssueSamlFlags {
  readonly user?: string;
  readonly client?: string;
  readonly acs?: string;
  readonly inResponseTo?: string;
  readonly relayState?: string;
  readonly acr?: string;
  readonly xml?: true;
}

/** `idp issue saml` prints what the browser would post. */
async function issueSaml(cli: Invocation, flags: IssueSamlFlags): Promise<Outcome> {
  const target = await findTarget(cli);
  const user = await userOr(cli, target, flags.user);
  const client = await clientOr(cli, target, flags.client);
  const { acs, inResponseTo: in_response_to, relayState: relay_state, acr } = flags;
  const issued = await target.call("issue.saml", { user, client, acs, in_response_to, relay_state, acr });
  const xml = (): string => Buffer.from(issued.SAMLResponse, "base64").toString();
  return answer(issued, (shown) => (flags.xml === true ? xml() : shown.SAMLResponse), {
    notes: [`To be posted to ${issued.acs}, within ${duration(issued.expires_in)}.`, target.where],
  });
}

/** Each token is on its own line, so that it can be copied whole. */
function describeTokens(tokens: TokenResponse, style: Style): string {
  const { access_token, id_token, refresh_token, token_type, expires_in, scope } = tokens;
  return [
    ...Object.entries({ access_token, id_token, refresh_token }).flatMap(([name, token]) =>
      token === undefined ? [] : [`${style.bold(name)}\n${token}\n`],
    ),
    `${token_type}, expires in ${duration(expires_in)}${scope === undefined ? "" : `, scope ${scope}`}`,
  ].join("\n");
}

/** Declares the commands of `idp issue`. */
export const declareIssue: Declare = (issue, { act }) => {
  withUserAndClient(issue.command("grant"))
    .description("record a consent")
    .addHelpText(
      "after",
      examples(
        'idp issue grant --user alice --client demo-app --scope "openid profile"',
        "idp issue grant --user alice --client demo-app --json | jq -r .id",
      ),
    )
    .action(act(issueGrant));
  withUserAndClient(issue.command("code"))
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
    .action(act(issueCode));
  withIssuer(withUserAndClient(issue.command("tokens")))
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
    .action(act(issueTokens));
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
    .action(act(issueSaml));
};
