import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { findTarget } from "../target/target.ts";
import { examples } from "../commander.ts";
import type { Declare } from "../act.ts";

/** `idp issuer set`: for a container whose port is known only after its server has started. */
async function setIssuer(cli: Invocation, issuer: string): Promise<Outcome> {
  const target = await findTarget(cli);
  const result = await target.call("issuer.set", { issuer });
  return answer(result, (shown) => `The issuer is ${shown.issuer} until the server stops.`, {
    notes: ["Tokens of another issuer are no longer valid. Sessions are kept.", target.where],
  });
}

/** Declares `idp issuer set`. */
export const declareIssuer: Declare = (command, { act }) => {
  command
    .command("set")
    .description("change the scheme, host and port until the server stops; tokens become invalid, sessions are kept")
    .argument("<url>", "the issuer, as in start --issuer; the path cannot change")
    .addHelpText(
      "after",
      examples(
        "idp issuer set http://localhost:32768",
        "idp issuer set https://idp.example.test --url http://localhost:4370",
      ),
    )
    .action(act(setIssuer));
};
