import { version } from "../../files/package.ts";
import { answer, type Outcome } from "../output/print.ts";

/** `idp version` */
export const printVersion = (): Promise<Outcome> => Promise.resolve(answer({ version }, (shown) => shown.version));
