import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { findTarget } from "../target/target.ts";

/** `idp issuer set`: for a container whose port is known only after its server has started. */
export async function setIssuer(cli: Invocation, issuer: string): Promise<Outcome> {
  const target = await findTarget(cli);
  const result = await target.call("issuer.set", { issuer });
  return answer(result, (shown) => `The issuer is ${shown.issuer} until the server stops.`, {
    notes: ["Tokens of another issuer are no longer valid. Sessions are kept.", target.where],
  });
}
