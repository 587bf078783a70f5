import { describe, expect, test } from "vitest";
import type { FixtureClient } from "../../src/core/protocol/client-metadata/schema.ts";
import type { FixtureFile } from "../../src/core/admin/fixtures/schema.ts";
import { callback } from "../helpers/client.ts";
import { serve } from "../helpers/app.ts";

/** The fields `scim` and `global_token_revocation` of a client: who may set them, and who sees the token. */

const idp = await serve({ dynamicRegistration: true });
const token = "the-token-of-the-app";
const scim = { url: "http://localhost:3000/scim/v2", token, profile: "okta" as const };
const revocation = { uri: "http://localhost:3000/revoke", subject: "iss_sub" as const };

let count = 0;
async function add(fields: Partial<FixtureClient> = {}): Promise<string> {
  const client_id = `scim-${(count += 1)}`;
  const entry = { client_id, redirect_uris: [callback], scim, global_token_revocation: revocation, ...fields };
  await idp.call("seed", { clients: [entry] });
  return client_id;
}
const json = (value: unknown): string => JSON.stringify(value);

test("the token is shown only where secrets are asked for", async () => {
  const client_id = await add();
  const plain = await idp.call("clients.show", { client_id });
  expect(plain["scim"]).toEqual({ url: scim.url, profile: "okta" });
  expect(plain["global_token_revocation"]).toEqual(revocation);
  expect(json(await idp.call("clients.list", {}))).not.toContain(token);
  const whole = await idp.call("clients.show", { client_id, secrets: true });
  expect(whole["scim"]).toEqual(scim);
});

test("a change of another field keeps the token, and its answer does not show it", async () => {
  const client_id = await add({ scim: { ...scim, token: { basic: `provisioning:${token}` } } });
  const changed = await idp.call("clients.edit", { client_id, client_name: "Shop" });
  expect(json(changed)).not.toContain(token);
  const whole = await idp.call("clients.show", { client_id, secrets: true });
  expect(whole["scim"]).toMatchObject({ token: { basic: `provisioning:${token}` } });
});

test("an export of all data has the token, one as fixtures only if secrets are asked for", async () => {
  await add();
  expect(json(await idp.call("export", {}))).toContain(token);
  const fixtures = await idp.call("export", { as: "fixtures" });
  expect(json(fixtures)).not.toContain(token);
  expect(json(fixtures)).toContain(scim.url);
  expect(json(await idp.call("export", { as: "fixtures", secrets: true }))).toContain(token);
  // It can be seeded as it is.
  const other = await serve({ fixtures: [fixtures as FixtureFile] });
  expect(json(await other.call("clients.list", { secrets: true }))).toContain(scim.url);
});

async function ask(method: string, url: string, body?: object, bearer?: string) {
  const headers = {
    "content-type": "application/json",
    ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
  };
  const answer = await fetch(url, { method, headers, ...(body !== undefined && { body: json(body) }) });
  return (await answer.json()) as Record<string, string>;
}

test("a client that registers itself can neither set them nor read them", async () => {
  const sent = { redirect_uris: [callback], scim, global_token_revocation: revocation };
  const registered = await ask("POST", `${idp.issuer}/api/v2/oauth/register`, sent);
  const { client_id = "", registration_client_uri: uri = "", registration_access_token: access } = registered;
  expect(json(registered)).not.toContain("scim");
  expect((await idp.call("clients.show", { client_id, secrets: true }))["scim"]).toBeUndefined();

  await idp.call("clients.edit", { client_id, scim, global_token_revocation: revocation });
  const read = await ask("GET", uri, undefined, access);
  expect(read["scim"]).toBeUndefined();
  expect(read["global_token_revocation"]).toBeUndefined();
  const other = { ...scim, url: "http://localhost:1/mine" };
  const replaced = await ask("PUT", uri, { client_id, redirect_uris: [callback], scim: other }, access);
  expect(json(replaced)).not.toContain("scim");
  expect((await idp.call("clients.show", { client_id, secrets: true }))["scim"]).toEqual(scim);
});

describe.each([
  ["a url that is not on the web", { url: "ftp://localhost/scim" }, "scim.url"],
  ["a url with a query", { url: "http://localhost/scim?tenant=1" }, "scim.url"],
  ["an unknown profile", { profile: "onelogin" }, "scim.profile"],
  ["an unknown field", { secret: "x" }, "scim"],
  ["basic without a colon", { token: { basic: "nobody" } }, "scim.token"],
  ["a token that no header takes", { token: "a\nb" }, "scim.token"],
  ["a password as an attribute", { attributes: { password: "pw" } }, "scim.attributes"],
  ["a core attribute", { attributes: { userName: "nick" } }, "scim.attributes"],
  ["groups that are no names", { groups: ["a", ""] }, "scim.groups"],
])("%s is refused", (_name, change, path) => {
  test("with its place, and without the token", async () => {
    const failure = await add({ scim: { ...scim, ...change } as never }).catch((error: unknown) => error);
    expect(json((failure as { problems: unknown }).problems)).toContain(path);
    expect(json((failure as { problems: unknown }).problems)).not.toContain(token);
    expect(String(failure)).not.toContain(token);
  });
});
