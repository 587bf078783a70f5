import { afterAll, beforeAll, expect, test } from "vitest";
import { createIdp, type Idp } from "../../src/index.ts";

/** Programs in JavaScript have no compiler: what is missing or unknown is told, as the control API tells it. */

let idp: Idp;
beforeAll(async () => {
  idp = await createIdp({ port: 0 });
});
afterAll(() => idp.close());

/** As a program without types calls it. */
type Untyped = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;

test.each<[string, readonly unknown[], string]>([
  ["issueTokens", [{ user: "alice" }], "the input is not valid: client: is missing"],
  ["issueTokens", [], "the input is not valid: user: is missing; client: is missing"],
  ["issueGrant", [{ user: "alice", client: 5 }], "the input is not valid: client: has to be of type string"],
  ["issueCode", [{ user: "alice", client: "demo-app", scopes: "openid" }], "scopes: Did you mean scope?"],
  ["revoke", [{ usr: "alice" }], "usr: Did you mean user?"],
  ["call", ["users.suspnd", { username: "bob" }], 'there is no operation "users.suspnd"'],
  ["call", ["users.suspend", {}], "the input is not valid: username: is missing"],
])("idp.%s(%j) is refused", async (method, args, message) => {
  const refusal = await (idp as unknown as Untyped)[method]?.(...args).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ name: "OperationError", code: "usage", message: expect.stringContaining(message) });
});

test("what is undefined is as good as absent", async () => {
  const input = { user: "alice", client: "demo-app", scope: undefined };
  expect(await idp.issueTokens(input)).toMatchObject({ scope: "openid" });
  expect(await idp.call("users.show", { username: "alice", extra: undefined } as { username: string })).toMatchObject({
    username: "alice",
  });
});

test("an option that createIdp does not have is refused, with the one that is meant", async () => {
  const refusal = await createIdp({ port: 0, fixture: "users.yaml" } as object).catch((error: unknown) => error);
  expect(refusal).toMatchObject({
    name: "OperationError",
    code: "usage",
    message: 'createIdp has no option "fixture"',
    hint: expect.stringContaining("Did you mean fixtures?") as unknown,
  });
  for (const given of [null, [], 4370]) {
    const refused = createIdp(given as unknown as object);
    await expect(refused).rejects.toMatchObject({ code: "usage", message: "createIdp takes an object of options" });
  }
  const server = await createIdp({ port: 0, fixture: undefined } as object);
  await server.close();
});
