import { createHash } from "node:crypto";
import { createPendingPasswords, type PendingPasswords } from "../../src/core/login/pending-passwords.ts";
import type { UriSettings } from "../../src/core/clients/http-hosts.ts";
import { seed, type SeedResult } from "../../src/core/fixtures/apply/seed.ts";
import type { FixtureSource } from "../../src/core/fixtures/read/source.ts";
import type { FixtureFile } from "../../src/core/fixtures/schema/schema.ts";
import { createMemoryStore } from "../../src/store/memory.ts";
import type { Client, Grant, Store, User } from "../../src/store/store.ts";
import { runTwice } from "./run-twice.ts";

/** The context for applying fixtures, in memory, with a clock that is set by hand. */
export interface SeedWorld {
  readonly store: Store;
  readonly passwords: PendingPasswords;
  readonly random: (bytes: number) => string;
  readonly now: () => number;
  readonly settings: Partial<UriSettings>;
  /** Milliseconds since 1970. */
  time: number;
  /** What the background work could not do. */
  readonly failures: unknown[];
  user(username: string): Promise<User | undefined>;
  client(clientId: string): Promise<Client | undefined>;
  grant(username: string, clientId: string): Promise<Grant | undefined>;
}

/** @param store kept from an earlier world: its process ended, and another one starts */
export function seedWorld(store?: Store): SeedWorld {
  let drawn = 0;
  const world = { time: Date.parse("2026-01-01T00:00:00Z") };
  const now = (): number => world.time;
  const kept = store ?? runTwice(createMemoryStore({ now }));
  // As many as are asked for, and no two the same.
  const random = (bytes: number): string =>
    createHash("sha512").update(String(drawn++)).digest().subarray(0, bytes).toString("base64url");
  const failures: unknown[] = [];
  const user = (username: string): Promise<User | undefined> =>
    kept.read((tx) => tx.find("users", "username", username));
  return Object.assign(world, {
    store: kept,
    random,
    now,
    failures,
    settings: {},
    passwords: createPendingPasswords({ store: kept, random }, (error) => failures.push(error)),
    user,
    client: (clientId: string) => kept.read((tx) => tx.get("clients", clientId)),
    grant: async (username: string, clientId: string) => {
      const id = (await user(username))?.id ?? "";
      return kept.read((tx) => tx.find("grants", "userAndClient", `${id} ${clientId}`));
    },
  });
}

export const fixtureSource = (fixtures: FixtureFile | string, name = "f.json"): FixtureSource => ({
  name,
  text: typeof fixtures === "string" ? fixtures : JSON.stringify(fixtures),
});

/** Applies fixtures as the start of a server does. */
export const seedAtStart = (world: SeedWorld, fixtures: readonly (FixtureFile | string)[]): Promise<SeedResult> =>
  seed(
    world,
    fixtures.map((one, index) => fixtureSource(one, `f${index}.json`)),
    { mode: "start" },
  );

/** Applies fixtures as `idp seed` does. */
export const seedNow = (world: SeedWorld, fixtures: FixtureFile): Promise<SeedResult> =>
  seed(world, [fixtureSource(fixtures)], { mode: "now" });

export const seededApp = {
  client_id: "app",
  client_name: "App",
  client_secret: "s",
  redirect_uris: ["http://localhost/cb"],
};
export const seededAlice = { username: "alice", email: "alice@example.test" };
