import type { JsonObject } from "../../../text/json.ts";
import type { Check } from "../../../jwt/checks.ts";
import type { Report } from "../../../client/check.ts";
import type { Result } from "../../../client/result.ts";
import { OperationError } from "../../../core/base/errors.ts";
import { duration } from "../../../text/time.ts";
import { escapeDeep, escapeLine, printableJson } from "../../output/escape.ts";
import { failureOf } from "../../failure.ts";
import { widthOf, type Invocation } from "../../invocation.ts";
import { answer, type Outcome } from "../../output/print.ts";
import type { Style } from "../../output/style.ts";
import { pairs, checkLines } from "../../output/table.ts";
import { loginClient } from "../init/app-types.ts";
import { count } from "../../output/words.ts";
import type { LoginFlags } from "./flags.ts";
import type { LoginPlace } from "./place.ts";
import type { Hint } from "../../../core/base/hint.ts";

export function outcomeOf(
  cli: Invocation,
  flags: LoginFlags,
  { issuer, client, tokenMissing }: LoginPlace,
  report: Report,
  { tokens, claims, userinfo, refusal }: Result,
): Outcome {
  const { checks } = report;
  const valid = checks.every(({ ok }) => ok);
  const document = { valid, issuer, client: client.id, flow: flags.flow, checks, tokens, claims, userinfo };
  const failure = valid ? null : failureOf(failureFor(report, refusal, tokenMissing));
  if (flags.print !== undefined && !cli.json) return printed(cli, flags.print, document, failure);
  return answer(
    document,
    (shown, style) => {
      const lines = checkLines(shown.checks, style, cli.width);
      return shown.valid && shown.tokens !== null ? `${lines}\n\n${summary(shown, shown.tokens, style)}` : lines;
    },
    { failure, notes: valid && !cli.json ? seeMore(flags) : [] },
  );
}

/** The same sign-in again, with more in its answer. */
function seeMore({ issuer, user, approve, client, flow }: LoginFlags): readonly Hint[] {
  const same = [
    ...["idp", "login"],
    ...(issuer === undefined ? [] : ["--issuer", issuer]),
    ...(flow === "code" ? [] : ["--flow", flow]),
    ...(client === loginClient ? [] : ["--client", client]),
    ...(user === undefined ? [] : ["--user", user]),
    ...(approve === true ? ["--approve"] : []),
  ];
  return [
    { text: "To see a token", command: [...same, "--print", "access"] },
    { text: "To see all of it", command: [...same, "--json"] },
  ];
}

type Document = Pick<Result, "tokens" | "claims" | "userinfo"> & {
  readonly client: string;
  readonly checks: readonly Check[];
};

const forToken: Hint = {
  text: "Without IDP_ADMIN_TOKEN, this command cannot ask that server about its clients. Set it, or name a client and its secret",
  command: ["idp", "login", "--client", "CLIENT_ID", "--secret-stdin"],
};

function failureFor({ checks, refusals }: Report, refusal: JsonObject | null, tokenMissing: boolean): OperationError {
  if (refusal?.["error"] === "access_denied") {
    const { error_description: why } = refusal;
    return new OperationError("refused", `login denied${typeof why === "string" ? `: ${why.slice(0, 400)}` : ""}`);
  }
  const failed = checks.filter(({ ok }) => !ok).length;
  const isOfClient = refusals.some(({ error }) => error === "invalid_client");
  return new OperationError("refused", `login failed: ${failed} of ${count(checks.length, "check")} failed`, {
    ...(tokenMissing && isOfClient && { hint: forToken }),
  });
}

/** Who signed in, and for what. */
function summary({ client, claims, userinfo, checks: _checks }: Document, tokens: JsonObject, style: Style): string {
  const life = tokens["expires_in"];
  const kinds = ["access_token", "id_token", "refresh_token"].filter((name) => tokens[name] !== undefined);
  const named = kinds.map((name) =>
    name === "access_token" && typeof life === "number" ? `${name} for ${duration(life)}` : name,
  );
  const scope = tokens["scope"];
  return [
    style.bold(claims === null ? `Tokens for client ${client}` : `Signed in as ${nameOf(claims, userinfo ?? {})}`),
    pairs(
      [...(typeof scope === "string" && scope !== "" ? [["scope", scope] as const] : []), ["tokens", named.join(", ")]],
      style,
    ),
  ].join("\n");
}

/** "alice (Alice Adams)" if that is known, else the subject. */
function nameOf(claims: JsonObject, userinfo: JsonObject): string {
  const text = (name: string): string | null => {
    const value = claims[name] ?? userinfo[name];
    return typeof value === "string" && value !== "" ? value : null;
  };
  const [login, name] = [text("preferred_username") ?? text("email"), text("name")];
  if (login === null) return name ?? text("sub") ?? "nobody";
  return name === null ? login : `${login} (${name})`;
}

const members = { access: "access_token", id: "id_token", refresh: "refresh_token" } as const;

/** With `--print`, only one token is on stdout, and only if all is well. Then the checks are on stderr. */
function printed(
  cli: Invocation,
  what: NonNullable<LoginFlags["print"]>,
  { tokens, checks }: Document,
  failure: Outcome["failure"],
): Outcome {
  if (!cli.quiet) {
    cli.stderr.write(`${checkLines(escapeDeep(checks), cli.err, widthOf(cli.stderr))}\n`);
  }
  const found = what === "response" ? tokens : tokens?.[members[what]];
  const missing =
    failure === null && found === undefined && what !== "response"
      ? failureOf(new OperationError("refused", `the token response has no ${members[what]}`))
      : null;
  const problem = failure ?? missing;
  return {
    document: null,
    text: () => (problem !== null ? "" : typeof found === "string" ? escapeLine(found) : printableJson(found, 2)),
    notes: [],
    failure: problem,
  };
}
