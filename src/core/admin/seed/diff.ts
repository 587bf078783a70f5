import { userAndClient, type Client, type ReadTx, type User } from "../../../store/store.ts";
import { isObject, sameJson } from "../../../text/json.ts";
import { metadataOf } from "../../records/clients/admin.ts";
import type { Context } from "../../context.ts";
import { prepareEntries, type Entries, passwordDigestOf } from "../fixtures/entries.ts";
import { normalizeClient, normalizeScope, normalizeUser } from "../fixtures/normalize.ts";
import type { FixtureFile } from "../fixtures/schema.ts";
import { digestKey } from "../../base/fixture-files/digest.ts";
import { readSource, type AnyFixtures } from "../../base/fixture-files/source.ts";
import { splitScope } from "../../records/scopes/scopes.ts";
import { fixturesIn, isVouchedFor } from "../transfer/export.ts";
import { fieldsOf } from "../../records/users/users.ts";
import { matchesHash } from "../../records/users/passwords.ts";
import { issuersIn } from "./apply.ts";
import { checkFixtures } from "./seed.ts";
import { normalizeSettings, storedSettings } from "../settings/in-force.ts";

/** How the data differs from fixtures: what a tester has changed since, or what a file would change. */

type Section = "users" | "clients" | "scopes" | "settings" | "grants" | "issuers";

export interface DifferentRecord {
  readonly section: Section;
  readonly name: string;
  /** `added`: only in the data; `missing`: only in the fixtures. */
  readonly change: "changed" | "added" | "missing";
  /** The fields of a changed record that differ. A secret is never shown. */
  readonly fields: Readonly<Record<string, { readonly fixture: unknown; readonly data: unknown }>>;
}

export interface Differences {
  readonly differs: boolean;
  readonly records: readonly DifferentRecord[];
  /** The issuers of the fixtures, which are compared one by one. Absent: they have none. */
  readonly issuers?: readonly string[];
  /** The fixtures that would match the data, if they were asked for. */
  readonly fixtures?: Readonly<Record<string, unknown>>;
}

const secretFields = ["client_secret", "otp_secret", "password", "token", "basic"];

/** A value without its secrets: whether there is one, is all that is shown. */
function shown(field: string, value: unknown): unknown {
  if (value === undefined || value === null) return null;
  if (secretFields.includes(field)) return "(secret)";
  if (field === "env" && isObject(value))
    return Object.fromEntries(Object.keys(value).map((name) => [name, "(secret)"]));
  if (Array.isArray(value) || !isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, shown(name, inner)]));
}

/** @returns null, if nothing differs */
function compared(
  section: Section,
  name: string,
  fixture: Readonly<Record<string, unknown>>,
  data: Readonly<Record<string, unknown>>,
): DifferentRecord | null {
  const names = new Set([...Object.keys(fixture), ...Object.keys(data)]);
  const fields = [...names]
    .filter((field) => !sameJson(fixture[field] ?? null, data[field] ?? null))
    .map((field) => [field, { fixture: shown(field, fixture[field]), data: shown(field, data[field]) }] as const);
  return fields.length === 0 ? null : { section, name, change: "changed", fields: Object.fromEntries(fields) };
}

const only = (section: Section, name: string, change: "added" | "missing"): DifferentRecord => ({
  ...{ section, name, change, fields: {} },
});

/** The fields of a user that are compared. A password is compared apart, since only its hash is kept. */
const userFields = (user: User): Readonly<Record<string, unknown>> => ({
  ...fieldsOf(user),
  ...(user.otp_secret !== undefined && { otp_secret: user.otp_secret }),
});

async function passwordDiffers(user: User, password: string | undefined, digest: string | null): Promise<boolean> {
  if (digest !== null && user.passwordDigest === digest) return false;
  if (password !== undefined && user.passwordHash !== null) return !(await matchesHash(password, user.passwordHash));
  return digest !== null;
}

interface Data {
  readonly users: readonly User[];
  readonly clients: readonly Client[];
  readonly scopes: readonly { readonly name: string }[];
  readonly settings: Readonly<Record<string, unknown>>;
  readonly activeScopes: (user: string, client: string) => readonly string[] | null;
}

function dataIn(tx: ReadTx): Data {
  const users = [...tx.all("users")];
  const ids = new Map(users.map(({ username, id }) => [username, id]));
  const grants = new Map([...tx.all("grants")].map((grant) => [userAndClient(grant.userId, grant.clientId), grant]));
  return {
    users,
    clients: [...tx.all("clients")].filter(isVouchedFor),
    scopes: [...tx.all("scopes")],
    settings: storedSettings(tx),
    activeScopes: (user, client) => {
      const grant = grants.get(userAndClient(ids.get(user) ?? "", client));
      return grant?.status === "active" ? grant.scopes : null;
    },
  };
}

