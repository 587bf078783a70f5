import type { Client, ReadTx } from "../../store/store.ts";
import { isGood, reasonOf } from "../../scim/sending.ts";
import { testConnection, type Profile } from "../../scim/profiles.ts";
import { differenceOf, isList, isSame, noList } from "../../scim/resource.ts";
import { requireClient } from "../records/clients/admin.ts";
import type { Context } from "../context.ts";
import { createSender } from "./sender.ts";
import { everyWanted, provisioned, recordOf, recordsOf, type Provisioned } from "./wanted.ts";

/** What each app has, and whether it can be reached. */

interface StatusOfOne {
  /** The id in the app; null: it has none. */
  readonly id: string | null;
  /** ISO 8601; null: never. */
  readonly pushedAt: string | null;
  /** Whether the next push sends something about it. */
  readonly pending: boolean;
  /** Why the last push failed; null: it did not. */
  readonly error: string | null;
}

export interface ScimStatus {
  readonly client: string;
  readonly users: readonly (StatusOfOne & { readonly username: string })[];
  readonly groups: readonly (StatusOfOne & { readonly name: string })[];
}

/** @throws {OperationError} not_found for an unknown client, and one without `scim` */
const clientsOf = (tx: ReadTx, name: string | undefined): readonly Client[] =>
  name === undefined
    ? [...tx.all("clients")].filter(({ scim }) => scim !== undefined)
    : [provisioned(requireClient(tx, name)).client];

/** @returns the status of the client; a list where none is named. @throws {OperationError} not_found */
export async function scimStatus(
  ctx: Context,
  input: { readonly client?: string | undefined },
): Promise<ScimStatus | readonly ScimStatus[]> {
  const all = await ctx.store.read((tx) =>
    clientsOf(tx, input.client).map((client) => statusOf(tx, provisioned(client))),
  );
  const [first] = all;
  return input.client !== undefined && first !== undefined ? first : all;
}

function statusOf(tx: ReadTx, to: Provisioned): ScimStatus {
  const wanted = everyWanted(tx, to, null);
  const users = wanted.flatMap(({ userId, username, attributes }) => {
    const { remoteId: id = null, pushedAt = null, sent = null, error = null } = recordOf(tx, to, "user", userId) ?? {};
    const isThere = id !== null && sent?.["active"] !== false;
    const pending =
      attributes === null ? isThere : error !== null || sent === null || !isSame(differenceOf(sent, attributes));
    return attributes === null && !isThere ? [] : [{ username, id, pushedAt, pending, error }];
  });
  const records = recordsOf(tx, to, "group");
  const names = new Set([...records.map(({ local }) => local), ...wanted.flatMap(({ groups }) => groups)]);
  const groups = [...names].map((name) => {
    const record = records.find(({ local }) => local === name);
    const { remoteId: id = null, pushedAt = null, error = null, members = [] } = record ?? {};
    const ids = wanted.flatMap(({ userId, groups: own }) =>
      own.includes(name) ? [recordOf(tx, to, "user", userId)?.remoteId ?? null] : [],
    );
    const there = ids.filter((one) => one !== null);
    const pending =
      error !== null || id === null || there.length !== members.length || !there.every((one) => members.includes(one));
    return { name, id, pushedAt, pending, error };
  });
  return { client: to.client.client_id, users, groups };
}

/** What "Test Connection" in the console of the vendor would say. */
export interface ScimTest {
  readonly client: string;
  readonly url: string;
  readonly profile: Profile;
  readonly ok: boolean;
  /** Null: nobody answered. */
  readonly status: number | null;
  readonly error: string | null;
}

/** @returns the result for the client; a list where none is named. @throws {OperationError} not_found */
export async function testScim(
  ctx: Context,
  input: { readonly client?: string | undefined; readonly profile?: Profile | undefined },
): Promise<ScimTest | readonly ScimTest[]> {
  const clients = await ctx.store.read((tx) => clientsOf(tx, input.client));
  const all: ScimTest[] = [];
  for (const client of clients) {
    const { scim, profile } = provisioned(client, input.profile);
    const sender = createSender(ctx, client, scim);
    const answer = await sender.ask({ request: testConnection(profile, ctx.random(12)), user: null });
    const ok = isGood(answer) && isList(answer.json);
    const error = ok ? null : isGood(answer) ? noList : sender.stopped;
    all.push({
      ...{ client: client.client_id, url: scim.url, profile, ok, status: answer.status || null },
      error: ok ? null : answer.status === 0 ? reasonOf(answer) : (error ?? reasonOf(answer)),
    });
  }
  const [first] = all;
  return input.client !== undefined && first !== undefined ? first : all;
}
