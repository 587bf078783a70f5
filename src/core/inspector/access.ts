/*
 * core/inspector: where the inspector is, and who may use it. A one-time key, which the control API hands out, opens a session of one browser.
 */
import type { ReadTx, Store } from "../../store/store.ts";
import { derive } from "../derived.ts";
import { baseOf } from "../endpoints.ts";
import { hashOf, sameSecret } from "../secrets.ts";

/** Bytes of randomness in the path. */
const pathBytes = 16;

/** Bytes of randomness in a key and in a session. */
const secretBytes = 32;

/** For how long a key can be used, in seconds. */
const keyLife = 600;

/** Keys and sessions end with the process, or with the last one on the same records. */
export interface InspectorAccess {
  /**
   * Below the issuer: `/_idp/<random>/`. Cookies ignore ports, so only a path that nobody else knows keeps the cookie of the inspector from
   * other servers on this host.
   */
  readonly path: string;
  /** @returns a key that opens one session within ten minutes */
  readonly newKey: () => Promise<string>;
  /** Whether a key can still be used. */
  readonly isKey: (key: string) => boolean;
  /** Uses a key up. @returns the secret of the new session; null: the key is unknown, used or too old */
  readonly redeem: (key: string) => Promise<string | null>;
  readonly isSession: (secret: string) => boolean;
}

interface Key {
  readonly hash: string;
  /** Milliseconds. */
  readonly expiresAt: number;
}

/** The record: of keys and sessions, it has hashes only. */
interface State {
  /** The random part of the path; "": nobody has made it yet. */
  readonly place: string;
  readonly keys: readonly Key[];
  readonly sessions: readonly string[];
}

const stateIn = (tx: ReadTx): State =>
  (tx.get("testing", "inspector")?.value ?? { place: "", keys: [], sessions: [] }) as State;

/** @param now the real time, because a key is valid for ten real minutes */
export async function createInspectorAccess(
  store: Store,
  now: () => number,
  random: (bytes: number) => string,
): Promise<InspectorAccess> {
  const state = await derive(store, ["testing"], stateIn);
  const change = (work: (before: State) => State | null): Promise<boolean> =>
    store.transaction((tx) => {
      const before = stateIn(tx);
      const keys = before.keys.filter(({ expiresAt }) => expiresAt > now());
      const after = work({ ...before, keys });
      if (after !== null) tx.put("testing", { id: "inspector", value: after });
      return after !== null;
    });
  // The first instance on the records makes it, and all others use it.
  const made = random(pathBytes);
  await change((before) => (before.place === "" ? { ...before, place: made } : null));
  return {
    path: `/_idp/${state.value.place}/`,
    async newKey() {
      const key = random(secretBytes);
      const kept = { hash: hashOf(key), expiresAt: now() + keyLife * 1000 };
      await change((before) => ({ ...before, keys: [...before.keys, kept] }));
      return key;
    },
    isKey(given) {
      const hash = hashOf(given);
      return state.value.keys.some((key) => key.expiresAt > now() && sameSecret(hash, key.hash));
    },
    async redeem(given) {
      const hash = hashOf(given);
      const secret = random(secretBytes);
      const isOpen = await change(({ keys, sessions, ...rest }) => {
        const found = keys.find((key) => sameSecret(hash, key.hash));
        if (found === undefined) return null;
        return { ...rest, keys: keys.filter((key) => key !== found), sessions: [...sessions, hashOf(secret)] };
      });
      return isOpen ? secret : null;
    },
    isSession: (secret) => state.value.sessions.includes(hashOf(secret)),
  };
}

/** The value that each form of the inspector carries. */
export const inspectorCsrf = (secret: string): string => hashOf(`inspector ${secret}`);

/**
 * The address of the inspector with a key that opens it once.
 * @param flow a sign-in that the ledger holds; absent: the list of all
 */
export async function inspectorAddress(
  { issuer, inspector }: { readonly issuer: string; readonly inspector: InspectorAccess },
  flow?: string,
): Promise<{ readonly url: string; readonly expires_in: number }> {
  const query = new URLSearchParams({ key: await inspector.newKey(), ...(flow !== undefined && { flow }) });
  return { url: `${baseOf(issuer)}${inspector.path}?${query.toString()}`, expires_in: keyLife };
}
