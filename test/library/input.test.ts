import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createIdp, type Idp, type OperationError } from "../../src/index.ts";

/** Programs in JavaScript have no compiler: missing and unknown fields are reported as by the control API. */

let idp: Idp;
beforeAll(async () => {
  idp = await createIdp({ port: 0 });
});
afterAll(() => idp.close());

/** As a program without types calls it. */
type Untyped = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;

test.each<[string, readonly unknown[], string]>([
  ["issueTokens", [{ user: "alice" }], "the input is not valid: client is missing"],
  ["issueTokens", [], "the input is not valid: user is missing; client is missing"],
  ["issueGrant", [{ user: "alice", client: 5 }], "the input is not valid: client must be text, not the number 5"],
  [
    "issueCode",
    [{ user: "alice", client: "demo-app", scopes: "openid" }],
    "scopes is an unknown key. Did you mean scope?",
  ],
  ["revoke", [{ usr: "alice" }], "usr is an unknown key. Did you mean user?"],
  ["restore", ["saved", { kep: ["clock"] }], "kep is an unknown key. Did you mean keep?"],
  ["restore", ["saved", { keep: "clock" }], 'keep must be a list, not "clock"'],
  ["call", ["users.suspnd", { username: "bob" }], 'there is no operation "users.suspnd"'],
  ["call", ["users.suspend", {}], "the input is not valid: username is missing"],
])("idp.%s(%j) is refused", async (method, args, message) => {
  const refusal = await (idp as unknown as Untyped)[method]?.(...args).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ name: "OperationError", code: "usage", message: expect.stringContaining(message) });
});

test("idp.issuers.add with another option than fixtures is refused, and makes no issuer", async () => {
  const issuers = idp.issuers as unknown as Untyped;
  const refusal = await issuers["add"]?.("shop", { fixture: {} }).catch((error: unknown) => error);
  expect(refusal).toMatchObject({
    name: "OperationError",
    code: "usage",
    message: 'issuers.add has no option "fixture"',
  });
  expect(await idp.issuers.list()).toEqual([]);
});

test("undefined counts as absent", async () => {
  const input = { user: "alice", client: "demo-app", scope: undefined };
  expect(await idp.issueTokens(input)).toMatchObject({ scope: "openid" });
  expect(await idp.call("users.show", { username: "alice", extra: undefined } as { username: string })).toMatchObject({
    username: "alice",
  });
});

test.each<[object, string, string]>([
  [{ settings: { access_token_ttl: "soon" } }, "usage", "settings.access_token_ttl must be a whole number of seconds"],
  [{ settings: { codeTtl: 1 } }, "usage", "settings.codeTtl is an unknown key. Did you mean code_ttl?"],
  [{ settings: { code_ttl: -1 } }, "usage", "settings.code_ttl is not a positive number of seconds"],
  [{ settings: { consent: "never" } }, "usage", 'settings.consent "never" is not one of ask, skip'],
  [{ settings: { login: "auto" } }, "usage", 'settings.login "auto" must be one of picker, password, auto:<username>'],
  [{ settings: { code_ttl: 0, consent: "no" } }, "usage", "seconds; settings.consent"],
  [{ settings: null }, "usage", "settings must be an object, not null"],
  [{ settings: ["code_ttl"] }, "usage", "settings must be an object, not a list"],
  [{ settings: { login: "auto:nobody" } }, "not_found", 'no user "nobody"'],
  // The id of alice: who signs in is named by the user name.
  [{ settings: { login: "auto:7123456789012345678" } }, "not_found", 'no user "7123456789012345678"'],
  [{ backchannel: "foo" }, "usage", 'backchannel "foo" is neither "off" nor "dynamic"'],
  [{ port: 65_536 }, "usage", "port 65536 is not a whole number from 0 to 65535"],
  [{ port: -1 }, "usage", "port -1 is not a whole number from 0 to 65535"],
  [{ port: 1.5 }, "usage", "port 1.5 is not"],
  [{ port: "4370" }, "usage", 'port "4370" is not'],
  [{ fixtures: [5] }, "invalid", "the fixtures have 1 problem"],
  [{ now: 5 }, "usage", "now must be a function"],
  [{ now: () => Number.NaN }, "usage", "now must return milliseconds since 1970, such as Date.now()"],
  [{ random: "x" }, "usage", "random must be a function"],
  [{ onRequest: {} }, "usage", "onRequest must be a function"],
  [{ log: true }, "usage", "log must be a function"],
])("createIdp(%j) is refused: %s", async (options, code, message) => {
  const refusal = await createIdp({ port: 0, ...options }).then(
    (started) => started.close(),
    (error: unknown) => error,
  );
  expect(refusal).toMatchObject({ name: "OperationError", code, message: expect.stringContaining(message) });
});

