import type { FixtureClient } from "../../src/core/protocol/client-metadata/schema.ts";
import type { FixtureUser } from "../../src/core/records/users/schema.ts";
import type { PushReport } from "../../src/core/scim/push.ts";
import type { ScimStatus } from "../../src/core/scim/status.ts";
import type { Idp } from "../../src/index.ts";
import { serve } from "./app.ts";
import { callback } from "./client.ts";
import { scimServer, type Json, type ScimServer } from "./scim-server.ts";

/** An app with a SCIM server, and an idp that pushes to it. */

export const people: FixtureUser[] = [
  {
    username: "alice",
    displayName: "Alice B. Adams",
    email: "alice@example.com",
    claims: { groups: ["engineering", "all"], department: "R&D", title: "Engineer" },
  },
  {
    username: "bob",
    displayName: "Bob",
    email: null,
    claims: { groups: ["all"], given_name: "Robert", family_name: "Jones" },
  },
  { username: "carol", status: "suspended" },
];

type Scim = NonNullable<FixtureClient["scim"]>;

export async function pushedApp(change: Partial<Scim> = {}, users: FixtureUser[] = people) {
  const app = await scimServer();
  const scim: Scim = {
    url: app.url,
    token: app.token,
    attributes: { title: "title", "enterprise:department": "department" },
    ...change,
  };
  const idp = await serve({ fixtures: [{ users, clients: [{ client_id: "app", redirect_uris: [callback], scim }] }] });
  const push = async (input: object = {}) => (await idp.scim.push({ client: "app", ...input })) as PushReport;
  return { app, idp, push };
}

/** What was done about each user and group. */
export const actions = ({ users, groups }: PushReport): string[] => [
  ...users.map(({ action, username }) => `${action} ${username}`),
  ...groups.map(({ action, name }) => `${action} ${name}`),
];

export const statusOf = async (idp: Idp) => (await idp.scim.status({ client: "app" })) as ScimStatus;

/** The bodies of the requests that an app got. */
export const bodies = (app: ScimServer, method: string): Json[] =>
  app.seen.filter((one) => one.method === method).map(({ body }) => body ?? {});
