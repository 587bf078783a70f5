import { expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { callback } from "../helpers/client.ts";
import { idpHere } from "../helpers/command.ts";
import { scimServer } from "../helpers/scim-server.ts";

/** `idp scim`, `idp users leave` and the flags about the token: what they print, and how they end. */

async function world(token?: string) {
  const app = await scimServer();
  const scim = { url: app.url, token: token ?? app.token, profile: "okta" as const };
  const idp = await serve({
    fixtures: [
      {
        users: [
          { username: "alice", displayName: "Alice Adams", claims: { groups: ["engineering"] } },
          { username: "bob" },
        ],
        clients: [
          { client_id: "shop", redirect_uris: [callback], scim },
          { client_id: "plain", redirect_uris: [callback] },
        ],
      },
    ],
  });
  const command = (words: string, input = "") =>
    idpHere([...words.split(" "), "--url", idp.issuer], input, { IDP_ADMIN_TOKEN: idp.adminToken });
  return { app, idp, command };
}

test("push prints a line for each user and group, and ends with 6 if one failed", async () => {
  const { app, command } = await world();
  app.users.set("902c246b", { id: "902c246b", tenant: "one", userName: "bob@example.com", active: true });
  const pushed = await command("scim push");
  expect(pushed.code).toBe(0);
  const id = String(app.named("alice@example.com")?.["id"]);
  expect(pushed.stdout.split("\n")).toEqual([
    `shop  ${app.url}  okta`,
    `  created     alice        201  id ${id}`,
    "  matched     bob          200  id 902c246b (userName)",
    "  group       engineering  201  1 member",
    "2 of 2 users and 1 of 1 groups are in sync",
    "",
  ]);
  const status = await command("scim status --client shop --json");
  expect(JSON.parse(status.stdout)).toMatchObject({
    client: "shop",
    users: [{ username: "alice", id, pending: false }, {}],
  });

  app.hook = ({ method }) =>
    method === "PATCH"
      ? { status: 400, body: { scimType: "invalidValue", detail: "'active' must be a boolean" } }
      : null;
  await command("users suspend alice");
  const failed = await command("scim push --client shop");
  expect(failed.code).toBe(6);
  expect(failed.stdout).toContain("  failed      alice        400  invalidValue: 'active' must be a boolean\n");
  expect(failed.stdout).toContain(
    '            sent {"op":"replace","value":{"active":false}}; accept a value without a path (RFC 7644 3.5.2.3)\n',
  );
});

test("dry-run prints the requests and sends none", async () => {
  const { app, command } = await world();
  const { code, stdout } = await command("scim push --client shop --user alice --dry-run");
  expect(code).toBe(0);
  expect(stdout).toContain(`  POST ${app.url}/Users\n    {"schemas"`);
  expect(stdout).not.toContain(app.token);
  expect(app.seen).toEqual([]);
});

test("exit codes: 3 without scim, 5 without an answer, 6 for a refused token, which can be replaced", async () => {
  const { app, command } = await world("wrong");
  expect((await command("scim push --client plain")).code).toBe(3);
  expect((await command("scim push --client nobody")).code).toBe(3);
  expect((await command("scim test")).code).toBe(6);
  const refused = await command("scim push");
  expect(refused.code).toBe(6);
  expect(refused.stdout).toContain("the app refused the token: clients edit shop --scim-token-stdin");
  const edited = await command("clients edit shop --scim-token-stdin", app.token);
  expect(edited.code).toBe(0);
  expect(edited.stdout).toMatch(/^Changed shop\n {2}scim\.token +updated$/m);
  expect(edited.stdout + edited.stderr).not.toContain(app.token);
  expect((await command("scim test --client shop")).code).toBe(0);
  expect((await command("scim push")).code).toBe(0);
  await app.close();
  expect((await command("scim push --full")).code).toBe(5);
  expect((await command("scim test")).code).toBe(5);
});

test("a new token is sent as the old one was: as a user and a password, or as a bearer token", async () => {
  const { command } = await world();
  const shownAfter = async (token: string) => {
    expect((await command("clients edit shop --scim-token-stdin", token)).code).toBe(0);
    return (await command("clients show shop --show-secrets --json")).stdout;
  };
  expect(await shownAfter("another:token")).toContain('"token":"another:token"');
  expect(
    (await command('clients edit shop --set scim={"url":"http://localhost:1","token":{"basic":"a:b"}}')).code,
  ).toBe(0);
  expect(await shownAfter("user:password")).toContain('"token":{"basic":"user:password"}');
  expect((await command("clients edit shop --scim-token-stdin", "nothing-but-a-name")).stderr).toContain(
    "must be user:password",
  );
  const env = await command('clients edit shop --set env={"A":"1"}');
  expect(env.stdout).toContain("env");
  expect((await command('clients edit shop --set env={"A":"2"}')).stdout).toMatch(/^ {2}env +updated$/m);
});

test("the token is shown only with --show-secrets; env gives it to the app", async () => {
  const { app, command } = await world();
  for (const words of ["clients show shop", "clients list --json", "export --as fixtures"]) {
    expect((await command(words)).stdout).not.toContain(app.token);
    expect((await command(`${words} --show-secrets --json`)).stdout).toContain(app.token);
  }
  expect((await command("export")).stdout).toContain(app.token);
  expect((await command("env --client shop")).stdout).toContain(`SCIM_TOKEN=${app.token}`);
});

test("users leave prints each signal, and ends with 6 if one failed", async () => {
  const { app, command } = await world();
  await command("scim push");
  const left = await command("users leave alice");
  expect(left.code).toBe(0);
  expect(left.stdout).toMatch(
    /^alice is suspended, and the sessions have ended\.\n {2}shop {2}scim {2}200 {2}\d+ ms\n$/,
  );
  expect(app.named("alice@example.com")).toMatchObject({ active: false });
  await command("users restore alice");
  expect(app.named("alice@example.com")).toMatchObject({ active: true });
  app.hook = () => ({ status: 403 });
  const failed = await command("users leave bob");
  expect(failed.code).toBe(6);
  expect(failed.stderr).toContain("bob stays suspended");
});
