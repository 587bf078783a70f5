import * as z from "zod";
import { clientSchema } from "../../clients/schema.ts";
import { faultSchema } from "../../testing/faults/schema.ts";
import { userSchema } from "../../users/schema.ts";
import { jsonValue } from "../../fields.ts";
import { clientExtras, recordSchemas } from "../../state/schema.ts";
import { stateFormat, stateVersion, type StateDocument } from "../../state/state.ts";
import { reservedInTokens } from "../../testing/custom.ts";

/** Schemas of what operations take and return, for their descriptions in `docs.ts`. */

export const time = z.string().describe("ISO 8601");

export const user = z
  .object({
    ...userSchema.required().omit({ password: true, avatar: true, otp_secret: true }).shape,
    avatar: z.object({ baseUrl: z.string(), path: z.string(), color: z.string() }),
    hasPassword: z.boolean(),
  })
  .describe("A user as it is shown: without the password or its hash");

/** What is shown and not set may be sent back. */
const computed = "Computed; accepted if it has the right value";
export const sources = z.array(z.strictObject({ name: z.string(), text: z.string() })).describe("Files that were read");

export const userInput = userSchema.extend({ hasPassword: z.boolean().optional().describe(computed) });
export const clientInput = clientSchema.extend({ public: z.boolean().optional().describe(computed) });

const { client_id: clientId, ...otherMetadata } = clientSchema.shape;
/** Null takes a field away. */
export const clientPatch = z.strictObject({
  client_id: clientId.optional().describe("The same as in the path"),
  ...Object.fromEntries(Object.entries(otherMetadata).map(([name, schema]) => [name, schema.nullable()])),
  public: z.boolean().optional().describe(computed),
});

/** A whole record of an export. */
export const clientRecord = clientSchema.extend(clientExtras.shape);
export const importInput = z.union([
  z.strictObject({
    format: z.literal(stateFormat),
    schemaVersion: z.literal(stateVersion),
    ...Object.fromEntries(
      Object.entries({ ...recordSchemas, clients: clientRecord }).map(([name, schema]) => [name, z.array(schema)]),
    ),
    expirations: z.array(recordSchemas.expirations).optional().describe("Exports of earlier versions have none"),
  }),
  z.strictObject({ source: z.strictObject({ name: z.string(), text: z.string() }) }),
]);

/** What `token.issue` may put into a token. */
export const ownTokenClaims = z.record(
  z.string().regex(new RegExp(`^(?!(?:${Object.keys(reservedInTokens).join("|")})$)`)),
  jsonValue,
);

export const statusChange = user.extend({
  previousStatus: z.enum(["active", "suspended", "banned"]),
  sessionsEnded: z.int(),
  grantsRevoked: z.int(),
});

export const client = z
  .looseObject({
    client_id: z.string(),
    client_secret: z.exactOptional(z.string()).describe("Only with `secrets=true`, or just after it was generated"),
    redirect_uris: z.array(z.string()),
    public: z.boolean().describe("RFC 6749 2.1"),
  })
  .describe("A client as it is shown: its metadata");

export const grant = z
  .object({
    id: z.string(),
    user: z.string().describe("username"),
    client: z.string().describe("client_id"),
    scope: z.string().describe("Space-separated"),
    status: z.enum(["active", "revoked"]),
    createdAt: time,
    updatedAt: time,
    revokedAt: time.nullable(),
  })
  .describe("The consent of a user to a client");

export const session = z
  .object({ id: z.string().describe("The sid of its ID tokens"), user: z.string(), signedInAt: time, expiresAt: time })
  .describe("A user signed in in a browser");

export const key = z
  .object({
    kid: z.string(),
    alg: z.string(),
    status: z.enum(["signing", "retired"]),
    createdAt: time,
    expiresAt: time.nullable(),
  })
  .describe("A key that signs, or signed, tokens");

export const tokenResponse = z.object({
  access_token: z.string(),
  token_type: z.enum(["Bearer", "DPoP"]),
  expires_in: z.int().describe("Seconds"),
  scope: z.string(),
  refresh_token: z.string(),
  id_token: z.string(),
});

const { times: _, always: __, skip: ___, after: ____, ...faultFields } = faultSchema.shape;
export const fault = z
  .object({
    id: z.string(),
    ...faultFields,
    times: z.int().nullable().describe("null: always"),
    remaining: z.int().nullable().describe("How many requests will still take it; null: always"),
    skip: z.int().describe("How many matching requests still pass first"),
    after: z.boolean().describe("The work is done first, and only its response is spoiled"),
  })
  .describe("A response that is wrong on purpose");

export const flaw = z.object({
  name: z.string(),
  endpoint: z.string(),
  place: z
    .string()
    .describe("What is wrong: the authorization response, the ID token, the token response, UserInfo, keys, discovery"),
  wrong: z.string(),
  should: z.string().describe("What it should make a client do"),
  rule: z.string().describe("The paragraph that says so"),
});
export const clock = z
  .object({
    now: time,
    offset: z.int().describe("Seconds ahead of the real time; negative: behind"),
    frozen: z.boolean(),
  })
  .describe("What the server decides by");

export const snapshot = z
  .object({
    name: z.string(),
    savedAt: time,
    users: z.int(),
    clients: z.int(),
    grants: z.int(),
    sessions: z.int(),
  })
  .describe("A state to go back to");

const changes = z.array(z.object({ name: z.string(), fields: z.array(z.string()) }));

export const seeded = z.object({
  added: z.array(z.string()),
  changed: changes,
  same: z.int(),
});

export const resetOutcome = z.object({
  total: z.int(),
  removed: z.array(z.string()),
  added: z.array(z.string()).describe("Had been removed, and are back"),
  changed: changes.describe("Were changed, and match the fixtures again"),
});

export const exported = z.looseObject({
  format: z.literal("idp-state"),
  schemaVersion: z.literal(1),
}) as unknown as z.ZodType<StateDocument>;

const values = z.record(z.string(), z.unknown());

export const request = z
  .object({
    id: z.string(),
    time,
    flow: z.string().nullable().describe("What all requests of one sign-in have in common"),
    endpoint: z.string(),
    method: z.string(),
    path: z.string(),
    status: z.int().describe("0: the connection was closed before the response"),
    ms: z.number(),
    client: z.string().nullable(),
    user: z.string().nullable(),
    grant_type: z.string().nullable(),
    scope: z.string().nullable(),
    parameters: values.describe("Secrets are left out; codes, tokens and verifiers are fingerprints"),
    response: values.nullable().describe("`location` and `parameters` of a redirect, or the `body`"),
    outcome: z.string(),
    error: z.string().nullable(),
    rule: z.string().nullable().describe("The paragraph that requires the refusal"),
    fix: z.string().nullable(),
    fault: z.string().nullable(),
    clock: z.number().nullable().describe("Seconds by which the clock was moved"),
  })
  .describe("A request and its outcome");

export const issuer = z.object({
  name: z.string(),
  issuer: z.string(),
  data: z.string().nullable().describe("A path, or memory"),
  users: z.int(),
  clients: z.int(),
  grants: z.int().describe("Active ones"),
  problem: z.string().nullable().describe("Why it could not be opened; null: it works"),
});

export const nothing = z.null();
