import * as z from "zod";
import type { Client } from "../../../store/store.ts";
import { keyAlgs } from "../../records/keys/keys.ts";
import { jsonValue, nonEmptyText, scopeList, timeText } from "../../records/fields.ts";
import { tenYears } from "../../../text/time.ts";
import { userSchema } from "../../records/users/schema.ts";
import type { StateRecords } from "../../testing/state/state.ts";
import { storedSettingsSchema } from "../settings/schema.ts";

/** The records of an export. Unlike in a fixture, no field has a default. */

/** A whole number; its bound leaves room to count on. The refusal names the counter. */
const counter = (name: string, min: number, max: number) => {
  const error = `${name} must be a whole number from ${min} to ${max}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
};

const [latestTime, latestEnd] = [Date.parse("9999-12-31T00:00:00Z"), Date.parse("9995-01-01T00:00:00Z")];

/** A time in milliseconds since 1970. The clock shows at most the year 9979 (`controls/move-clock.ts`), and nothing lives for longer than ten years. */
const milliseconds = (name: string) => {
  const error = `${name} must be a time in milliseconds, from 0 to ${latestTime}`;
  return z.number({ error }).min(0, { error }).max(latestTime, { error });
};

/** `idp expire`, snapshots and clocks that are set back count eras, one each. */
const era = counter("era", 1, 1e12);

const passkey = z.strictObject({
  id: nonEmptyText,
  publicKey: nonEmptyText,
  counter: z.int().min(0).max(0xffff_ffff),
  transports: z.array(z.string()),
  createdAt: timeText,
});

const user = z.strictObject({
  ...userSchema.omit({ password: true, avatar: true, factors: true, federated: true, otp_secret: true }).required()
    .shape,
  avatar: userSchema.shape.avatar.unwrap().required(),
  factors: z.exactOptional(userSchema.shape.factors.unwrap()),
  federated: z.exactOptional(userSchema.shape.federated.unwrap()),
  otp_secret: z.exactOptional(userSchema.shape.otp_secret.unwrap()),
  passkeys: z.exactOptional(z.array(passkey)),
  passwordHash: z.string().nullable(),
  passwordPending: z.boolean(),
  passwordDigest: z.string().nullable(),
  updatedAt: timeText,
});

/** The fields of a client beside its metadata, which has the rules of a fixture. */
export const clientExtras = z.looseObject({
  epoch: nonEmptyText,
  createdAt: timeText,
  updatedAt: timeText,
  registrationTokenHash: z.string().optional(),
  fromDocument: z.literal(true).optional(),
});

const grant = z.strictObject({
  id: nonEmptyText,
  userId: nonEmptyText,
  clientId: nonEmptyText,
  scopes: z.array(scopeList),
  declined: z.exactOptional(z.array(scopeList)),
  hosts: z.exactOptional(z.array(nonEmptyText)),
  status: z.enum(["active", "revoked"]),
  epoch: nonEmptyText,
  by: z.enum(["user", "policy", "cli", "fixture", "issuer"]),
  issuer: z.exactOptional(nonEmptyText),
  createdAt: timeText,
  updatedAt: timeText,
  revokedAt: timeText.nullable(),
  revokedBy: z.exactOptional(z.enum(["user", "operator", "ban", "client"])),
  lastUsedAt: z.exactOptional(timeText),
});

const family = z.strictObject({
  id: nonEmptyText,
  generation: counter("generation", 0, 1e12),
  rotatedAt: milliseconds("rotatedAt"),
  deadBecause: z.string().nullable(),
  deadAt: z.exactOptional(milliseconds("deadAt")),
  expiresAt: milliseconds("expiresAt"),
});

const session = z.strictObject({
  id: nonEmptyText,
  sid: nonEmptyText,
  userId: nonEmptyText,
  authTime: counter("authTime", 0, latestTime / 1000),
  amr: z.array(z.string()),
  factors: z.exactOptional(z.record(z.string(), counter("factors", 0, latestTime / 1000))),
  clientIds: z.array(z.string()),
  quietClientIds: z.exactOptional(z.array(z.string())),
  browser: z.exactOptional(nonEmptyText),
  serviceProviders: z.exactOptional(
    z.array(z.strictObject({ clientId: nonEmptyText, nameId: nonEmptyText, format: nonEmptyText })),
  ),
  createdAt: timeText,
  expiresAt: milliseconds("expiresAt"),
});

const scim = z.strictObject({
  id: nonEmptyText,
  clientId: nonEmptyText,
  kind: z.enum(["user", "group"]),
  local: nonEmptyText,
  name: z.string(),
  url: nonEmptyText,
  remoteId: nonEmptyText.nullable(),
  sent: z.record(z.string(), jsonValue).nullable(),
  members: z.exactOptional(z.array(z.string())),
  pushedAt: timeText.nullable(),
  error: z.string().nullable(),
});

const key = z.strictObject({
  kid: nonEmptyText,
  alg: z.enum(keyAlgs),
  jwk: z.record(z.string(), jsonValue),
  createdAt: timeText,
  retiredAt: milliseconds("retiredAt").nullable(),
  expiresAt: z.exactOptional(milliseconds("expiresAt")),
  use: z.exactOptional(z.literal("saml")),
  certificate: z.exactOptional(nonEmptyText),
});

const meta = z.discriminatedUnion("id", [
  z.strictObject({ id: z.literal("issuer"), value: nonEmptyText }),
  z.strictObject({ id: z.literal("addedBy"), value: nonEmptyText }),
  z.strictObject({ id: z.literal("settings"), value: storedSettingsSchema }),
  z.strictObject({ id: z.literal("longestLife"), value: counter("longestLife", 1, tenYears) }),
  z.strictObject({ id: z.literal("latestEnd"), value: counter("latestEnd", 0, latestEnd) }),
  z.strictObject({ id: z.literal("era"), value: era }),
  z.strictObject({ id: z.literal("knownKeys"), value: z.array(nonEmptyText) }),
  z.strictObject({ id: z.literal("workloadKeys"), value: z.record(z.string(), key) }),
  z.strictObject({
    id: z.literal("pasts"),
    value: z.array(z.strictObject({ era, end: milliseconds("end") })),
  }),
  z.strictObject({ id: z.literal("deadEras"), value: z.array(z.tuple([era, era])) }),
]);

const endOfTokens = z.exactOptional(z.strictObject({ era, at: milliseconds("at") }));

/** The schema of the records of each collection. The compiler compares it with the record in the store. */
export const recordSchemas: { readonly [C in keyof StateRecords]: z.ZodType<StateRecords[C][number]> } = {
  users: user,
  clients: clientExtras as unknown as z.ZodType<Client>,
  scopes: z.strictObject({
    name: nonEmptyText,
    description: z.record(z.string(), z.string()),
    claims: z.array(nonEmptyText),
  }),
  grants: grant,
  families: family,
  deadTokens: z.strictObject({
    jti: nonEmptyText,
    reason: z.string(),
    at: z.exactOptional(milliseconds("at")),
    expiresAt: milliseconds("expiresAt"),
  }),
  opaqueTokens: z.strictObject({ id: nonEmptyText, jwt: nonEmptyText, expiresAt: milliseconds("expiresAt") }),
  expirations: z.strictObject({ id: nonEmptyText, access: endOfTokens, refresh: endOfTokens }),
  sessions: session,
  scim,
  keys: key,
  appliedFixtures: z.strictObject({ id: nonEmptyText, digest: nonEmptyText }),
  meta,
  usedAssertions: z.strictObject({ id: nonEmptyText, expiresAt: milliseconds("expiresAt") }),
};
