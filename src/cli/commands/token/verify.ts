import { OperationError } from "../../../core/base/errors.ts";
import type { Verification } from "../../../core/protocol/tokens/read/claim-checks.ts";
import { checkLines } from "../../output/table.ts";
import { failureOf } from "../../failure.ts";
import type { Invocation } from "../../invocation.ts";
import { answer, type Outcome } from "../../output/print.ts";
import type { KeyFlags } from "./verifying-keys.ts";
import { count } from "../../output/words.ts";
import { readText, readToken, tokenGiven } from "./input.ts";
import { examples } from "../../commander.ts";
import type { Declare } from "../../act.ts";
import { seconds, webUrl } from "../../flags/flag-values.ts";

interface VerifyFlags extends KeyFlags {
  readonly audience?: string;
  readonly leeway?: number;
}

/** `idp token verify`: runs every check, also after one that failed. */
async function tokenVerify(cli: Invocation, argument: string | undefined, flags: VerifyFlags): Promise<Outcome> {
  if (flags.secretStdin === true && (argument === undefined || argument === "-")) {
    throw new OperationError("usage", "standard input holds the secret, so the token has to be the argument", {
      hint: {
        text: "Pipe in the secret, and give the token",
        command: ["idp", "token", "verify", "TOKEN", "--secret-stdin"],
      },
    });
  }
  const token = await givenToken(cli, argument);
  const result = await verify(cli, token, flags);
  const failed = result.checks.filter(({ ok }) => !ok).length;
  const message = `not valid: ${failed} of ${count(result.checks.length, "check")} failed`;
  return answer(result, ({ checks }, style) => checkLines(checks, style, cli.width), {
    notes: result.notes,
    failure: result.valid ? null : failureOf(new OperationError("refused", message)),
  });
}

/** A token, or a SAML message as it is. */
async function givenToken(cli: Invocation, argument: string | undefined): Promise<string> {
  const text = await readText(cli, "verify", argument);
  if (/^\ufeff?\s*<|SAML(?:Request|Response)=/.test(text)) return text.trim();
  return (await readToken(cli, "verify", text)).token;
}

async function verify(cli: Invocation, token: string, flags: VerifyFlags): Promise<Verification> {
  const { audience, leeway, issuer } = flags;
  const keys = await (await import("./verifying-keys.ts")).keysOf(cli, flags);
  if (keys === null)
    return (await (await import("../../target/target.ts")).findTarget(cli)).call("token.verify", {
      token,
      audience,
      leeway,
    });
  const { verifyForeignToken } = await import("../../../core/protocol/tokens/read/verify.ts");
  return verifyForeignToken(token, keys, {
    issuer: issuer ?? null,
    audience: audience ?? null,
    leeway: leeway ?? 0,
    now: cli.now(),
  });
}

/** Declares `idp token verify`. */
export const declareVerify: Declare = (token, { act }) => {
  token
    .command("verify")
    .description("verify a token and report every check; exit 6 if one fails")
    .argument("[token]", tokenGiven)
    .option("--audience <audience>", "require this audience")
    .option("--leeway <seconds>", "allowed difference between clocks (default: 0)", seconds(0))
    .optionsGroup("To verify with other keys:")
    .option(
      "--issuer <url>",
      "use the keys of this issuer; with --jwks, only require it as iss",
      webUrl("http://localhost:4370"),
    )
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
    .action(act(tokenVerify));
};
