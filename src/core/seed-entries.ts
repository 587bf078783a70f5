import { digestOf } from "./fixtures/digest.ts";
import type { FixtureClient } from "./fixtures/schema-client.ts";
import type { FixtureFile, FixtureGrant, FixtureScope, FixtureSettings } from "./fixtures/schema.ts";
import type { FixtureUser } from "./fixtures/schema-user.ts";

/** Checked fixtures as a list of entries, each with its name and the digest by which a change is seen. */

interface EntryOf<K extends string, T> {
  readonly kind: K;
  readonly name: string;
  /** Of all but the password, which has its own behind a dot. */
  readonly digest: string;
  readonly input: T;
  /** The number of its document, and of the entry in its list. */
  readonly document: number;
  readonly index: number;
}

export type UserEntry = EntryOf<"users", FixtureUser>;
export type ClientEntry = EntryOf<"clients", FixtureClient>;
export type ScopeEntry = EntryOf<"scopes", FixtureScope>;
export type GrantEntry = EntryOf<"grants", FixtureGrant>;

export interface Entries {
  readonly users: readonly UserEntry[];
  readonly clients: readonly ClientEntry[];
  readonly scopes: readonly ScopeEntry[];
  readonly grants: readonly GrantEntry[];
  /** Of all documents together; null where none has any. */
  readonly settings: FixtureSettings | null;
}

/** Is called at each entry; what it returns is waited for. */
export type Step = () => Promise<void> | undefined;

function userDigest(key: string, { password, ...input }: FixtureUser): string {
  const digest = digestOf(key, input);
  return password === undefined ? digest : `${digest}.${digestOf(key, password)}`;
}

/** Of the digest of a user, the part that is the password's; null where it has none. */
export const passwordDigestOf = (digest: string): string | null => digest.split(".")[1] ?? null;

/** @param documents checked */
export async function prepareEntries(key: string, documents: readonly FixtureFile[], step: Step): Promise<Entries> {
  const users: UserEntry[] = [];
  const clients: ClientEntry[] = [];
  const scopes: ScopeEntry[] = [];
  const grants: GrantEntry[] = [];
  const settings: FixtureSettings[] = [];
  for (const [document, file] of documents.entries()) {
    for (const [name, input] of Object.entries(file.scopes ?? {})) {
      scopes.push({ kind: "scopes", name, digest: digestOf(key, input), input, document, index: scopes.length });
    }
    for (const [index, input] of (file.clients ?? []).entries()) {
      clients.push({ kind: "clients", name: input.client_id, digest: digestOf(key, input), input, document, index });
      const pause = step();
      if (pause !== undefined) await pause;
    }
    for (const [index, input] of (file.users ?? []).entries()) {
      users.push({ kind: "users", name: input.username, digest: userDigest(key, input), input, document, index });
      const pause = step();
      if (pause !== undefined) await pause;
    }
    for (const [index, input] of (file.grants ?? []).entries()) {
      const name = `${input.user} ${input.client}`;
      grants.push({ kind: "grants", name, digest: digestOf(key, input), input, document, index });
      const pause = step();
      if (pause !== undefined) await pause;
    }
    if (file.settings !== undefined) settings.push(file.settings);
  }
  return {
    users,
    clients,
    scopes,
    grants,
    settings: settings.length === 0 ? null : settings.reduce((all, some) => ({ ...all, ...some })),
  };
}
