import type { LookupFunction } from "node:net";
import { checkedLookup, kindOfAddress } from "../../net/address.ts";

/** Which addresses a browser opens for somebody who signs in at an app of their own. */

/** An address that is not opened. */
export class FarAddressError extends Error {
  override readonly name = "FarAddressError";
}

/** Resolves names, and connects to this machine and private networks alone; to others only where that is asked for, and never to link-local ones. */
export const nearLookup = (allowRemote: boolean): LookupFunction =>
  checkedLookup((address) => {
    const kind = kindOfAddress(address);
    if (kind === "forbidden") {
      throw new FarAddressError(
        `it leads to ${address}, where machines of clouds keep their credentials, or nobody is`,
      );
    }
    if (!allowRemote && kind !== "loopback" && kind !== "private") {
      throw new FarAddressError(`it leads to ${address}, which is neither this machine nor a private network`);
    }
  });
