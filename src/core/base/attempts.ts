import { OAuthError } from "./errors.ts";
import { hashOf } from "./secrets.ts";
import { isLoopbackHost, networkOf } from "../../net/address.ts";

/**
 * Slows guessing of passwords, client secrets and user codes (RFC 6749 10.10, RFC 8628 5.1, OWASP ASVS 2.2.1). Each limit is an allowance of
 * wrong guesses that grows back with time. There are two: one for a source and what it guesses at, one for a source altogether. A source that
 * has used one up is refused at once (429) until the next guess is due. So no request is held open, and nobody is locked out, because an
 * allowance belongs to a source and not only to its victim. It grows back by real time, however a tester moves the clock. All of it is in
 * memory, of a fixed size, and forgotten at the end of the process and by a reset.
 */

/** An allowance of wrong guesses. */
interface Limit {
  /** Whose allowance: the source, and what it guesses at. */
  readonly key: string;
  /** How many wrong guesses are allowed at once. */
  readonly guesses: number;
  /** Seconds after which one more is allowed. */
  readonly every: number;
}

export interface Attempts {
  /**
   * Takes a guess from each allowance before it is known whether it is right, so that guesses sent at the same moment count as well.
   * @returns a function that gives them back, to be called if the guess was right
   * @throws {OAuthError} too_many_requests, with the seconds to wait, if an allowance is used up; then none is taken
   */
  begin(what: string, limits: readonly Limit[]): () => void;
  /**
   * Like {@link begin}, for a guess that can be checked at once: a right one takes nothing.
   * @returns whether it was right @throws {OAuthError} too_many_requests, before `isRight` is asked
   */
  check(what: string, limits: readonly Limit[], isRight: () => boolean): boolean;
  /** Forgets all guesses. */
  forget(): void;
  /** How many allowances are remembered. */
  readonly size: number;
}

/**
 * How many allowances are remembered. The least recently used one is dropped first. To drop one takes as many wrong guesses elsewhere, which
 * the total allowance of a source makes slow.
 */
const maxRemembered = 10_000;

function remember<V>(map: Map<string, V>, key: string, value: V): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= maxRemembered) return;
  const [oldest] = map.keys();
  if (oldest !== undefined) map.delete(oldest);
}

/** A limit, under the name that its allowance is remembered by. */
interface NamedLimit {
  readonly id: string;
  readonly limit: Limit;
}

/** @param now the real time, in milliseconds since 1970 */
export function createAttempts(now: () => number): Attempts {
  /** When what was taken of an allowance has grown back, in milliseconds since 1970 (the generic cell rate algorithm). */
  const grownBackAt = new Map<string, number>();

  const taken = (id: string, limit: Limit): number => {
    const left = (grownBackAt.get(id) ?? 0) - now();
    const maxDelay = limit.guesses * limit.every * 1000;
    if (left <= maxDelay) return Math.max(left, 0);
    // The clock of the machine was set back: nobody waits for longer than an allowance takes to grow back.
    grownBackAt.set(id, now() + maxDelay);
    return maxDelay;
  };
  const add = (id: string, limit: Limit, guesses: number): void => {
    const left = taken(id, limit) + guesses * limit.every * 1000;
    if (left > 0) remember(grownBackAt, id, now() + left);
    else grownBackAt.delete(id);
  };

  const idsOf = (limits: readonly Limit[]): readonly NamedLimit[] =>
    limits.map((limit) => ({ id: hashOf(limit.key), limit }));
  const refuseUsedUp = (what: string, asked: readonly NamedLimit[]): void => {
    const waits = asked.map(({ id, limit }) => taken(id, limit) - (limit.guesses - 1) * limit.every * 1000);
    const wait = Math.ceil(Math.max(0, ...waits) / 1000);
    if (wait > 0) {
      throw new OAuthError("too_many_requests", `too many ${what} from here: try again in ${wait} s`, {
        rule: "RFC 6585 4",
        fix: `wait ${wait} s, or restart the server: it counts guesses in memory`,
        retryAfter: wait,
      });
    }
  };

  return {
    begin(what, limits) {
      const asked = idsOf(limits);
      refuseUsedUp(what, asked);
      for (const { id, limit } of asked) add(id, limit, 1);
      return () => {
        for (const { id, limit } of asked) add(id, limit, -1);
      };
    },
    check(what, limits, isRight) {
      const asked = idsOf(limits);
      refuseUsedUp(what, asked);
      if (isRight()) return true;
      for (const { id, limit } of asked) add(id, limit, 1);
      return false;
    },
    forget() {
      grownBackAt.clear();
    },
    get size() {
      return grownBackAt.size;
    },
  };
}

/** Passwords. @param subject the user, or the name that was typed if no user has it */
export const passwordLimits = (subject: string, address: string): readonly Limit[] => [
  { key: `password ${address} ${subject}`, guesses: 30, every: 10 },
  { key: `passwords ${address}`, guesses: 500, every: 1 },
];

/** Secrets of a client, and assertions that it is said to have signed. */
export const clientSecretLimits = (clientId: string, address: string): readonly Limit[] => [
  { key: `secret ${address} ${clientId}`, guesses: 300, every: 1 },
  { key: `secrets ${address}`, guesses: 3000, every: 0.1 },
];

/** Clients that register themselves (RFC 7591 5). Each registration counts. */
export const registrationLimits = (address: string): readonly Limit[] => [
  { key: `registrations ${address}`, guesses: 1000, every: 10 },
];

/** User codes that a signed-in user types: eight letters of twenty, good for ten minutes (RFC 8628 5.1). */
export const userCodeLimits = (userId: string, address: string): readonly Limit[] => [
  { key: `user code ${address} ${userId}`, guesses: 50, every: 10 },
  { key: `user codes ${address}`, guesses: 500, every: 1 },
];

/** How often a peer may let an issuer read metadata documents. */

/** Reads that one peer may cause in each minute. */
const readsOfPeer = 10;
/** Milliseconds. */
const minute = 60_000;
/** How many peers are remembered. Anybody can add some. */
const maxPeers = 1000;

interface PeerReads {
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
