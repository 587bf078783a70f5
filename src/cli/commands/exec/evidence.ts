import type { WriteStream } from "node:fs";
import { finished } from "node:stream/promises";
import { ledgerText } from "../../../core/testing/ledger/expect.ts";
import type { RequestRecord } from "../../../core/testing/ledger/request-json.ts";
import type { IdpOptions } from "../../../index.ts";
import type { Invocation } from "../../invocation.ts";
import { escapeText, printableJson } from "../../output/escape.ts";
import { cannotBeWritten, openToWrite } from "../../output/put-file.ts";
import { count } from "../../output/words.ts";

/**
 * What a command asked the server of `idp exec`, at all of its issuers. It is taken as it comes: tests may clear the ledger, and remove
 * issuers.
 */
export interface Evidence {
  readonly take: NonNullable<IdpOptions["onRequest"]>;
  /** After a command that failed, prints what was refused; then ends the file. Rejects if that could not be written. */
  readonly leave: (cli: Invocation, exitCode: number) => Promise<void>;
}

/** How many refused requests are listed; further ones are only counted. */
const maxRefused = 1000;

async function openLog(file: string): Promise<WriteStream> {
  try {
    return (await openToWrite(file)).createWriteStream();
  } catch (error) {
    throw cannotBeWritten(file, error);
  }
}

/** @param file receives every request, a line of JSON each @throws {OperationError} usage if it cannot be written */
export async function collectEvidence(file: string | undefined): Promise<Evidence> {
  const log = file === undefined ? null : await openLog(file);
  let failed: unknown = null;
  log?.on("error", (error) => {
    failed ??= error;
  });
  const refused: RequestRecord[] = [];
  let total = 0;
  let refusals = 0;
  return {
    take({ id, status, error }, read) {
      if (id === null) return;
      total += 1;
      const isRefused = status >= 400 || error !== null;
      if (isRefused) refusals += 1;
      const isKept = isRefused && refused.length < maxRefused;
      const record = isKept || log !== null ? read() : null;
      if (record === null) return;
      if (isKept) refused.push(record);
      log?.write(`${printableJson(record, 0)}\n`);
    },
    async leave(cli, exitCode) {
      const isTold = exitCode !== 0 && !cli.quiet;
      if (isTold && total === 0) cli.stderr.write(`${ledgerText([])}\n`);
      if (isTold && refusals > 0) {
        cli.stderr.write(`idp: ${refusals} of ${count(total, "request")} refused\n`);
        cli.stderr.write(`${escapeText(ledgerText(refused))}\n`);
      }
      log?.end();
      // It rejects before or after the event `error`.
      if (log !== null) await finished(log).catch((error: unknown) => (failed ??= error));
      if (failed !== null) throw cannotBeWritten(file ?? "", failed);
    },
  };
}
