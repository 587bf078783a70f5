/*
 * cli/commands/check: the commands of `idp check`. Each is in its own file: what it declares, and what it does. Flags that several have are in
 * common.ts, and their types in flags.ts.
 *
 * session.ts is the frame of every check. In it, flags.ts checks what was typed, accepted.ts reads which cases may go unnoticed, app-process.ts
 * runs the app, result.ts prints the result, report.ts writes files, and opened.ts closes what was opened. subject.ts has the words of the output.
 */
import type { Declare } from "../../act.ts";
import { declareCheckApi } from "./api.ts";
import { declareCheckClient } from "./client.ts";
import { declareCheckLeaver } from "./leaver/leaver.ts";
import { declareCheckScim } from "./scim/scim.ts";
import { declareCheckSp } from "./sp/sp.ts";

/** Declares the commands of `idp check`, in the order of the help. */
export const declareCheck: Declare = (check, declaring) => {
  declareCheckClient(check, declaring);
  declareCheckSp(check, declaring);
  declareCheckApi(check, declaring);
  declareCheckScim(check, declaring);
  declareCheckLeaver(check, declaring);
};
