/*
 * core/records/inspector: where the inspector is, and who may use it. A one-time key, which the control API hands out, opens a session of one browser.
 */
import type { InspectorPass, ReadTx, Store, Tx } from "../../../store/store.ts";
import { derive } from "../../base/derived.ts";
import { baseOf } from "../../base/endpoints.ts";
import type { ControlToken, Operator, Role } from "../operators/roles.ts";
import { hashOf, sameSecret } from "../../base/secrets.ts";

/** Bytes of randomness in the path. */
const pathBytes = 16;

/** Bytes of randomness in a key and in a session. */
const secretBytes = 32;

/** How long a key can be used, in seconds. */
const keyLife = 600;

/** How long a session lasts on a shared store, in seconds: there it does not end with a process. */
const sharedSessionLife = 12 * 3600;

/** How many keys and sessions a token has at a time. Older ones end. */
const maxKeys = 20;
const maxSessions = 100;

/** Who opened an inspector, and with which token. */
export interface Opener extends Operator {
  /** SHA-256 of the token, which ends what it opened. */
  readonly tokenHash: string;
}

export const openerOf = ({ name, role, token }: ControlToken): Opener => ({ name, role, tokenHash: hashOf(token) });

/** Whether the token that somebody came with still counts, with the role that it had. @param tokens the admin token among them */
export const isCurrent = (tokens: readonly ControlToken[], { name, role, tokenHash }: Opener): boolean =>
  tokens.some((one) => one.name === name && one.role === role && sameSecret(hashOf(one.token), tokenHash));

/** Keys and sessions end with the process, or with the last one on the same records. */
export interface InspectorAccess {
  /** Who asks without a token: whoever runs this server. */
  readonly owner: Opener;
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

type Places = Readonly<Record<Role, string>>;

/** The random part of the path of each role; null: nobody has made them yet. */
const placesIn = (tx: ReadTx): Places | null => (tx.get("testing", "places")?.value ?? null) as Places | null;

interface Pass extends InspectorPass {
  readonly opener: Opener;
}
type Passes = "inspectorKeys" | "inspectorSessions";

const passesIn =
  (name: Passes) =>
  (tx: ReadTx): ReadonlyMap<string, Pass> =>
    new Map([...tx.all(name)].map((pass) => [pass.id, pass as Pass]));

/** Ends every key and session. The next server has other places. */
export function endInspector(tx: Tx): void {
  tx.remove("testing", "places");
  tx.clear("inspectorKeys");
  tx.clear("inspectorSessions");
}

/**
 * @param now the real time, because a key is valid for ten real minutes
 * @param owner who runs this server
 */
export async function createInspectorAccess(
  store: Store,
  { now, random, owner }: { now: () => number; random: (bytes: number) => string; owner: Opener },
): Promise<InspectorAccess> {
  const isOver = ({ until }: Pick<InspectorPass, "until">, at: number): boolean => until !== null && until <= at;
  /** A new pass takes the place of the oldest ones of its token; those of others are not looked at. */
  function add(tx: Tx, name: Passes, pass: Pass, { max, at }: { readonly max: number; readonly at: number }): void {
    tx.put(name, pass);
    const own = tx.findAll(name, "token", pass.tokenHash);
    const live = own.filter((one) => !isOver(one, at));
    for (const one of [...own.filter((each) => isOver(each, at)), ...live.slice(0, -max)]) tx.remove(name, one.id);
  }
  // The first instance on the records makes them, and all others use them.
  const [reader, tester, admin] = [random(pathBytes), random(pathBytes), random(pathBytes)];
  const began = now();
  await store.transaction((tx) => {
    if (placesIn(tx) === null) tx.put("testing", { id: "places", value: { reader, tester, admin } });
    for (const name of ["inspectorKeys", "inspectorSessions"] as const)
      for (const pass of [...tx.all(name)]) if (isOver(pass, began)) tx.remove(name, pass.id);
  });
  const places = await derive(store, ["testing"], placesIn);
  const keys = await derive(store, ["inspectorKeys"], passesIn("inspectorKeys"));
  const sessions = await derive(store, ["inspectorSessions"], passesIn("inspectorSessions"));
  const placeOf = (role: Role): string => places.value?.[role] ?? "";
  const isUsable = (pass: Pass | undefined, role: Role): pass is Pass =>
    pass?.opener.role === role && pass.place === placeOf(role) && !isOver(pass, now());
  return {
    owner,
    pathOf: (role) => `/_idp/${placeOf(role)}/`,
    async newKey(opener) {
      const [key, at] = [random(secretBytes), now()];
      const [id, { role, tokenHash }] = [hashOf(key), opener];
      const pass = { id, tokenHash, opener, place: placeOf(role), until: at + keyLife * 1000 };
      await store.transaction((tx) => {
        add(tx, "inspectorKeys", pass, { max: maxKeys, at });
      });
      return key;
    },
    // By its hash: how long a look takes says nothing about the key.
    isKey: (given, role) => isUsable(keys.value.get(hashOf(given)), role),
    async redeem(given, role) {
      const [secret, at] = [random(secretBytes), now()];
      const until = store.catchUp === undefined ? null : at + sharedSessionLife * 1000;
      const isOpen = await store.transaction((tx) => {
        const key = tx.get("inspectorKeys", hashOf(given)) as Pass | undefined;
        if (!isUsable(key, role)) return false;
        tx.remove("inspectorKeys", key.id);
        add(tx, "inspectorSessions", { ...key, id: hashOf(secret), until }, { max: maxSessions, at });
        return true;
      });
      return isOpen ? secret : null;
    },
    openerOf(secret, role) {
      const found = sessions.value.get(hashOf(secret));
      return isUsable(found, role) ? found.opener : null;
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