async function usersThatDiffer({ users }: Data, entries: Entries["users"]): Promise<readonly DifferentRecord[]> {
  const left = new Map(users.map((user) => [user.username, user]));
  const byId = new Map(users.map((user) => [user.id, user]));
  const found: (DifferentRecord | null)[] = [];
  for (const { name, input, digest } of entries) {
    const user = left.get(name) ?? byId.get(input.id ?? "");
    if (user === undefined) {
      found.push(only("users", name, "missing"));
      continue;
    }
    left.delete(user.username);
    const expected = userFields(normalizeUser(input, user, () => false));
    const isOther = await passwordDiffers(user, input.password, passwordDigestOf(digest));
    const [ofFixture, ofData] = isOther ? [{ password: true }, { password: false }] : [{}, {}];
    found.push(compared("users", name, { ...expected, ...ofFixture }, { ...userFields(user), ...ofData }));
  }
  return [...found.filter((one) => one !== null), ...[...left.keys()].map((name) => only("users", name, "added"))];
}

const keyed = <T>(list: readonly T[], nameOf: (one: T) => string): Map<string, T> =>
  new Map(list.map((one) => [nameOf(one), one]));

/** Compares two sets of named records. */
function listsThatDiffer(
  section: Section,
  fixtures: ReadonlyMap<string, object>,
  data: ReadonlyMap<string, object>,
): readonly DifferentRecord[] {
  const both = [...fixtures].map(([name, expected]) => {
    const there = data.get(name);
    if (there === undefined) return only(section, name, "missing");
    return compared(section, name, { ...expected }, { ...there });
  });
  const added = [...data.keys()].filter((name) => !fixtures.has(name));
  return [...both.filter((one) => one !== null), ...added.map((name) => only(section, name, "added"))];
}

const sorted = (scopes: readonly string[]): string => [...scopes].sort().join(" ");

function grantsThatDiffer({ activeScopes }: Data, entries: Entries["grants"]): readonly DifferentRecord[] {
  return entries.flatMap(({ name, input }) => {
    const scopes = activeScopes(input.user, input.client);
    if (scopes === null) return [only("grants", name, "missing")];
    return compared("grants", name, { scope: sorted(splitScope(input.scope)) }, { scope: sorted(scopes) }) ?? [];
  });
}

async function differencesOf(data: Data, entries: Entries): Promise<readonly DifferentRecord[]> {
  const fresh = { at: "", epoch: "" };
  const clients = keyed(entries.clients, ({ name }) => name);
  const expectedClients = new Map(
    [...clients].map(([name, { input }]) => [name, metadataOf(normalizeClient(input, null, fresh))]),
  );
  const scopes = new Map(entries.scopes.map(({ name, input }) => [name, normalizeScope(name, input)]));
  const settings = compared("settings", "settings", normalizeSettings(entries.settings ?? {}), data.settings);
  return [
    ...(await usersThatDiffer(data, entries.users)),
    ...listsThatDiffer(
      "clients",
      expectedClients,
      new Map(data.clients.map((one) => [one.client_id, metadataOf(one)])),
    ),
    ...listsThatDiffer(
      "scopes",
      scopes,
      keyed(data.scopes, ({ name }) => name),
    ),
    ...(settings === null ? [] : [settings]),
    ...grantsThatDiffer(data, entries.grants),
  ];
}

/**
 * Compares the data with fixtures.
 * @param sources absent: those in use, read again
 * @param as `fixtures`: also says what to write into the fixture file
 * @throws {OperationError} invalid, with every problem of the fixtures
 */
export async function diff(ctx: Context, sources?: readonly AnyFixtures[], as?: "fixtures"): Promise<Differences> {
  const given = sources ?? (await ctx.fixtures.toApply());
  await checkFixtures(given, ctx.settings);
  const documents = await Promise.all(given.map(readSource));
  const { data, key, file } = await ctx.store.read((tx) => ({
    ...{ data: dataIn(tx), key: digestKey(tx) ?? "" },
    file: fixturesIn(tx, ctx, { secrets: false }),
  }));
  const declared = [...(await issuersIn(given)).keys()];
  const there = declared.length === 0 ? [] : (await ctx.issuers.list()).map(({ name }) => name);
  const records = [
    ...(await differencesOf(data, await prepareEntries(key, documents, () => undefined))),
    ...declared.filter((name) => !there.includes(name)).map((name) => only("issuers", name, "missing")),
  ];
  const issuers = declared.filter((name) => there.includes(name));
  return {
    differs: records.length > 0,
    records,
    ...(issuers.length > 0 && { issuers }),
    ...(as === "fixtures" && { fixtures: onlyChanged(file, records) }),
  };
}

/** The records that differ as an export has them, without secrets. */
function onlyChanged(
  { users = [], clients = [], scopes = {}, grants = [], settings = {} }: FixtureFile,
  records: readonly DifferentRecord[],
): Readonly<Record<string, unknown>> {
  const isIn = (section: Section, name: string): boolean =>
    records.some((one) => one.section === section && one.name === name && one.change !== "missing");
  const file: Readonly<Record<Exclude<Section, "issuers">, object>> = {
    users: users.filter(({ username }) => isIn("users", username)),
    clients: clients
      .filter(({ client_id: id }) => isIn("clients", id))
      .map(({ client_secret: _, env: __, ...client }) => client),
    scopes: Object.fromEntries(Object.entries(scopes).filter(([name]) => isIn("scopes", name))),
    grants: grants.filter(({ user, client }) => isIn("grants", `${user} ${client}`)),
    settings: isIn("settings", "settings") ? settings : {},
  };
  return Object.fromEntries(Object.entries(file).filter(([, value]) => Object.keys(value).length > 0));
}
