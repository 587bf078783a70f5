import { BlockList, isIP } from "node:net";

/** Whose word on the sender of a request counts (RFC 7239 8.1 on who may be believed; the header is the older X-Forwarded-For). */

export type TrustsProxy = (address: string) => boolean;

/** IPv4 as it is, also where a socket of IPv6 carries it. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "");

/**
 * @param given a network such as `10.0.0.0/8`, or one address
 * @returns null, or why it is not one
 */
export function proxyProblem(given: string): string | null {
  const [address = "", bits, ...rest] = given.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return `"${given}" is not a network such as 10.0.0.0/8`;
  if (bits === undefined) return null;
  const maxBits = version === 4 ? 32 : 128;
  if (!/^\d{1,3}$/.test(bits) || Number(bits) > maxBits) return `"${given}" must end with / and 1 to ${maxBits}`;
  return Number(bits) === 0 ? `"${given}" would believe every sender; name the networks of your proxies` : null;
}

/** @param networks without a problem */
export function trustedProxies(networks: readonly string[]): TrustsProxy {
  if (networks.length === 0) return () => false;
  const list = new BlockList();
  for (const network of networks) {
    const [address = "", bits] = network.split("/");
    const type = isIP(address) === 4 ? "ipv4" : "ipv6";
    list.addSubnet(address, bits === undefined ? (type === "ipv4" ? 32 : 128) : Number(bits), type);
  }
  return (given) => {
    const address = plain(given);
    const version = isIP(address);
    return version !== 0 && list.check(address, version === 4 ? "ipv4" : "ipv6");
  };
}

/**
 * The address that a request is counted by: the last one of X-Forwarded-For that is not a trusted proxy, where a trusted proxy sent it. Anybody
 * can send the header, so it does not count from elsewhere.
 * @param peer of the connection @param forwarded the header; undefined: there is none
 */
export function addressBehind(trusts: TrustsProxy, peer: string, forwarded: string | undefined): string {
  if (!trusts(peer)) return peer;
  const hops = (forwarded ?? "").split(",").map((hop) => hop.trim());
  const last = hops.findLast((hop) => !trusts(hop));
  return last !== undefined && isIP(last) !== 0 ? plain(last) : peer;
}
