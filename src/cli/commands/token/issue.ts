import type { Invocation } from "../../invocation.ts";
import type { IssueFlags } from "../issue.ts";
import { OperationError } from "../../../core/base/errors.ts";
import { answer, type Outcome } from "../../output/print.ts";
import type { Target } from "../../target/target.ts";
import { withIssuer, withUserAndClient } from "../../flags/issuing.ts";
import { setClaim, type SetFields } from "../../flags/set-field.ts";
import type { Declare } from "../../act.ts";
import { flawsOf, type FlawFlags, withFlaws } from "./flaws.ts";
import { seconds, once } from "../../flags/flag-values.ts";
import { tenYears } from "../../../text/time.ts";
import { examples, Option } from "../../commander.ts";

interface TokenIssueFlags extends IssueFlags, FlawFlags {
  readonly asIssuer?: string;
  readonly type: "access" | "id" | "refresh";
  readonly claim?: SetFields;
  readonly expiresIn?: number;
  readonly audience?: string;
  readonly dpopJkt?: string;
  readonly workload?: string;
}

/** `idp token issue`: prints one bare token and nothing else, for `$(…)`. */
async function tokenIssue(cli: Invocation, flags: TokenIssueFlags): Promise<Outcome> {
  const target = await (await import("../issue.ts")).targetUnder(cli, flags.asIssuer);
  if (flags.workload !== undefined) return ofWorkload(target, flags.workload, flags);
  const client = await (await import("../../input/ask.ts")).clientOr(cli, target, flags.client);
  const { scope, type, audience, claim: claims, expiresIn: expires_in } = flags;
  const issued = await target.call("token.issue", {
    ...{ client, scope, type, audience, claims, expires_in },
    user: await userFor(cli, target, client, flags),
    dpop_jkt: flags.dpopJkt,
    ...flawsOf(flags),
  });
  const warnings = issued.warnings.map((warning) => `Warning: ${warning}.`);
  const { claimNotes, scopeNotes } = await import("../../output/scope-notes.ts");
  return answer(issued, ({ token }) => token, {
    notes: [...warnings, ...claimNotes(claims), ...(await scopeNotes(target, scope)), target.where],
  });
}

async function ofWorkload(target: Target, name: string, flags: TokenIssueFlags): Promise<Outcome> {
  const { user, client, scope, dpopJkt, audience, claim: claims, expiresIn: expires_in } = flags;
  if ([user, client, scope, dpopJkt].some((given) => given !== undefined)) {
    throw new OperationError("usage", "--workload excludes --user, --client, --scope and --dpop-jkt", {
      hint: {
        text: "For example",
        command: ["idp", "token", "issue", "--workload", name, "--audience", "https://api.test"],
      },
    });
  }
  const issued = await target.call("workloads.issue", { name, audience, claims, expires_in, ...flawsOf(flags) });
  const warnings = issued.warnings.map((warning) => `Warning: ${warning}.`);
  return answer(issued, ({ token }) => token, { notes: [...warnings, target.where] });
}

/** The user, whom a client with client credentials does not need. */
async function userFor(
  cli: Invocation,
  target: Target,
  client: string,
  flags: IssueFlags,
): Promise<string | undefined> {
  if (flags.user !== undefined) return flags.user;
  const { grant_types: grantTypes } = await target.call("clients.show", { client_id: client });
  const speaksForItself = Array.isArray(grantTypes) && grantTypes.includes("client_credentials");
  if (speaksForItself) return undefined;
  return (await import("../../input/ask.ts")).userOr(cli, target, undefined);
}

/** Declares `idp token issue`. */
export const declareTokenIssue: Declare = (token, { act }) => {
  const issue = withIssuer(withUserAndClient(token.command("issue")))
    .description("print one token; without --user, a token of the client itself")
    .addOption(new Option("--type <type>", "which token").choices(["access", "id", "refresh"]).default("access"))
    .option("--claim <name=value>", "add a claim, as JSON or text; repeatable", setClaim)
    .option("--expires-in <seconds>", "its lifetime", seconds(1, tenYears))
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
    .action(act(tokenIssue));
};
