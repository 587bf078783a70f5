import type { Introspection } from "../../../core/protocol/tokens/introspect.ts";
import { OperationError } from "../../../core/base/errors.ts";
import { relative, utcTime } from "../../../text/time.ts";
import { failureOf } from "../../failure.ts";
import type { Invocation } from "../../invocation.ts";
import { answer, type Outcome } from "../../output/print.ts";
import type { Style } from "../../output/style.ts";
import { pairs } from "../../output/table.ts";
import { movedClock, byClock } from "../../target/clock.ts";
import { examples } from "../../commander.ts";
import type { Declare } from "../../act.ts";
import { readToken, tokenGiven } from "./input.ts";
import { withIssuer } from "../../flags/issuing.ts";

/** `idp token introspect`: what a token is good for now (RFC 7662), or why it is not valid. */
async function tokenIntrospect(
  cli: Invocation,
  argument: string | undefined,
  { asIssuer }: { readonly asIssuer?: string },
): Promise<Outcome> {
  const { token } = await readToken(cli, "introspect", argument);
  const target = await (await import("../../target/target.ts")).findTarget(cli, asIssuer);
  const result = await target.call("token.introspect", { token });
  const clock = await movedClock(cli, target);
  const now = clock === null ? cli.now() : Date.parse(clock.now);
  return answer(result, (shown, style) => describe(shown, style, now), {
    failure: result.active
      ? null
      : failureOf(new OperationError("refused", `the token is not active: ${whyDead(result, now)}`)),
    notes: clock === null ? [] : [`Times are ${byClock(clock)}.`],
  });
}

/** The reason and its time: "it was revoked by the operator, 2 min ago (2026-11-20 23:14:05 UTC)". */
function whyDead({ reason = "the reason is not known", since }: Introspection, now: number): string {
  if (since === undefined) return reason;
  const seconds = Date.parse(since) / 1000;
  const ago = seconds - now / 1000;
  return `${reason}, ${Math.abs(ago) < 1 ? "just now" : relative(ago)} (${utcTime(seconds) ?? since})`;
}

export function describe(
  { active, reason: _, since: _since, ...members }: Introspection,
  style: Style,
  now: number,
): string {
  if (!active) return style.red("inactive");
  const value = (name: string, member: unknown): string => {
    if ((name === "iat" || name === "exp") && typeof member === "number") {
      return `${utcTime(member) ?? member}  ${relative(member - now / 1000)}`;
    }
    return typeof member === "string" ? member : JSON.stringify(member);
  };
  const lines = Object.entries(members).map(([name, member]) => [name, value(name, member)] as const);
  return [style.green("active"), pairs(lines, style)].join("\n");
}

/** Declares `idp token introspect`. */
export const declareIntrospect: Declare = (token, { act }) => {
  withIssuer(token.command("introspect"))
    .description("show whether a token is active; exit 6 and the reason if it is not")
    .argument("[token]", tokenGiven)
    .addHelpText(
      "after",
      examples("idp token introspect eyJhbGciOi…", "idp token introspect - --json < token.txt | jq -r .scope"),
    )
    .action(act(tokenIntrospect));
};
