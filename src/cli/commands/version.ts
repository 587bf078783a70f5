import { version } from "../../files/package.ts";
import { answer, type Outcome } from "../output/print.ts";
import { examples } from "../commander.ts";
import type { Declare } from "../act.ts";

/** `idp version` */
const printVersion = (): Promise<Outcome> => Promise.resolve(answer({ version }, (shown) => shown.version));

/** Declares `idp version`. */
export const declareVersion: Declare = (command, { act }) => {
  command
    .addHelpText("after", examples("idp version", "idp version --json | jq -r .version"))
    .action(act(printVersion));
};
