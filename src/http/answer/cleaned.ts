import type { Request, Response } from "express";
import { listClients } from "../../core/records/fix-commands.ts";
import { isDocumentUrl } from "../../core/records/clients/documents.ts";
import { redactorOf, valuesIn, registeredIn, type Sent } from "../../core/protocol/redaction/redactor.ts";
import { hintIn } from "../../core/base/hint.ts";
import { StorageError } from "../../store/store.ts";
import { routeOf } from "../route.ts";
import { note, type Web } from "../web.ts";
import type { ErrorAnswer } from "./error-answers.ts";

/** Whether only the operator gets the answers of a route, who has the admin token or the key of the inspector. */
const isOperators = (name: string): boolean => name === "api" || name.startsWith("inspector");

/** Records which texts of a request are registered, so that the log and the ledger may show them. */
export async function noteRegistered({ ctx }: Web, req: Request, res: Response): Promise<ReadonlySet<string>> {
  const sent = sentIn(req);
  // The address of a metadata document is public.
  const { client_id: id } = valuesIn(sent);
  const open = typeof id === "string" && isDocumentUrl(id, ctx) ? [id] : [];
  // Where the records cannot be read, nothing counts as registered.
  const registered = await registeredIn(ctx, sent, open).catch(() => new Set<string>());
  note(res, { registered });
  return registered;
}

/**
 * Records that nothing of a request was compared with what is registered, though the answer is no refusal: it leads to where that happens.
 * The log and the ledger show as little of it as of a refused one.
 */
export async function noteUnchecked(web: Web, req: Request, res: Response): Promise<void> {
  await noteRegistered(web, req, res);
  note(res, { unchecked: true });
}

/**
 * What cleans the texts about a refused request.
 * @returns for a route of the operator, what leaves texts as they are
 */
export async function cleanerFor(
  web: Web,
  req: Request,
  res: Response,
  error: unknown,
): Promise<(text: string) => string> {
  const registered = error instanceof StorageError ? new Set<string>() : await noteRegistered(web, req, res);
  return isOperators(routeOf(res).name) ? (text) => text : redactorOf(sentIn(req), (text) => registered.has(text));
}

const sentIn = ({ originalUrl: url, body, headers }: Request): Sent => ({
  url,
  body: body as unknown,
  authorization: headers.authorization,
});

/** A refusal without what must not be repeated. A command that would contain it gives way to one that shows what is registered. */
export function cleaned(answer: ErrorAnswer, clean: (text: string) => string): ErrorAnswer {
  const { message, fix, mismatch } = answer;
  const isClean = fix === null || (fix.command ?? []).every((word) => clean(word) === word);
  return {
    ...answer,
    message: clean(message),
    fix: fix === null ? null : isClean ? hintIn(fix, clean) : listClients,
    ...(mismatch != null && { mismatch: { ...mismatch, sent: clean(mismatch.sent) } }),
  };
}
