/*
 * core/inspector: where the inspector is, and who may use it. A one-time key, which the control API hands out, opens a session of one browser.
 */
import type { ReadTx, Store } from "../../store/store.ts";
import { derive } from "../derived.ts";
import { baseOf } from "../endpoints.ts";
import type { ControlToken, Operator, Role } from "../operators/roles.ts";
import { hashOf, sameSecret } from "../secrets.ts";

/** Bytes of randomness in the path. */
const pathBytes = 16;

/** Bytes of randomness in a key and in a session. */
const secretBytes = 32;

/** How long a key can be used, in seconds. */
const keyLife = 600;

/** Who opened an inspector, and with which token. */
export interface Opener extends Operator {
  /** SHA-256 of the control token; null: the admin token, or a command that has the data. */
  readonly tokenHash: string | null;
}

/** Whether the token that somebody came with still counts, with the role that it had. */
export const isCurrent = (tokens: readonly ControlToken[], { name, role, tokenHash }: Opener): boolean =>
  tokenHash === null ||
  tokens.some((one) => one.name === name && one.role === role && sameSecret(hashOf(one.token), tokenHash));

/** Keys and sessions end with the process, or with the last one on the same records. */
export interface InspectorAccess {
  /**
   * Below the issuer: `/_idp/<random>/`, another one for each role. Cookies ignore ports, so only a path that nobody else knows keeps the cookie of
   * the inspector from other servers on this host.
   */
  readonly pathOf: (role: Role) => string;
  /** @returns a key that opens one session within ten minutes */
  readonly newKey: (opener: Opener) => Promise<string>;
  /** Whether a key of a role can still be used. */
  readonly isKey: (key: string, role: Role) => boolean;
  /** Uses a key up. @returns the secret of the new session; null: the key is unknown, used, too old, or of another role */
  readonly redeem: (key: string, role: Role) => Promise<string | null>;
  /** Whose session it is; null: nobody's, or one of another role. */
  readonly openerOf: (secret: string, role: Role) => Opener | null;
}

interface Key {
  readonly hash: string;
  /** Milliseconds. */
  readonly expiresAt: number;
  readonly opener: Opener;
}

/** The record: of keys and sessions, it has hashes only. */
interface State {
  /** The random part of the path of each role; null: nobody has made them yet. */
  readonly places: Readonly<Record<Role, string>> | null;
  readonly keys: readonly Key[];
  readonly sessions: readonly Pick<Key, "hash" | "opener">[];
}

const stateIn = (tx: ReadTx): State =>
  (tx.get("testing", "inspector")?.value ?? { places: null, keys: [], sessions: [] }) as State;

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
  // The first instance on the records makes them, and all others use them.
  const [reader, tester, admin] = [random(pathBytes), random(pathBytes), random(pathBytes)];
  await change((before) => (before.places === null ? { ...before, places: { reader, tester, admin } } : null));
  return {
    pathOf: (role) => `/_idp/${state.value.places?.[role] ?? ""}/`,
    async newKey(opener) {
      const key = random(secretBytes);
      const kept = { hash: hashOf(key), expiresAt: now() + keyLife * 1000, opener };
      await change((before) => ({ ...before, keys: [...before.keys, kept] }));
      return key;
    },
    isKey(given, role) {
      const hash = hashOf(given);
      return state.value.keys.some(
        (key) => key.opener.role === role && key.expiresAt > now() && sameSecret(hash, key.hash),
      );
    },
    async redeem(given, role) {
      const hash = hashOf(given);
      const secret = random(secretBytes);
      const isOpen = await change(({ keys, sessions, ...rest }) => {
        const found = keys.find((key) => key.opener.role === role && sameSecret(hash, key.hash));
        if (found === undefined) return null;
        const session = { hash: hashOf(secret), opener: found.opener };
        return { ...rest, keys: keys.filter((key) => key !== found), sessions: [...sessions, session] };
      });
      return isOpen ? secret : null;
    },
    openerOf(secret, role) {
      const hash = hashOf(secret);
      const found = state.value.sessions.find((session) => session.hash === hash);
      return found?.opener.role === role ? found.opener : null;
    },
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
  opener: Opener,
  flow?: string,
): Promise<{ readonly url: string; readonly expires_in: number }> {
  const query = new URLSearchParams({ key: await inspector.newKey(opener), ...(flow !== undefined && { flow }) });
  return { url: `${baseOf(issuer)}${inspector.pathOf(opener.role)}?${query.toString()}`, expires_in: keyLife };
}
