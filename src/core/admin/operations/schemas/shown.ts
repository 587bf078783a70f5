import { roles } from "../../../records/operators/roles.ts";
import * as z from "zod";
import { endpointNames } from "../../../base/endpoints.ts";
import type { FixtureFile } from "../../fixtures/schema.ts";
import type { StateDocument } from "../../../testing/state/state.ts";

/** Schemas of what operations return, where more than one returns it or it has many fields. */

const time = z.string().describe("ISO 8601");

export const client = z
  .looseObject({
    client_id: z.string(),
    client_secret: z.exactOptional(z.string()).describe("Only with `secrets=true`, or just after it was generated"),
    redirect_uris: z.array(z.string()),
    public: z.boolean().describe("RFC 6749 2.1"),
    metadata_document: z
      .exactOptional(z.literal(true))
      .describe("Not registered: its client_id is the URL of its metadata"),
    self_registered: z.exactOptional(z.literal(true)).describe("It registered itself (RFC 7591)"),
  })
  .describe("A client as it is shown: its metadata");

export const grant = z
  .object({
    id: z.string(),
    user: z.string().describe("username"),
    client: z.string().describe("client_id"),
    scope: z.string().describe("Space-separated"),
    status: z.enum(["active", "revoked"]),
    by: z.exactOptional(z.string()).describe("The issuer whose ID-JAG named the scopes; absent: another way"),
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
    use: z.enum(["sig", "saml"]).describe("sig: it signs tokens; saml: messages of SAML"),
    status: z.enum(["signing", "retired"]),
    createdAt: time,
    expiresAt: time.nullable(),
    fingerprints: z
      .object({ sha256: z.string(), sha1: z.string() })
      .nullable()
      .describe("Of its certificate, with colons; null: it has none"),
  })
  .describe("A key that signs, or signed, tokens");

export const tokenResponse = z.object({
  access_token: z.string(),
  token_type: z.enum(["Bearer", "DPoP"]),
  expires_in: z.int().describe("Seconds"),
  scope: z.exactOptional(z.string()).describe("Absent: no scopes"),
  refresh_token: z.exactOptional(z.string()).describe("Absent: refresh_requires_offline_access"),
  id_token: z.string(),
});

export const issuedSaml = z.object({
  acs: z.string().describe("Where it is posted"),
  SAMLResponse: z.string().describe("Base64"),
  RelayState: z.string().nullable().describe("As it was given; null: none was"),
  expires_in: z.int().describe("Seconds"),
});

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
    by: z.exactOptional(z.string()).describe("Who saved it: the name of the token"),
    users: z.int(),
    clients: z.int(),
    grants: z.int(),
    sessions: z.int(),
  })
  .describe("A state to go back to");

const changes = z.array(z.object({ name: z.string(), fields: z.array(z.string()) }));

const seeded = z.object({
  added: z.array(z.string()),
  changed: changes,
  same: z.int(),
});

const resetOutcome = z.object({
  total: z.int(),
  removed: z.array(z.string()),
  added: z.array(z.string()).describe("Had been removed, and are back"),
  changed: changes.describe("Were changed, and match the fixtures again"),
});

const state = z.looseObject({
  format: z.literal("idp-state"),
  schemaVersion: z.literal(1),
}) as unknown as z.ZodType<StateDocument>;
export const exported = z.union([state, z.looseObject({}) as unknown as z.ZodType<FixtureFile>]);

const values = z.record(z.string(), z.unknown());

const reason = z.object({
  message: z.string(),
  parameter: z.exactOptional(z.string()).describe("The one that is wrong; absent: none alone is"),
});

const hint = z.object({
  text: z.string(),
  command: z.exactOptional(z.array(z.string())),
  sentence: z.exactOptional(z.string()).describe("What of the text is true without the command too"),
  letsIn: z.exactOptional(z.string()).describe("What the step lets in, where no command says it"),
});

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
    metadata_document: z.unknown().describe("The metadata document of the client, without secrets; null: none"),
    rule: z.string().nullable().describe("The paragraph that requires the refusal"),
    fix: z.string().nullable(),
    reason: z.exactOptional(reason).describe("The error without its code; absent: it was not refused"),
    next: z
      .exactOptional(hint)
      .describe("The fix in parts: a sentence, and the words of a command; absent: there is none"),
    fault: z.string().nullable(),
    faults: z.exactOptional(z.array(z.string())).describe("The ids of the faults that it took"),
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
  addedBy: z.exactOptional(z.string()).describe("The tester who added it"),
});

export const diffed = z.object({
  differs: z.boolean(),
  records: z.array(
    z.object({
      section: z.enum(["users", "clients", "scopes", "settings", "grants", "issuers"]),
      name: z.string(),
      change: z
        .enum(["changed", "added", "missing"])
        .describe("added: only in the data; missing: only in the fixtures"),
      fields: z
        .record(z.string(), z.object({ fixture: z.unknown(), data: z.unknown() }))
        .describe("Of a changed one; secrets are compared and not shown"),
    }),
  ),
  issuers: z.exactOptional(z.array(z.string())).describe("Of the fixtures: each is compared at its own address"),
  fixtures: z.exactOptional(z.record(z.string(), z.unknown())).describe("With as: what to write into the fixture file"),
});

export const act = z.object({
  time,
  by: z.string().describe("The name of the token; admin: the admin token"),
  role: z.enum(roles),
  command: z.string().describe("What does the same, without secrets"),
  status: z.int().describe("Of the answer; 403: the role may not do it"),
});

export const seedOutcome = z.object({
  users: seeded,
  clients: seeded,
  scopes: seeded,
  grants: seeded,
  settings: seeded,
});

export const resetResult = z.object({
  fixtures: z.array(z.string()).describe("The files as they were named"),
  users: resetOutcome,
  clients: resetOutcome,
  scopes: resetOutcome,
  grants: resetOutcome,
  settings: z.array(z.string()).describe("Those that changed"),
  sessionsEnded: z.int(),
  keysRenewed: z.boolean(),
});

export const status = z.object({
  issuer: z.string(),
  endpoints: z.record(z.enum(endpointNames), z.string()).describe("Addresses by the names of the setting endpoints"),
  data: z.string().describe("A path, or memory"),
  users: z.int(),
  clients: z.int(),
  grants: z.int().describe("Active ones"),
  faults: z.int().describe("Active ones: faults list"),
  snapshots: z.int(),
  requests: z.int().describe("What the ledger holds: requests list"),
  clock: z.exactOptional(clock).describe("While it is moved"),
  server: z.object({ pid: z.int(), startedAt: time, version: z.string() }).nullable(),
  operator: z
    .exactOptional(z.object({ name: z.string(), role: z.enum(roles), owner: z.exactOptional(z.literal(true)) }))
    .describe("Whose token asked; owner: a tester who added this issuer, and may do everything in it"),
});

export const introspection = z.looseObject({
  active: z.boolean(),
  reason: z.exactOptional(z.string()),
  since: z.exactOptional(time),
});
