import { isLoopbackHost, networkOf } from "../../net/address.ts";
import { OAuthError } from "../errors.ts";

/** How often a peer may let an issuer read metadata documents. */

/** Reads that one peer may cause in each minute. */
const readsOfPeer = 10;
/** Milliseconds. */
const minute = 60_000;
/** How many peers are remembered. Anybody can add some. */
const maxPeers = 1000;

export interface PeerReads {
  /** @param address of the connection @throws {OAuthError} too_many_requests */
  count(address: string): void;
  forget(): void;
}

/** @param now milliseconds since 1970, by the clock that a tester may move */
export function createPeerReads(now: () => number): PeerReads {
  /** When each peer caused its last reads. */
  const readsBy = new Map<string, readonly number[]>();
  return {
    count(address) {
      // This machine has many addresses, and is one peer. So is each network that a provider gives to one customer.
      const peer = isLoopbackHost(address) ? "loopback" : networkOf(address);
      // A read in the future was made before the clock was set back.
      const recent = (readsBy.get(peer) ?? []).filter((at) => at <= now() && at > now() - minute);
      const [first = 0] = recent;
      if (recent.length >= readsOfPeer) {
        const wait = Math.max(1, Math.ceil((first + minute - now()) / 1000));
        const message = `${readsOfPeer} metadata documents were read for this address in the last minute: try again in ${wait} s, or serve the documents with Cache-Control: max-age=60`;
        throw new OAuthError("too_many_requests", message, {
          rule: "RFC 6585 4",
          fix: "serve the documents with Cache-Control: max-age=60, so that they are read less often",
          retryAfter: wait,
        });
      }
      readsBy.delete(peer);
      readsBy.set(peer, [...recent, now()]);
      const [oldest] = readsBy.keys();
      if (readsBy.size > maxPeers && oldest !== undefined) readsBy.delete(oldest);
    },
    forget() {
      readsBy.clear();
    },
  };
}
