/*
 * core/inspector: who may use the inspector. A one-time key, which the control API hands out, opens a session of one browser.
 */
import type { ReadTx, Store } from "../../store/store.ts";
import { derive } from "../derived.ts";
import { baseOf } from "../endpoints.ts";
import { hashOf, sameSecret } from "../secrets.ts";

/** Below the issuer. */
export const inspectorPath = "/_idp/";

/** Bytes of randomness in a key and in a session. */
const secretBytes = 32;

/** For how long a key can be used, in seconds. */
const keyLife = 600;

/** Keys and sessions end with the process, or with the last one on the same records. */
export interface InspectorAccess {
  /** @returns a key that opens one session within ten minutes */
  readonly newKey: () => Promise<string>;
  /** Uses a key up. @returns the secret of the new session; null: the key is unknown, used or too old */
  readonly redeem: (key: string) => Promise<string | null>;
  readonly isSession: (secret: string) => boolean;
  /** Whether it is the {@link inspectorMarker} of a session. */
  readonly isMarker: (marker: string) => boolean;
}

interface Key {
  readonly hash: string;
  /** Milliseconds. */
  readonly expiresAt: number;
}

/** The record: hashes only. */
interface State {
  readonly keys: readonly Key[];
  readonly sessions: readonly string[];
  readonly markers: readonly string[];
}

const stateIn = (tx: ReadTx): State =>
  (tx.get("testing", "inspector")?.value ?? { keys: [], sessions: [], markers: [] }) as State;

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
  return {
    async newKey() {
      const key = random(secretBytes);
      const kept = { hash: hashOf(key), expiresAt: now() + keyLife * 1000 };
      await change((before) => ({ ...before, keys: [...before.keys, kept] }));
      return key;
    },
    async redeem(given) {
      const hash = hashOf(given);
      const secret = random(secretBytes);
      const isOpen = await change(({ keys, sessions, markers }) => {
        const found = keys.find((key) => sameSecret(hash, key.hash));
        if (found === undefined) return null;
        return {
          keys: keys.filter((key) => key !== found),
          sessions: [...sessions, hashOf(secret)],
          markers: [...markers, hashOf(inspectorMarker(secret))],
        };
      });
      return isOpen ? secret : null;
    },
    isSession: (secret) => state.value.sessions.includes(hashOf(secret)),
    isMarker: (marker) => state.value.markers.includes(hashOf(marker)),
  };
}

/** The value that each form of the inspector carries. */
export const inspectorCsrf = (secret: string): string => hashOf(`inspector ${secret}`);

/**
 * Tells the pages outside the inspector that a person is signed in to it and may be offered a change. It opens nothing, and no session can be
 * derived from it.
 */
export const inspectorMarker = (secret: string): string => hashOf(`marker ${secret}`);

/** The csrf value of a form on such a page. It is for one session and one change, so no field of the form can be replaced. */
export const markedCsrf = (marker: string, change: readonly string[]): string =>
  hashOf(JSON.stringify([...change, marker]));

/** The address of the inspector with a key that opens it once. */
export async function inspectorAddress({
  issuer,
  inspector,
}: {
  readonly issuer: string;
  readonly inspector: InspectorAccess;
}): Promise<{ readonly url: string; readonly expires_in: number }> {
  return { url: `${baseOf(issuer)}${inspectorPath}?key=${await inspector.newKey()}`, expires_in: keyLife };
}
