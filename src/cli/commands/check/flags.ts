import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { Problem } from "../../../client/check.ts";
import { OperationError } from "../../../core/errors.ts";
import { didYouMean } from "../../../core/nearest.ts";
import { addressIn, checkedLookup, kindOfAddress, withoutBrackets } from "../../../net/address.ts";
import type { NameFlags } from "../env/app-variables.ts";

/** The flags of `idp check`. */

/** Of each command, as commander reads them. */
export interface CommonFlags extends NameFlags {
  readonly user?: string;
  readonly client?: string;
  readonly fixtures?: readonly string[];
  readonly case?: readonly string[];
  /** `NAME` or `NAME=REASON`. */
  readonly accept?: readonly string[];
  readonly report?: string;
  /** Seconds. */
  readonly timeout: number;
  /** Seconds that the whole check may take. */
  readonly totalTimeout: number;
  readonly allowRemote?: true;
}

/** The flags of `idp check client`, as commander reads them. */
export interface CheckFlags extends CommonFlags {
  readonly start: string;
  readonly signedIn: string;
  readonly signedInText?: string;
  readonly signOut?: string;
  readonly returnParam?: readonly string[];
  readonly browser?: true;
  /** What the button or link of the app's sign-in page says. */
  readonly startButton?: string;
  /** Seconds. */
  readonly within: number;
}

const usage = (message: string, hint: ConstructorParameters<typeof OperationError>[2]): OperationError =>
  new OperationError("usage", message, hint);

/**
 * The cases that were named, and those whose verdicts they read, in the order of the list; all of them by default.
 * @param controls names of cases that run in any case
 * @throws {OperationError} usage
 */
export function casesOf<C extends { readonly name: string; readonly reads?: readonly string[] }>(
  wanted: readonly string[] | undefined,
  all: readonly C[],
  controls: readonly string[],
): readonly C[] {
  if (wanted === undefined) return all;
  const names = [...controls, ...all.map(({ name }) => name)];
  const unknown = wanted.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const list = `The cases are:\n${names.map((name) => `  ${name}`).join("\n")}`;
    const { text } = didYouMean(unknown, names, "");
    throw usage(`there is no case "${unknown}"`, { hint: text === "" ? list : `${text}\n${list}` });
  }
  const withRead = new Set<string>();
  const add = (name: string): void => {
    if (withRead.has(name)) return;
    withRead.add(name);
    all.find((one) => one.name === name)?.reads?.forEach(add);
  };
  wanted.forEach(add);
  return all.filter(({ name }) => withRead.has(name));
}

/** This machine and networks that are not public (RFC 1918, RFC 4193, RFC 6598). */
const isNear = (address: string): boolean => ["loopback", "private"].includes(kindOfAddress(address));

const refusal = (host: string): string => `${host}, which is neither this machine nor a private network`;

/** Resolves names, and connects only to addresses that are near (DNS rebinding). */
export const nearLookup = (allowRemote: true | undefined): LookupFunction =>
  checkedLookup((address) => {
    if (allowRemote !== true && !isNear(address)) {
      throw new Error(`it leads to ${refusal(address)}. Where it is yours, add --allow-remote`);
    }
  });

/** Refuses a public address that a document of the API names. @throws {Problem} */
export function requireNear(url: string, allowRemote: true | undefined): void {
  const named = addressIn(url);
  if (allowRemote !== true && named !== null && !isNear(named)) throw new Problem(`${url} is at ${refusal(named)}`);
}

async function isNearby(url: string): Promise<boolean> {
  const named = addressIn(url);
  if (named !== null) return isNear(named);
  // A name that does not resolve reaches no machine.
  const found = await lookup(new URL(url).hostname, { all: true }).catch(() => []);
  return found.every(({ address }) => isNear(address));
}

/**
 * A check sends forged data, which must not reach a machine of somebody else by mistake.
 * @param named the addresses by what names them: `--start`
 * @throws {OperationError} usage
 */
export async function checkAddresses(
  named: Readonly<Record<string, string | undefined>>,
  allowRemote: true | undefined,
): Promise<void> {
  if (allowRemote === true) return;
  for (const [name, address] of Object.entries(named)) {
    if (address === undefined) continue;
    if (await isNearby(address)) continue;
    const host = withoutBrackets(new URL(address).hostname);
    throw usage(`${name} is at ${refusal(host)}`, {
      hint: "It is sent forged data. Where it is yours, add --allow-remote",
    });
  }
}

/** @throws {OperationError} usage */
export function checkReport({ report }: CommonFlags): void {
  if (report === undefined || /\.(xml|md)$/i.test(report)) return;
  throw usage(`--report ${report} ends neither in .xml nor in .md`, { hint: "JUnit: report.xml. Markdown: report.md" });
}
