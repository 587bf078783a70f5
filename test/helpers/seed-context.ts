import { createHash } from "node:crypto";
import { onTestFinished } from "vitest";
import { createPendingPasswords, type PendingPasswords } from "../../src/core/sign-in/login/pending-passwords.ts";
import type { UriSettings } from "../../src/core/records/redirect-uri.ts";
import type { Settings } from "../../src/core/context.ts";
import { seed, type SeedResult } from "../../src/core/admin/seed/seed.ts";
import type { FixtureSource } from "../../src/core/base/fixture-files/source.ts";
import type { FixtureFile } from "../../src/core/admin/fixtures/schema.ts";
import { createMemoryStore } from "../../src/store/memory.ts";
import { userAndClient, type Client, type Grant, type Store, type Tx, type User } from "../../src/store/store.ts";
import { runTwice } from "./run-twice.ts";

/** The context for applying fixtures, in memory, with a clock that is set by hand. */
export interface SeedWorld {
  readonly store: Store;
  readonly passwords: PendingPasswords;
  readonly random: (bytes: number) => string;
  readonly now: () => number;
  readonly settings: Partial<UriSettings>;
  readonly flags: Partial<Settings>;
  /** Milliseconds since 1970. */
  time: number;
  /** What the background work could not do. */
  readonly failures: unknown[];
  user(username: string): Promise<User | undefined>;
  client(clientId: string): Promise<Client | undefined>;
  grant(username: string, clientId: string): Promise<Grant | undefined>;
  /** Applies fixtures as the start of a server does. */
  start(...fixtures: readonly (FixtureFile | string)[]): Promise<SeedResult>;
  /** Applies fixtures as `idp seed` does. */
  add(fixtures: FixtureFile): Promise<SeedResult>;
  change(work: (tx: Tx) => void): Promise<void>;
  edit(username: string, fields: Partial<User>): Promise<void>;
}

/** For one test. @param store kept from an earlier world: its process ended, and another one starts */
export function seedWorld(store?: Store): SeedWorld {
  let drawn = 0;
  const clock = { time: Date.parse("2026-01-01T00:00:00Z") };
  const now = (): number => clock.time;
  const kept = store ?? runTwice(createMemoryStore({ now }));
  // As many as are asked for, and no two the same.
  const random = (bytes: number): string =>
    createHash("sha512").update(String(drawn++)).digest().subarray(0, bytes).toString("base64url");
  const failures: unknown[] = [];
  const user = (username: string): Promise<User | undefined> =>
    kept.read((tx) => tx.find("users", "username", username));
  const passwords = createPendingPasswords({ store: kept, random }, (error) => failures.push(error));
  onTestFinished(() => passwords.close());
  const world: SeedWorld = Object.assign(clock, {
    store: kept,
    random,
    now,
    failures,
    settings: {},
    flags: {},
    passwords,
    user,
    client: (clientId: string) => kept.read((tx) => tx.get("clients", clientId)),
    grant: async (username: string, clientId: string) => {
      const id = (await user(username))?.id ?? "";
      return kept.read((tx) => tx.find("grants", "userAndClient", userAndClient(id, clientId)));
    },
    start: (...fixtures: readonly (FixtureFile | string)[]) =>
      seed(
        world,
        fixtures.map((one, index) => fixtureSource(one, `f${index}.json`)),
        { mode: "start" },
      ),
    add: (fixtures: FixtureFile) => seed(world, [fixtureSource(fixtures)], { mode: "now" }),
    change: (work: (tx: Tx) => void) => kept.transaction(work),
    edit: async (username: string, fields: Partial<User>) => {
      const edited = { ...((await user(username)) as User), ...fields };
      await kept.transaction((tx) => tx.put("users", edited));
    },
  });
  return world;
}

export const fixtureSource = (fixtures: FixtureFile | string, name = "f.json"): FixtureSource => ({
  name,
  text: typeof fixtures === "string" ? fixtures : JSON.stringify(fixtures),
});

export const seededApp = {
  client_id: "app",
  client_name: "App",
  client_secret: "s",
  redirect_uris: ["http://localhost/cb"],
};
export const seededAlice = { username: "alice", email: "alice@example.com" };