test("settings follow the rules of fixtures, and undefined counts as absent", async () => {
  const settings = { access_token_ttl: 90, refresh_rotation: true, code_ttl: undefined, login: "auto:alice" };
  const server = await createIdp({ port: 0, settings: settings as object });
  onTestFinished(() => server.close());
  expect(await server.issueTokens({ user: "alice", client: "demo-app" })).toMatchObject({ expires_in: 90 });
  expect((await server.issueCode({ user: "alice", client: "demo-app" })).code).toEqual(expect.any(String));
});

test("fixtures may be a list of what fixture files hold, beside texts of files", async () => {
  const server = await createIdp({
    port: 0,
    fixtures: [
      { users: [{ username: "eve" }] },
      { name: "more.yaml", text: "users: [{ username: mallory }]" },
      { value: { clients: [{ client_id: "app", redirect_uris: ["http://localhost:3000/callback"] }] } },
    ],
  });
  onTestFinished(() => server.close());
  expect(server.seeded).toMatchObject({ users: { added: ["eve", "mallory"] }, clients: { added: ["app"] } });
});

test("an unknown option of createIdp is refused, with a suggestion", async () => {
  const refusal = await createIdp({ port: 0, fixture: "users.yaml" } as object).catch((error: unknown) => error);
  expect(refusal).toMatchObject({
    name: "OperationError",
    code: "usage",
    message: 'createIdp has no option "fixture"',
    hint: { text: expect.stringContaining("Did you mean fixtures?") as unknown },
  });
  for (const given of [null, [], 4370]) {
    const refused = createIdp(given as unknown as object);
    await expect(refused).rejects.toMatchObject({ code: "usage", message: "createIdp takes an object of options" });
  }
  const server = await createIdp({ port: 0, fixture: undefined } as object);
  await server.close();
});

const many = { users: ["a", "b", "c", "d", "e", "f", "g"].map((username) => ({ username, emial: "" })) };

test("problems of fixtures are in the message: test runners print nothing else of an error", async () => {
  const unknown = "emial is an unknown key. Did you mean email?";
  const listed = [0, 1, 2, 3, 4].map((index) => `  users[${index}].${unknown}`);
  const message = ["the fixtures have 7 problems; nothing was applied:", ...listed, "  and 2 more"].join("\n");
  const fixtures = many as object;
  const refusal = await createIdp({ port: 0, fixtures }).catch((error: unknown) => error);
  expect(refusal).toMatchObject({ code: "invalid", message, stack: expect.stringContaining(message) as unknown });
  expect((refusal as OperationError).problems).toHaveLength(7);
  expect((refusal as OperationError).hint).toMatchObject({ command: ["idp", "seed", "--fields"] });

  await expect(idp.call("seed", many)).rejects.toMatchObject({ message });
  await expect(idp.call("reset", { fixtures })).rejects.toMatchObject({ message });
  const text = "users:\n  - usrname: x\n";
  await expect(idp.changeFixtures([{ name: "bad.yaml", text }])).rejects.toMatchObject({
    message: expect.stringContaining(
      "bad.yaml:2:5 users[0].usrname is an unknown key. Did you mean username?",
    ) as unknown,
  });
  await expect(idp.call("users.add", { username: "" })).rejects.toMatchObject({
    message: expect.stringMatching(/^the input is not valid: username "" is not a username/) as unknown,
  });
});
