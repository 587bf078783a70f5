import type { ScopeView } from "../../core/records/scopes/scopes.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { table } from "../output/table.ts";
import { findTarget } from "../target/target.ts";
import { examples } from "../commander.ts";
import type { Declare } from "../act.ts";

const descriptionOf = ({ description }: ScopeView): string => description["en"] ?? Object.values(description)[0] ?? "";

/** `idp scopes` */
async function listScopes(cli: Invocation): Promise<Outcome> {
  const scopes = await (await findTarget(cli)).call("scopes.list", {});
  return answer(scopes, (shown, style) =>
    table(
      [
        { title: "SCOPE", value: ({ name }) => name },
        { title: "DESCRIPTION", value: descriptionOf },
        { title: "CLAIMS", value: ({ claims }) => claims.join(" "), shrinks: true },
      ],
      shown,
      style,
      cli.width,
    ),
  );
}

/** Declares `idp scopes`. */
export const declareScopes: Declare = (command, { act }) => {
  command.addHelpText("after", examples("idp scopes", "idp scopes --json | jq -r '.[].name'")).action(act(listScopes));
};
