import type { ClientView } from "../core/clients-admin.ts";
import type { FixtureFile } from "../core/fixtures/schema.ts";
import type { Idp } from "../index.ts";
import type { FoundFixtures } from "../fixture-files.ts";
import { fewRows, type Screen, type ScreenClient } from "./first-screen.ts";
import { seedSummary } from "./seed-summary.ts";
import { version } from "../package.ts";

/** What the first screen of `idp start` shows, of a server that has just started. */

/** @param data where the data is, in words */
export async function screenOf(idp: Idp, fixtures: FoundFixtures, data: string): Promise<Screen> {
  const users = await idp.call("users.list", { limit: fewRows });
  const { users: allUsers } = await idp.call("status", {});
  const clients = await idp.call("clients.list", { secrets: true });
  const demo = demoOf(fixtures);
  return {
    version,
    took: performance.now(),
    issuer: idp.issuer,
    users: {
      first: users.map(({ username, email, status }) => {
        return { username, email, status, password: demo.passwords.get(username) ?? null };
      }),
      all: allUsers,
    },
    clients: {
      first: clients.slice(0, fewRows).map((client) => screenClient(client, demo.secrets.get(client.client_id))),
      all: clients.length,
    },
    data,
    fixtures: [
      fixtures.names.join(", ") || "built-in demo; for your own: idp.fixtures.yaml here, or --fixtures",
      seedSummary(idp.seeded),
    ],
  };
}

/** What of the built-in demo everybody knows: passwords by username, secrets by client id. Of other fixtures nothing is told. */
function demoOf({ sources }: FoundFixtures): {
  readonly passwords: ReadonlyMap<string, string>;
  readonly secrets: ReadonlyMap<string, string>;
} {
  const demos = sources.flatMap((source) => ("value" in source ? [source.value as FixtureFile] : []));
  const known = (entries: readonly (readonly [string, string | undefined])[]): ReadonlyMap<string, string> =>
    new Map(entries.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])));
  return {
    passwords: known(demos.flatMap(({ users = [] }) => users.map((user) => [user.username, user.password] as const))),
    secrets: known(
      demos.flatMap(({ clients = [] }) => clients.map((client) => [client.client_id, client.client_secret] as const)),
    ),
  };
}

/** @param known the secret that everybody knows; shown where it is still the client's */
const screenClient = (client: ClientView, known: string | undefined): ScreenClient => ({
  id: client.client_id,
  isPublic: client.public,
  secret: known !== undefined && client.client_secret === known ? known : null,
  redirectUris: client.redirect_uris,
  grantTypes: Array.isArray(client.grant_types) ? client.grant_types.map(String) : [],
});
