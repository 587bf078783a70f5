import { OAuthError } from "../../base/errors.ts";
import { readJson } from "../../base/outbound.ts";
import type { Reach } from "../../../net/address.ts";
import type { FetchedKeys } from "./keys.ts";

/**
 * Public keys at an address, of clients (`jwks_uri`) and of trusted issuers. Anybody can send an assertion that names them, so a forged one must not
 * cause a fetch each time: an address is asked once at a time, and not again for a while after what it gave did not help.
 */

/** Milliseconds without a fetch after keys that did not help, and after a fetch that failed. */
const pauseAfterKeys = 10_000;
const pauseAfterFailure = 2000;
/** How many addresses are remembered. A client that registers itself may name any. */
const maxRemembered = 1000;

interface Fetched {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly keys: unknown;
  /** Why there are no keys. */
  readonly failure: OAuthError | null;
  /** Milliseconds since 1970: no fetch for a while from here on. null: the keys helped. */
  readonly pausedAt: number | null;
  /** Whether it is known that the keys helped, or that they did not. */
  readonly isTried: boolean;
}

/** @param now milliseconds since 1970, by the clock that no tester moves */
export function createFetchedKeys(now: () => number): FetchedKeys {
  const last = new Map<string, Fetched>();
  const underway = new Map<string, Promise<Fetched>>();
  // What an operator's client may reach is not for another client with the same address.
  const keyOf = (uri: string, reach: Reach): string => `${reach} ${uri}`;

  function remember(key: string, fetched: Fetched): void {
    last.delete(key);
    last.set(key, fetched);
    const [oldest] = last.keys();
    if (last.size > maxRemembered && oldest !== undefined) last.delete(oldest);
  }

  async function fetchKeys(uri: string, reach: Reach): Promise<Fetched> {
    const at = now();
    try {
      // Until it is known whether these keys help, whoever else arrives gets them too.
      return { at, keys: await readJson(uri, reach), failure: null, pausedAt: at, isTried: false };
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      return { at, keys: undefined, failure: error, pausedAt: at, isTried: true };
    }
  }

  function begin(key: string, uri: string, reach: Reach): Promise<Fetched> {
    const begun = fetchKeys(uri, reach)
      .then((fetched) => {
        remember(key, fetched);
        return fetched;
      })
      .finally(() => underway.delete(key));
    underway.set(key, begun);
    return begun;
  }

  /** One in the future was before the clock was set back. */
  const isWithin = (since: number | null, length: number): boolean =>
    since !== null && since <= now() && now() < since + length;
  const isPaused = ({ failure, pausedAt }: Fetched): boolean =>
    isWithin(pausedAt, failure === null ? pauseAfterKeys : pauseAfterFailure);

  return {
    async read(uri, reach, isGood) {
      const key = keyOf(uri, reach);
      const before = last.get(key);
      const isUsable =
        before !== undefined &&
        (isPaused(before) || (before.failure === null && before.at <= now() && isGood(before.keys, now() - before.at)));
      const { keys, failure } = isUsable ? before : await (underway.get(key) ?? begin(key, uri, reach));
      if (failure !== null) throw failure;
      return keys;
    },
    tried(uri, reach, didHelp) {
      const key = keyOf(uri, reach);
      const before = last.get(key);
      // A pause is made neither longer nor shorter by those who use the same keys.
      if (before === undefined || (before.isTried && isPaused(before))) return;
      last.set(key, { ...before, pausedAt: didHelp ? null : now(), isTried: true });
    },
  };
}
