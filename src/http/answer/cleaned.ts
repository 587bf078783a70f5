import type { Request, Response } from "express";
import { listClients } from "../../core/fix-commands.ts";
import { isDocumentUrl } from "../../core/clients/documents.ts";
import { redactorOf, valuesIn } from "../../core/redaction/redactor.ts";
import { registeredIn } from "../../core/redaction/registered.ts";
import { StorageError } from "../../store/store.ts";
import { routeOf } from "../route.ts";
import { note, type Web } from "../web.ts";
import type { Answer } from "./error-answers.ts";

/** Whether only the operator gets the answers of a route, who has the admin token or the key of the inspector. */
const isOperators = (name: string): boolean => name === "api" || name.startsWith("inspector");

/**
 * What cleans the texts about a refused request. It also notes what of the request is registered, for the log and the ledger.
 * @returns for a route of the operator, what leaves texts as they are
 */
export async function cleanerFor(
  { ctx }: Web,
  req: Request,
  res: Response,
  error: unknown,
): Promise<(text: string) => string> {
  const { originalUrl: url, headers } = req;
  const sent = { url, body: req.body as unknown, authorization: headers.authorization };
  // The address of a metadata document is public.
  const { client_id: id } = valuesIn(sent);
  const open = typeof id === "string" && isDocumentUrl(id, ctx) ? [id] : [];
  // Where the records cannot be read, nothing counts as registered.
  const registered =
    error instanceof StorageError
      ? new Set<string>()
      : await registeredIn(ctx, sent, open).catch(() => new Set<string>());
  note(res, { registered });
  return isOperators(routeOf(res).name) ? (text) => text : redactorOf(sent, (text) => registered.has(text));
}

/** A refusal without what must not be repeated. A command that would contain it gives way to one that shows what is registered. */
export function cleaned(answer: Answer, clean: (text: string) => string): Answer {
  const { message, fix, mismatch } = answer;
  const isClean = fix === null || (fix.command ?? []).every((word) => clean(word) === word);
  return {
    ...answer,
    message: clean(message),
    fix: fix === null ? null : isClean ? { ...fix, text: clean(fix.text) } : listClients,
    ...(mismatch != null && { mismatch: { ...mismatch, sent: clean(mismatch.sent) } }),
  };
}
