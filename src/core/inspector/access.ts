/*
 * core/inspector: who may use the inspector. A one-time key, which the control API hands out, opens a session of one browser.
 */
import { baseOf } from "../endpoints.ts";
import { hashOf, sameSecret } from "../secrets.ts";

/** Below the issuer. */
export const inspectorPath = "/_idp/";

/** Bytes of randomness in a key and in a session. */
const secretBytes = 32;

/** For how long a key can be used, in seconds. */
const keyLife = 600;

/** Keys and sessions are in memory: they end with the process. */
export interface InspectorAccess {
  /** @returns a key that opens one session within ten minutes */
  readonly newKey: () => string;
  /** Uses a key up. @returns the secret of the new session; null: the key is unknown, used or too old */
  readonly redeem: (key: string) => string | null;
  readonly isSession: (secret: string) => boolean;
  /** Whether it is the {@link inspectorMarker} of a session. */
  readonly isMarker: (marker: string) => boolean;
}

interface Key {
  readonly hash: string;
  /** Milliseconds. */
  readonly expiresAt: number;
}

/** @param now nobody moves it: a key lives for ten minutes of the person who was given it */
export function createInspectorAccess(now: () => number, random: (bytes: number) => string): InspectorAccess {
  let keys: readonly Key[] = [];
  const sessions = new Set<string>();
  const markers = new Set<string>();
  const usable = (): readonly Key[] => keys.filter(({ expiresAt }) => expiresAt > now());
  return {
    newKey() {
      const key = random(secretBytes);
      keys = [...usable(), { hash: hashOf(key), expiresAt: now() + keyLife * 1000 }];
      return key;
    },
    redeem(given) {
      const hash = hashOf(given);
      const found = usable().find((key) => sameSecret(hash, key.hash));
      if (found === undefined) return null;
      keys = keys.filter((key) => key !== found);
      const secret = random(secretBytes);
      sessions.add(hashOf(secret));
      markers.add(hashOf(inspectorMarker(secret)));
      return secret;
    },
    isSession: (secret) => sessions.has(hashOf(secret)),
    isMarker: (marker) => markers.has(hashOf(marker)),
  };
}

/** The value that each form of the inspector carries. */
export const inspectorCsrf = (secret: string): string => hashOf(`inspector ${secret}`);

/**
 * What tells the pages beyond the inspector that a person is in it, who may be offered a change there. It opens nothing, and a session cannot
 * be found from it.
 */
export const inspectorMarker = (secret: string): string => hashOf(`marker ${secret}`);

/** The value of a form on such a page: of one session, and of one change, so that no field of the form can be another. */
export const markedCsrf = (marker: string, change: readonly string[]): string =>
  hashOf(JSON.stringify([...change, marker]));

/** The address of the inspector with a key that opens it once. */
export const inspectorAddress = ({
  address,
  inspector,
}: {
  readonly address: string;
  readonly inspector: InspectorAccess;
}): { readonly url: string; readonly expires_in: number } => ({
  url: `${baseOf(address)}${inspectorPath}?key=${inspector.newKey()}`,
  expires_in: keyLife,
});
