import { keyKindOf } from "../../records/keys/certificate.ts";
import { createPrivateKey } from "node:crypto";
import { collections, type Key, type User } from "../../../store/store.ts";
import type { JsonObject } from "../../../text/json.ts";
import type { FoundProblem } from "../../base/fixture-files/problems.ts";
import { unknownName } from "../../base/nearest.ts";
import type { DeadEras, Past } from "../../base/era.ts";
import { stateCollections, type StateRecords } from "../../testing/state/state.ts";

/** What the records of an export must be to each other. Each record is valid by itself already (schema.ts). */
export const problemsBetween = (records: StateRecords): FoundProblem[] => [
  ...taken(records),
  ...dangling(records),
  ...secretProblems(records.users),
  ...keyProblems(records.keys),
  ...workloadKeyProblems(records),
  ...eraProblems(records),
];

/** Problems of eras that have not ended: they would end what is issued later. */
function eraProblems({ meta, expirations }: StateRecords): FoundProblem[] {
  const current = Number(meta.find(({ id }) => id === "era")?.value ?? 1);
  const late = (path: FoundProblem["path"], era: number | undefined): FoundProblem[] =>
    era === undefined || era < current
      ? []
      : [{ path, message: `era must be less than the "era" of meta, ${current}` }];
  return [
    ...expirations.flatMap(({ access, refresh }, index) => [
      ...late(["expirations", index, "access", "era"], access?.era),
      ...late(["expirations", index, "refresh", "era"], refresh?.era),
    ]),
    ...meta.flatMap(({ id, value }, index) => {
      if (id === "pasts")
        return (value as readonly Past[]).flatMap(({ era }, at) => late(["meta", index, "value", at, "era"], era));
      if (id === "deadEras")
        return (value as DeadEras).flatMap(([, last], at) => late(["meta", index, "value", at, 1], last));
      return [];
    }),
  ];
}

/** Problems of two records with the same key or unique value. */
function taken(records: StateRecords): FoundProblem[] {
  const found: FoundProblem[] = [];
  for (const name of stateCollections) {
    const { key, unique = {} } = collections[name] as {
      key: string;
      unique?: Record<string, (record: never) => string>;
    };
    const ways = [[key, (record: object) => String(Reflect.get(record, key))], ...Object.entries(unique)] as const;
    for (const [field, valueOf] of ways) {
      const seen = new Set<string>();
      for (const [index, record] of records[name].entries()) {
        const value = valueOf(record as never);
        if (seen.has(value))
          found.push({ path: [name, index], message: `${field} "${value}" is taken by an earlier one` });
        seen.add(value);
      }
    }
  }
  return found;
}

/** Problems of grants and sessions without their user or client. */
function dangling({ users, clients, grants, sessions }: StateRecords): FoundProblem[] {
  const userIds = new Set(users.map(({ id }) => id));
  const clientIds = new Set(clients.map(({ client_id }) => client_id));
  const missing = (path: FoundProblem["path"], what: string, id: string): FoundProblem => ({
    path,
    message: unknownName(what, id),
  });
  return [
    ...grants.flatMap(({ userId, clientId }, index) => [
      ...(userIds.has(userId) ? [] : [missing(["grants", index, "userId"], "user", userId)]),
      ...(clientIds.has(clientId) ? [] : [missing(["grants", index, "clientId"], "client", clientId)]),
    ]),
    ...sessions.flatMap(({ userId }, index) =>
      userIds.has(userId) ? [] : [missing(["sessions", index, "userId"], "user", userId)],
    ),
  ];
}

/** Problems of users whose codes could not be made: every user with one-time codes has a secret, given or made (`withSecret`). */
const secretProblems = (users: readonly User[]): FoundProblem[] =>
  users.flatMap(({ factors, otp_secret: secret }, index) =>
    factors?.includes("otp") === true && secret === undefined
      ? [{ path: ["users", index, "otp_secret"], message: 'is missing: "otp" is among the factors' }]
      : [],
  );

/** Problems of signing keys: one that cannot be used would stop the server at its next signature. */
function keyProblems(keys: readonly Key[]): FoundProblem[] {
  const found: FoundProblem[] = keys.flatMap(({ alg, jwk }, index) =>
    isUsable(alg, jwk) ? [] : [{ path: ["keys", index, "jwk"], message: `is not a private key for ${alg}` }],
  );
  for (const [index, { use, certificate = "" }] of keys.entries()) {
    if (use !== undefined && keyKindOf(certificate) !== "rsa")
      found.push({ path: ["keys", index, "certificate"], message: "is not an X.509 certificate of an RSA key" });
  }
  for (const needed of ["HS256", "RS256"]) {
    if (keys.some(({ alg, retiredAt, use }) => alg === needed && retiredAt === null && use === undefined)) continue;
    found.push({ path: ["keys"], message: `has no key that signs with ${needed}` });
  }
  return found;
}

/** The same of the keys of workloads (`core/protocol/workloads/workloads.ts`). */
const workloadKeyProblems = ({ meta }: StateRecords): FoundProblem[] =>
  meta.flatMap(({ id, value }, index) =>
    (id === "workloadKeys" ? Object.entries(value as Readonly<Record<string, Key>>) : []).flatMap(
      ([name, { alg, jwk }]) =>
        isUsable(alg, jwk)
          ? []
          : [{ path: ["meta", index, "value", name, "jwk"], message: `is not a private key for ${alg}` }],
    ),
  );

/** RFC 7518 3.2: a secret has at least the size of the hash. */
function isUsable(alg: string, jwk: JsonObject): boolean {
  if (alg === "HS256") return typeof jwk["k"] === "string" && Buffer.from(jwk["k"], "base64url").length >= 32;
  try {
    const { asymmetricKeyType } = createPrivateKey({ key: { ...jwk }, format: "jwk" });
    const kinds: Readonly<Record<string, string>> = { RS256: "rsa", PS256: "rsa", ES256: "ec", EdDSA: "ed25519" };
    return asymmetricKeyType === kinds[alg];
  } catch {
    return false;
  }
}
