import * as z from "zod";
import type { Client } from "../store/store.ts";
import { nonEmptyText, scopeList, timeText } from "./fixtures/fields.ts";
import { settingsSchema } from "./fixtures/schema.ts";
import { userSchema } from "./fixtures/schema-user.ts";
import type { StateRecords } from "./state.ts";

/** What the records of an export are. Unlike in a fixture, nothing has a default: a record is whole. */

const milliseconds = z.number();

const user = z.strictObject({
  ...userSchema.omit({ password: true, avatar: true }).required().shape,
  avatar: userSchema.shape.avatar.unwrap().required(),
  passwordHash: z.string().nullable(),
  passwordPending: z.boolean(),
  passwordDigest: z.string().nullable(),
  updatedAt: timeText,
});

/** What is kept beside the metadata, which has the rules of a fixture. */
const clientExtras = z.looseObject({
  redirect_uris: z.array(z.string()),
  epoch: nonEmptyText,
  createdAt: timeText,
  updatedAt: timeText,
  registrationTokenHash: z.string().optional(),
});

const grant = z.strictObject({
  id: nonEmptyText,
  userId: nonEmptyText,
  clientId: nonEmptyText,
  scopes: z.array(scopeList),
  status: z.enum(["active", "revoked"]),
  epoch: nonEmptyText,
  by: z.enum(["user", "policy", "cli", "fixture"]),
  createdAt: timeText,
  updatedAt: timeText,
  revokedAt: timeText.nullable(),
  revokedBy: z.exactOptional(z.enum(["user", "operator", "ban"])),
  lastUsedAt: z.exactOptional(timeText),
});

const family = z.strictObject({
  id: nonEmptyText,
  generation: z.int(),
  rotatedAt: milliseconds,
  deadBecause: z.string().nullable(),
  deadAt: z.exactOptional(milliseconds),
  expiresAt: milliseconds,
});

const session = z.strictObject({
  id: nonEmptyText,
  sid: nonEmptyText,
  userId: nonEmptyText,
  authTime: z.number(),
  amr: z.array(z.string()),
  clientIds: z.array(z.string()),
  createdAt: timeText,
  expiresAt: milliseconds,
});

const key = z.strictObject({
  kid: nonEmptyText,
  alg: nonEmptyText,
  jwk: z.record(z.string(), z.unknown()),
  createdAt: timeText,
  retiredAt: milliseconds.nullable(),
  expiresAt: z.exactOptional(milliseconds),
});

const meta = z.union([
  z.strictObject({ id: z.literal("issuer"), value: nonEmptyText }),
  z.strictObject({ id: z.literal("settings"), value: settingsSchema }),
  z.strictObject({ id: z.literal("longestLife"), value: z.int().positive() }),
  z.strictObject({ id: z.literal("era"), value: z.int().positive() }),
]);

/** By collection; the compiler holds each against the record that the store keeps. */
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
    at: z.exactOptional(milliseconds),
    expiresAt: milliseconds,
  }),
  sessions: session,
  keys: key,
  appliedFixtures: z.strictObject({ id: nonEmptyText, digest: nonEmptyText }),
  meta,
  usedAssertions: z.strictObject({ id: nonEmptyText, expiresAt: milliseconds }),
};
