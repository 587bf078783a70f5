import { beforeAll, describe, expect, test } from "vitest";
import { operations, type OperationName } from "../../src/core/admin/operations/routes.ts";
import type { Idp } from "../../src/index.ts";
import { samples } from "../helpers/api-samples.ts";
import { serve } from "../helpers/app.ts";
import { bodyOf, call, compiled, described, schemaOf } from "../helpers/openapi.ts";

/** What the OpenAPI document says of the input of each operation is what the server takes. */

let idp: Idp;
beforeAll(async () => {
  idp = await serve();
  await idp.call("seed", { clients: [{ client_id: "urn:sp", saml: { acs: ["http://localhost:3000/acs"] } }] });
  await idp.snapshot("saved");
});

const pathOf = (name: OperationName): string =>
  operations[name].path
    .replace(":username", "bob")
    .replace(":client_id", "demo-app")
    .replace(":id", "g_nope")
    .replace(":name/token", "gitlab/token")
    .replace("/snapshots/:name", "/snapshots/saved");

/** They need a grant, or a sign-in that waits: openapi.test.ts calls them. */
const ofOne = ["grants.edit", "sessions.begin"];

const rows = Object.entries(samples) as [OperationName, NonNullable<(typeof samples)[OperationName]>][];

describe("a body that fits the schema is taken, and any other is refused", () => {
  test("there are samples of every operation with a body", () => {
    const names = Object.keys(operations) as OperationName[];
    const withBody = names.filter((name) => described(name).requestBody !== undefined);
    expect([...Object.keys(samples), ...ofOne].sort()).toEqual(withBody.sort());
  });

  test.each(rows)("%s", async (name, { good, bad }) => {
    const schema = schemaOf(name);
    for (const [sample, isGood] of [
      ...good.map((one) => [one, true] as const),
      ...bad.map((one) => [one, false] as const),
    ]) {
      const body = JSON.parse(JSON.stringify(sample)) as unknown;
      const { status, text } = await call(idp, operations[name].method, pathOf(name), body);
      const seen = { body, fits: schema(body), taken: status < 300 };
      expect(seen, text).toEqual({ body, fits: isGood, taken: isGood });
      if (!isGood) expect(status, text).toBe(422);
    }
  });

  test("an export can be imported", async () => {
    const { body } = await call(idp, "GET", "/export");
    expect(schemaOf("import")(body)).toBe(true);
    const unknownAlg = {
      ...(body as object),
      keys: [{ kid: "k", alg: "RS1", jwk: {}, createdAt: "2024-01-01", retiredAt: null }],
    };
    expect(schemaOf("import")(unknownAlg)).toBe(false);
    expect((await call(idp, "POST", "/import", unknownAlg)).status).toBe(422);
    expect((await call(idp, "POST", "/import", body)).status).toBe(200);
  });

  test("a body may be absent where it is not required", async () => {
    for (const name of Object.keys(samples) as OperationName[]) {
      const { status } = await call(idp, operations[name].method, pathOf(name));
      expect({ name, required: bodyOf(name).required }).toEqual({ name, required: status === 422 });
    }
  });
});

test.each([
  ["requests.list", "/requests?endpoint=", ["token", "any"], ["tokens"]],
  ["users.list", "/users?limit=", ["0", "7", "999999999"], ["-1", "1.5", "1000000000", "few"]],
  ["export", "/export?as=", ["state", "fixtures"], ["", "yaml"]],
] as const)("%s: query values", async (name, path, good, bad) => {
  const schema = described(name).parameters?.[0]?.schema ?? {};
  for (const value of [...good, ...bad]) {
    const parsed: unknown = /^-?[\d.]+$/.test(value) ? Number(value) : value;
    const { status } = await call(idp, "GET", path + value);
    const isGood = (good as readonly string[]).includes(value);
    expect({ value, fits: compiled(schema)(parsed), status }).toEqual({
      value,
      fits: isGood,
      status: isGood ? 200 : 422,
    });
  }
});
