import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { checkFixtures } from "../../src/core/admin/seed/seed.ts";
import { operations, type OperationName } from "../../src/core/admin/operations/routes.ts";
import type { Idp } from "../../src/index.ts";
import { cb, keys } from "../helpers/api-samples.ts";
import { serve } from "../helpers/app.ts";
import { call, compiled, described, document, schemaOf } from "../helpers/openapi.ts";
import { longRuns, timeLimit } from "../helpers/runs.ts";

/** Records in the OpenAPI document: what must fit together in a client, what their state does not allow, and the links to them. */

let idp: Idp;
beforeAll(async () => {
  idp = await serve();
});

const maybe = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });

/** Clients whose fields are right one by one, and may not fit together. */
const clients = fc
  .record({
    client_secret: maybe(fc.constant("secret")),
    redirect_uris: maybe(fc.constantFrom([], cb.redirect_uris)),
    token_endpoint_auth_method: maybe(
      fc.constantFrom("none", "client_secret_post", "client_secret_basic", "client_secret_jwt", "private_key_jwt"),
    ),
    token_endpoint_auth_signing_alg: maybe(fc.constantFrom("HS256", "ES256")),
    id_token_signed_response_alg: maybe(fc.constantFrom("HS256", "RS256")),
    grant_types: maybe(
      fc.subarray([
        ...["authorization_code", "refresh_token", "client_credentials"],
        ...["urn:ietf:params:oauth:grant-type:device_code", "urn:ietf:params:oauth:grant-type:token-exchange"],
      ]),
    ),
    response_types: maybe(fc.constantFrom([], ["code"])),
    jwks: maybe(fc.constant(keys)),
    jwks_uri: maybe(fc.constant("https://app.test/jwks")),
  })
  .map((fields) => JSON.parse(JSON.stringify(fields)) as object);

describe("what must fit together in a client", { timeout: timeLimit }, () => {
  test("in a fixture", async () => {
    const schema = compiled(document.components.schemas["FixtureClient"] ?? {});
    await fc.assert(
      fc.asyncProperty(clients, async (fields) => {
        const client = { client_id: "c", ...fields };
        const isTaken = await checkFixtures([{ value: { clients: [client] } }]).then(
          () => true,
          () => false,
        );
        expect(schema(client)).toBe(isTaken);
      }),
      { numRuns: longRuns(100) },
    );
  });

  test("in an added and in a changed client: metadata that does not fit the rest is 409", async () => {
    const added = schemaOf("clients.add");
    const changed = schemaOf("clients.edit");
    let count = 0;
    await fc.assert(
      fc.asyncProperty(clients, async (fields) => {
        const client_id = `added-${(count += 1)}`;
        const { status } = await call(idp, "POST", "/clients", { client_id, ...fields });
        expect(status).toBe(added({ client_id, ...fields }) ? 201 : 422);
        const change = await call(idp, "PATCH", "/clients/demo-service", fields);
        expect(changed(fields)).toBe(true);
        expect([200, 409]).toContain(change.status);
      }),
      { numRuns: longRuns(60, 10) },
    );
  });
});

test("a change that the state of a record or the settings do not allow is 409", async () => {
  await call(idp, "POST", "/users", { username: "gone", status: "suspended" });
  for (const [method, path, body] of [
    ["POST", "/clients/demo-spa/rotate-secret", {}],
    ["POST", "/issue/tokens", { user: "gone", client: "demo-app" }],
    ["POST", "/issue/code", { user: "alice", client: "demo-app", redirect_uri: "https://other.test/" }],
    ["POST", "/token/issue", { user: "alice", client: "demo-app", expires_in: 315_360_000 }],
    ["POST", "/token/issue", { client: "demo-app" }],
    ["PATCH", "/users/alice", { id: "another" }],
    ["PATCH", "/users/alice", { hasPassword: true, username: "bob" }],
    ["PATCH", "/clients/demo-app", { client_id: "another" }],
    ["POST", "/clients", { client_id: "plain", redirect_uris: ["http://app/cb"] }],
    ["POST", "/clients", { client_id: "open", redirect_uris: ["http://localhost:*/cb"] }],
  ] as const) {
    const { status, text } = await call(idp, method, path, body);
    expect({ path, body, status }, text).toEqual({ path, body, status: 409 });
  }
});

test("links lead from what was made to showing, changing and removing it", async () => {
  const made = {
    "users.add": { username: "linked" },
    "clients.add": { client_id: "linked", ...cb },
    "grants.add": { user: "alice", client: "demo-app" },
    "issue.grant": { user: "bob", client: "demo-app" },
    "keys.rotate": {},
  } as const;
  for (const [name, body] of Object.entries(made) as [OperationName, object][]) {
    const answer = await call(idp, "POST", operations[name].path, body);
    expect(answer.status, answer.text).toBe(201);
    const links = Object.values(described(name).responses["201"]?.links ?? {});
    expect(links.map(({ operationId }) => operations[operationId as OperationName].method)).toEqual(
      name === "keys.rotate" ? ["GET", "DELETE"] : ["GET", "PATCH", "DELETE"],
    );
    for (const { operationId, parameters } of links) {
      const [parameter, pointer] = Object.entries(parameters)[0] ?? ["", ""];
      const steps = pointer.replace("$response.body#/", "").split("/");
      const value = steps.reduce<unknown>((inside, step) => Reflect.get(Object(inside) as object, step), answer.body);
      const { method, path } = operations[operationId as OperationName];
      const change = operationId === "grants.edit" ? { scope: "openid" } : {};
      const found = await call(
        idp,
        method,
        path.replace(`:${parameter}`, String(value)),
        method === "PATCH" ? change : undefined,
      );
      expect(found.status, `${operationId}: ${found.text}`).toBeLessThan(300);
    }
  }
});
