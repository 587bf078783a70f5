import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { Problem } from "../../client/check.ts";
import { OperationError } from "../../core/base/errors.ts";
import { addressIn, checkedLookup, kindOfAddress, withoutBrackets } from "../../net/address.ts";

/** Where a check may go: what it sends is forged, and must not reach a machine of somebody else by mistake. */

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
    throw new OperationError("usage", `${name} is at ${refusal(host)}`, {
      hint: "It is sent forged data. Where it is yours, add --allow-remote",
    });
  }
}
