import { lookup } from "node:dns/promises";
import { allCases } from "../../client/app-check/cases/list.ts";
import { control } from "../../client/app-check/cases/control.ts";
import type { Case } from "../../client/app-check/case.ts";
import { OperationError } from "../../core/errors.ts";
import { didYouMean } from "../../core/nearest.ts";
import { addressIn, kindOfAddress, withoutBrackets } from "../../net/address.ts";
import type { NameFlags } from "../env/app-variables.ts";

/** The flags of `idp check client`. */

/** As commander reads them. */
export interface CheckFlags extends NameFlags {
  readonly start: string;
  readonly signedIn: string;
  readonly signedInText?: string;
  readonly signOut?: string;
  readonly user?: string;
  readonly client?: string;
  readonly fixtures?: readonly string[];
  readonly case?: readonly string[];
  readonly browser?: true;
  readonly report?: string;
  /** Seconds. */
  readonly timeout: number;
  readonly allowRemote?: true;
}

const usage = (message: string, hint: ConstructorParameters<typeof OperationError>[2]): OperationError =>
  new OperationError("usage", message, hint);

/** The cases that were named, in their order; all of them by default. @throws {OperationError} usage */
export function casesOf({ case: wanted }: CheckFlags): readonly Case[] {
  if (wanted === undefined) return allCases;
  const names = [control, ...allCases].map(({ name }) => name);
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const list = `The cases are:\n${names.map((name) => `  ${name}`).join("\n")}`;
    const { text } = didYouMean(unknown, names, "");
    throw usage(`there is no case "${unknown}"`, { hint: text === "" ? list : `${text}\n${list}` });
  }
  return allCases.filter(({ name }) => wanted.includes(name));
}

/** This machine and networks that are not public (RFC 1918, RFC 4193, RFC 6598). */
const isNear = (address: string): boolean => ["loopback", "private"].includes(kindOfAddress(address));

async function isNearby(url: string): Promise<boolean> {
  const named = addressIn(url);
  if (named !== null) return isNear(named);
  // A name that does not resolve reaches no machine.
  const found = await lookup(new URL(url).hostname, { all: true }).catch(() => []);
  return found.every(({ address }) => isNear(address));
}

/** A check delivers forged responses, which must not reach a machine of somebody else by mistake. @throws {OperationError} usage */
export async function checkAddresses({ start, signedIn, signOut, allowRemote }: CheckFlags): Promise<void> {
  if (allowRemote === true) return;
  const named = { start, "signed-in": signedIn, "sign-out": signOut };
  for (const [flag, address] of Object.entries(named)) {
    if (address === undefined) continue;
    if (await isNearby(address)) continue;
    throw usage(
      `--${flag} is at ${withoutBrackets(new URL(address).hostname)}, which is neither this machine nor a private network`,
      {
        hint: "The app is sent forged responses. Where it is yours, add --allow-remote",
      },
    );
  }
}

/** @throws {OperationError} usage */
export function checkReport({ report }: CheckFlags): void {
  if (report === undefined || /\.(xml|md)$/i.test(report)) return;
  throw usage(`--report ${report} ends neither in .xml nor in .md`, { hint: "JUnit: report.xml. Markdown: report.md" });
}
