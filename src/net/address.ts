import { lookup as systemLookup, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { networkInterfaces } from "node:os";
import ipaddr from "ipaddr.js";

/**
 * Where an IP address, or the host of a URL, leads: the only place that judges addresses. Whether a caller may go there is for the caller.
 * A leaf, because src/core and src/client know nothing of each other and have to judge alike.
 */

/**
 * - `forbidden`: link-local and others where clouds give machines their credentials; multicast; reserved. Nothing is ever sent there.
 * - `special`: it leads nowhere, or to an address that it hides (documentation, benchmarks, IPv4 inside IPv6; RFC 6890).
 */
type AddressKind = "loopback" | "private" | "special" | "forbidden" | "public";

/** Which part of the operator's network somebody else may name: all of it, this machine, or nothing. */
export type Reach = "local" | "loopback" | "public";

/** What `ipaddr.js` calls them; all other ranges are special. */
const kinds: Readonly<Record<string, AddressKind>> = {
  unicast: "public",
  loopback: "loopback",
  private: "private",
  carrierGradeNat: "private",
  uniqueLocal: "private",
  linkLocal: "forbidden",
  multicast: "forbidden",
  broadcast: "forbidden",
};

type Address = ReturnType<typeof ipaddr.parse>;
type Network = ReturnType<typeof ipaddr.parseCIDR>;

// Each request asks about its address, and reading a network takes longer than comparing with it.
const cidr = (network: string): Network => ipaddr.parseCIDR(network);

/** What `ipaddr.js` does not tell apart. */
const networks: readonly (readonly [AddressKind, readonly Network[]])[] = [
  ["forbidden", ["100.100.100.200/32", "168.63.129.16/32", "240.0.0.0/4", "fd00:ec2::/32"].map(cidr)],
  ["private", [cidr("fec0::/10")]],
  ["special", ["198.18.0.0/15", "2001::/23", "3fff::/20"].map(cidr)],
];

/** A network that has only IPv6 reaches the rest of the internet through it (RFC 6052 3.1). */
const translated = cidr("64:ff9b::/96");

/** Where an IPv6 address holds an IPv4 address: its network, and the 16-bit group with which it begins (RFC 4291 2.5.5, 6052, 6145, 3056). */
const embeddingNetworks: readonly (readonly [network: Network, group: number])[] = [
  [translated, 6],
  [cidr("::ffff:0:0:0/96"), 6],
  [cidr("::/96"), 6],
  [cidr("2002::/16"), 1],
];

/** Of IPv6, only this one is given out (RFC 4291 2.4). */
const givenOut = cidr("2000::/3");

function isIn(address: Address, network: Network): boolean {
  // Both are of one family then, which the types cannot say.
  return address.kind() === network[0].kind() && (address as ipaddr.IPv6).match(network as [ipaddr.IPv6, number]);
}

/** The IPv4 address in an IPv6 address, and the network that says so. */
function embeddedIpv4(address: Address): { readonly network: Network; readonly inner: Address } | null {
  if (!("parts" in address) || address.range() === "loopback" || address.range() === "unspecified") return null;
  const [network, group] = embeddingNetworks.find(([candidate]) => isIn(address, candidate)) ?? [];
  if (network === undefined || group === undefined) return null;
  const bytes = address.toByteArray().slice(group * 2, group * 2 + 4);
  return { network, inner: ipaddr.fromByteArray(bytes) };
}

/**
 * `ipaddr.js` does not read every spelling that Node.js connects to (`::127.0.0.1`), so a URL parser spells it first. The system connects to
 * an IPv4-mapped address (`::ffff:127.0.0.1`) as to the IPv4 address, so that one counts.
 */
function parsed(address: string): Address {
  if (!address.includes(":")) return ipaddr.parse(address);
  const [withoutZone = ""] = address.split("%");
  return ipaddr.process(withoutBrackets(new URL(`http://[${withoutZone}]`).hostname));
}

/** @param address an IP address without brackets */
export function kindOfAddress(address: string): AddressKind {
  return kindOf(parsed(address));
}

function kindOf(address: Address): AddressKind {
  const found = embeddedIpv4(address);
  if (found !== null) {
    const kind = kindOf(found.inner);
    if (kind === "forbidden") return kind;
    return found.network === translated && kind === "public" ? "public" : "special";
  }
  const [listed] = networks.find(([, nets]) => nets.some((net) => isIn(address, net))) ?? [];
  if (listed !== undefined) return listed;
  const kind = kinds[address.range()] ?? "special";
  return kind === "public" && address.kind() === "ipv6" && !isIn(address, givenOut) ? "special" : kind;
}

/** Whether it is now one of this machine's addresses, even a public one. */
export function isOwnAddress(address: string): boolean {
  const given = parsed(address);
  const spelled = (embeddedIpv4(given)?.inner ?? given).toNormalizedString();
  const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
  return own.some((mine) => parsed(mine.address).toNormalizedString() === spelled);
}

/** What one customer of a provider has: an IPv4 address, or an IPv6 network of 64 bits (RFC 6177). */
export function networkOf(address: string): string {
  const given = parsed(address);
  return given.kind() === "ipv4"
    ? given.toNormalizedString()
    : given.toNormalizedString().split(":").slice(0, 4).join(":");
}

/** The host of a URL without the brackets of an IPv6 address. */
export const withoutBrackets = (host: string): string => host.replace(/^\[(.*)\]$/, "$1");

/** Whether a host, as a URL names it, is an IP address: Node.js connects to it without asking a resolver. */
export const isAddress = (host: string): boolean => isIP(withoutBrackets(host)) !== 0;

/** Whether a host, as a URL names it, never leaves the machine (RFC 8252 7.3, RFC 6761 6.3). */
export const isLoopbackHost = (host: string): boolean =>
  isAddress(host) ? kindOfAddress(withoutBrackets(host)) === "loopback" : /^(?:[a-z0-9_-]+\.)*localhost$/i.test(host);

/** The same for the host of an http or https URL. They need no certificate, and no public authority issues one for localhost. */
export const isLoopbackUrl = (url: string): boolean =>
  /^https?:/i.test(url) && URL.canParse(url) && isLoopbackHost(new URL(url).hostname);

/**
 * The address that a URL itself names: an IP address, or 127.0.0.1 for a name that always leads there, with the dot of a complete name too.
 * @returns null for any other name: what it resolves to is checked when the connection is made
 */
export function addressIn(url: string): string | null {
  const host = new URL(url).hostname.replace(/\.$/, "");
  if (isAddress(host)) return withoutBrackets(host);
  return isLoopbackHost(host) ? "127.0.0.1" : null;
}

/**
 * For the option `lookup` of a request: resolves a name and checks its addresses. The connection goes to exactly those addresses (DNS rebinding).
 * Node.js does not call it for a host that is an IP address: check {@link addressIn} first.
 * @param check throws if nothing may be sent to an address
 */
export const checkedLookup =
  (check: (address: string) => void, lookup: typeof systemLookup = systemLookup): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses: readonly LookupAddress[]) => {
      // With an error there are no addresses, whatever the type says. An exception thrown here would end the process.
      if (error !== null) {
        callback(error, "");
        return;
      }
      try {
        for (const { address } of addresses) check(address);
      } catch (refusal) {
        callback(refusal as Error, "");
        return;
      }
      const [first] = addresses;
      if (options.all === true) callback(null, [...addresses]);
      else callback(null, first?.address ?? "", first?.family);
    });
  };
