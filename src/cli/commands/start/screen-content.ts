import { addressesOf } from "../clients/client-lines.ts";
import { listClients, type ClientView } from "../../../core/records/clients/admin.ts";
import { portOf } from "../../../core/base/endpoints.ts";
import type { FixtureFile } from "../../../core/admin/fixtures/schema.ts";
import type { SeedResult } from "../../../core/admin/seed/seed.ts";
import { status } from "../../../core/testing/status.ts";
import { listUsers } from "../../../core/records/users/users.ts";
import type { Server } from "../../../serve/server.ts";
import type { FoundFixtures } from "../../../serve/fixture-files.ts";
import { likelyClient, namedIn } from "../env/app-client.ts";
import { readTextFile } from "../env/file.ts";
import { envFile } from "../env/choices.ts";
import { staleFile } from "../env/written.ts";
import type { Invocation } from "../../invocation.ts";
import { say } from "../../output/print.ts";
import { loginClient } from "../init/app-types.ts";
import { maxRows, type Screen, type ScreenClient } from "./first-screen.ts";
import { nothingSeeded, seedSummary, count } from "../../output/words.ts";
import type { CommandLine } from "../../../core/base/hint.ts";
import { version } from "../../../files/package.ts";
import { quoteWord } from "../../../text/terminal.ts";

/**
 * What the first screen of `idp start` shows about a server that has just started. It reads core itself, because an operation checks its input
 * with zod, which takes as long to load as all the rest.
 * @param place where the data is; null for in memory
 * @param how `forPerson`: whether a person reads it, and can press keys; `line` writes the commands in it
 */
export async function screenOf(
  { issuer: { ctx, seeded }, issuers: registry, port }: Server,
  fixtures: FoundFixtures,
  place: string | null,
  { forPerson, isFound, line }: { readonly forPerson: boolean; readonly isFound: boolean; readonly line: CommandLine },
): Promise<Screen> {
  const users = await listUsers(ctx, { limit: maxRows });
  const { users: allUsers, faults } = await status(ctx);
  const clients = await listClients(ctx, { secrets: true });
  const issuers = await registry.list();
  const demo = demoOf(fixtures);
  const shown = (client: ClientView): ScreenClient => screenClient(client, demo.secrets.get(client.client_id));
  const app = likelyClient(clients, namedIn(fixtures));
  const isApp = app !== undefined && app.client_id !== loginClient && app.redirect_uris.length > 0;
  return {
    version,
    took: performance.now(),
    issuer: ctx.issuer,
    hasKeys: forPerson,
    issuers: {
      first: issuers.slice(0, maxRows).map(({ name, issuer }) => [name, issuer]),
      all: issuers.length,
    },
    listens: portOf(ctx.issuer) === port ? null : `port ${port}`,
    users: {
      first: users.map(({ username, email, status }) => {
        return { username, email: email ?? "", status, password: demo.passwords.get(username) ?? null };
      }),
      all: allUsers,
    },
    clients: {
      first: clients.slice(0, maxRows).map(shown),
      all: clients.length,
    },
    app: isApp ? shown(app) : null,
    isInEnvFile: isApp && (await hasVariables(ctx.issuer, app.client_id)),
    hasLogin: clients.some(({ client_id }) => client_id === loginClient),
    data:
      place === null
        ? [
            "in memory: nothing is kept",
            isFound
              ? "commands in this folder find it; elsewhere: --url, and IDP_ADMIN_TOKEN"
              : "commands find it by --url, and IDP_ADMIN_TOKEN",
          ]
        : [`${place}, kept between runs`],
    fixtures: [
      ...applied(seeded, fixtures, { users: allUsers, clients: clients.length }, line),
      ...(faults > 0 ? [`${count(faults, "fault")} active: ${line(["idp", "faults", "list"])}`] : []),
    ],
  };
}

/** Whether `.env.local` has these values, with any prefix. */
async function hasVariables(issuer: string, clientId: string): Promise<boolean> {
  const lines = ((await readTextFile(envFile).catch(() => null)) ?? "").split(/\r?\n/);
  return [`OIDC_ISSUER=${issuer}`, `OIDC_CLIENT_ID=${quoteWord(clientId)}`].every((variable) =>
    lines.some((line) => line.endsWith(variable)),
  );
}

/** What became of the fixtures. A shared store keeps those that it has, and the demo is not added to them. */
function applied(
  seeded: SeedResult,
  { names }: FoundFixtures,
  all: { readonly users: number; readonly clients: number },
  line: CommandLine,
): readonly string[] {
  const isJoined = names.length === 0 && all.users + all.clients > 0 && seedSummary(seeded) === nothingSeeded;
  if (isJoined) return [`those that the store has: ${count(all.users, "user")}, ${count(all.clients, "client")}`];
  return [
    names.join(", ") || "built-in demo; for your own: idp.fixtures.yaml here, or --fixtures",
    seedSummary(seeded),
    ...beside(seeded, all, line),
  ];
}

/** What the data has beside the entries of the fixtures: from earlier fixtures, or added since. */
function beside(
  seeded: SeedResult,
  all: { readonly users: number; readonly clients: number },
  line: CommandLine,
): readonly string[] {
  const more = (["users", "clients"] as const).flatMap((kind) => {
    const { added, changed, same } = seeded[kind];
    const others = all[kind] - added.length - changed.length - same;
    return others > 0 ? [count(others, kind.slice(0, -1))] : [];
  });
  return more.length === 0 ? [] : [`also ${more.join(" and ")} from before: ${line(["idp", "reset"])} removes them`];
}

/** The public passwords (by username) and secrets (by client id) of the built-in demo. Those of other fixtures are never shown. */
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

/** @param known the public secret, shown if the client still has it */
const screenClient = (client: ClientView, known: string | undefined): ScreenClient => ({
  id: client.client_id,
  isPublic: client.public,
  ...(client.saml !== undefined && { isSaml: true }),
  ...(!client.public && client.client_secret === undefined && { hasSecret: false }),
  secret: known !== undefined && client.client_secret === known ? known : null,
  redirectUris: addressesOf(client),
  grantTypes: Array.isArray(client.grant_types) ? client.grant_types.map(String) : [],
});

/** Says what the app in this folder is told, and is not true of this server. */
export async function sayStale(cli: Invocation, { issuer: { ctx } }: Server): Promise<void> {
  const stale = await staleFile(ctx.issuer, await listClients(ctx, { secrets: true }));
  if (stale === null) return;
  say(cli, stale.detail);
  say(cli, stale.fix);
}
