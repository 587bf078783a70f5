/*
 * cli/commands/token: what can be done with one token. Each command is a file. `decode` needs no server and starts
 * fast: what the others need for one is loaded when they run.
 */
import { declareIntrospect } from "./introspect.ts";
import { declareTokenIssue } from "./issue.ts";
import { declareVerify } from "./verify.ts";
import { declareDecode } from "./decode.ts";
import type { Declare } from "../../act.ts";
import { declareTokenRevoke } from "./revoke.ts";

/** Declares the commands of `idp token`. */
export const declareToken: Declare = (token, context) => {
  declareDecode(token, context);
  declareVerify(token, context);
  declareIntrospect(token, context);
  declareTokenIssue(token, context);
  declareTokenRevoke(token, context);
};
