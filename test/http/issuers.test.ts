import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { signIn, userinfo } from "../helpers/client.ts";
import { openInspector } from "../helpers/inspector.ts";
import { createIdp, type Idp } from "../../src/index.ts";

/** Several issuers in one process: how they are made, found and removed. test/attacks shows that they are separate. */

const api = async (idp: Idp, method: string, path: string, body?: object) => {
  const response = await fetch(`${idp.issuer}/_idp/api/issuers${path}`, {
    method,
    headers: { authorization: `Bearer ${idp.adminToken}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: text === "" ? null : (JSON.parse(text) as Record<string, unknown>) };
};

const statusOf = async (url: string): Promise<number> => (await fetch(url, { redirect: "manual" })).status;

test("an issuer is made at /i/NAME, with its own users; both kinds of metadata name it", async () => {
  const idp = await serve();
  const fixtures = {
    users: [{ username: "zoe" }],
    clients: [{ client_id: "app", redirect_uris: ["https://app.test/cb"] }],
  };
  const made = await api(idp, "POST", "", { name: "tenant-a", fixtures });
  const issuer = `${idp.issuer}/i/tenant-a`;
  const view = { name: "tenant-a", issuer, data: "memory", users: 1, clients: 1, grants: 0, problem: null };
  expect(made).toEqual({ status: 201, json: view });
  expect(await api(idp, "GET", "")).toEqual({ status: 200, json: [view] });
  expect(await api(idp, "GET", "/tenant-a")).toEqual({ status: 200, json: view });
  for (const url of [
    `${issuer}/.well-known/openid-configuration`,
    `${issuer}/.well-known/oauth-authorization-server`,
    `${idp.issuer}/.well-known/oauth-authorization-server/i/tenant-a`,
  ]) {
    expect(await (await fetch(url)).json(), url).toMatchObject({
      issuer,
      token_endpoint: `${issuer}/api/v2/oauth/token`,
    });
  }
});

test("below a name that was never made everything is 404, and nothing is made", async () => {
  const idp = await serve();
  for (const path of [
    "/i/nobody/.well-known/openid-configuration",
    "/.well-known/oauth-authorization-server/i/nobody",
    "/i/nobody/_idp/api/issuers",
    "/i/nobody",
    "/i/nobody/",
    "/i/",
    "/i",
    "/i/..%2f/api/v2/oauth/jwks",
  ]) {
    expect([path, await statusOf(idp.issuer + path)]).toEqual([path, 404]);
  }
  expect((await api(idp, "GET", "")).json).toEqual([]);
});

test("an invalid name is 422, a taken one 409, an unknown one 404", async () => {
  const idp = await serve();
  for (const name of ["", "a b", "a/b", "ä", "a".repeat(65), "..", "a\n"]) {
    expect([name, (await api(idp, "POST", "", { name })).status]).toEqual([name, 422]);
  }
  expect((await api(idp, "POST", "", { name: "a".repeat(64) })).status).toBe(201);
  expect((await api(idp, "POST", "", { name: "_-Z9" })).status).toBe(201);
  expect((await api(idp, "POST", "", { name: "_-Z9" })).status).toBe(409);
  expect((await api(idp, "GET", "/b")).status).toBe(404);
  expect((await api(idp, "DELETE", "/b")).status).toBe(404);
});

test("fixtures with a problem make no issuer", async () => {
  const idp = await serve();
  const refused = await api(idp, "POST", "", { name: "a", fixtures: { users: [{ username: "x y" }] } });
  expect(refused).toMatchObject({ status: 422, json: { problems: [{ path: "users[0].username" }] } });
  expect((await api(idp, "GET", "")).json).toEqual([]);
  expect((await api(idp, "POST", "", { name: "a" })).status).toBe(201);
});

test("without fixtures it has those of the first issuer; its control API changes it alone", async () => {
  const idp = await serve();
  await api(idp, "POST", "", { name: "a" });
  const suspended = await fetch(`${idp.issuer}/i/a/_idp/api/users/alice/suspend`, {
    method: "POST",
    headers: { authorization: `Bearer ${idp.adminToken}` },
  });
  expect(suspended.status).toBe(200);
  expect(await idp.call("users.show", { username: "alice" })).toMatchObject({ status: "active" });
});

test("the cookies of an issuer have its name and its path", async () => {
  const idp = await serve();
  await api(idp, "POST", "", { name: "a" });
  const login = await fetch(`${idp.issuer}/i/a/account`, { redirect: "manual" });
  expect(login.headers.getSetCookie()).toEqual([
    expect.stringMatching(new RegExp(`^idp_${idp.port}_a_browser=[^;]+; Path=/i/a/; HttpOnly; SameSite=Lax$`)),
  ]);
});

test("an issuer that is removed is gone: its paths are 404, and one of the same name accepts none of its tokens", async () => {
  const idp = await serve();
  await api(idp, "POST", "", { name: "a" });
  const issuer = `${idp.issuer}/i/a`;
  const { code } = await signIn({ issuer });
  const redeem = await fetch(`${issuer}/api/v2/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({
      ...{ grant_type: "authorization_code", code, redirect_uri: "http://localhost:3000/callback" },
      ...{ client_id: "demo-app", client_secret: "demo-secret" },
    }),
  });
  const { access_token: token } = (await redeem.json()) as { readonly access_token: string };
  expect((await userinfo({ issuer }, token)).status).toBe(200);
  expect((await api(idp, "DELETE", "/a")).status).toBe(204);
  expect((await userinfo({ issuer }, token)).status).toBe(404);
  await api(idp, "POST", "", { name: "a" });
  expect((await userinfo({ issuer }, token)).status).toBe(401);
});

test("a change of the address at any issuer moves every issuer", async () => {
  const idp = await serve();
  await api(idp, "POST", "", { name: "a" });
  const local = idp.issuer;
  const moved = await fetch(`${local}/i/a/_idp/api/issuer`, {
    method: "PUT",
    headers: { authorization: `Bearer ${idp.adminToken}`, "content-type": "application/json" },
    body: JSON.stringify({ issuer: "https://idp.test:8443/i/a" }),
  });
  expect(moved.status).toBe(200);
  expect(idp.issuer).toBe("https://idp.test:8443");
  await idp.call("issuers.add", { name: "b" });
  const all = await idp.call("issuers.list", {});
  expect(all.map(({ issuer }) => issuer)).toEqual(["https://idp.test:8443/i/a", "https://idp.test:8443/i/b"]);
});

test("issuers of the data folder are back after a restart, and keep their own fixtures; those of a fixture file are there", async () => {
  const folder = mkdtempSync(join(tmpdir(), "idp-issuers-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const data = join(folder, "data");
  const fixtures = { users: [{ username: "alice" }], issuers: { b: { users: [{ username: "bea" }] } } };
  const before = await createIdp({ data, fixtures, issuers: ["w1"] });
  const own = await before.issuers.add("a", { fixtures: { users: [{ username: "zoe" }] } });
  await own.call("users.suspend", { username: "zoe" });
  await before.close();
  const idp = await serve({ data, fixtures, issuers: ["w1"] });
  const usersOf = async (name: string) => {
    const users = await idp.issuers.get(name).call("users.list", {});
    return users.map(({ username, status }) => `${username} ${status}`);
  };
  expect(await usersOf("a")).toEqual(["zoe suspended"]);
  expect(await usersOf("b")).toEqual(["bea active"]);
  expect(await usersOf("w1")).toEqual(["alice active"]);
  await idp.issuers.get("a").reset();
  expect(await usersOf("a")).toEqual(["zoe active"]);
  await idp.issuers.remove("a");
  expect(existsSync(join(data, "issuers", "a"))).toBe(false);
});

test("the inspector of an issuer leads to those of the others, and its commands are for that issuer", async () => {
  const idp = await serve({ issuers: ["w1", "w2"] });
  const { browser, first, at } = await openInspector(idp);
  const atW1 = await browser.press(first, "open-issuer-w1");
  expect([atW1.status, atW1.url.slice(idp.issuer.length)]).toEqual([
    200,
    expect.stringMatching(/^\/i\/w1\/_idp\/[\w-]{22}\/$/),
  ]);
  // Each issuer has its own path.
  expect(new URL(atW1.url).pathname.slice(-23)).not.toBe(new URL(at()).pathname.slice(-23));
  for (const command of ["idp open", "idp open --issuer w2"]) expect(atW1.body).toContain(`>${command}<`);
  const users = await browser.open(`${atW1.url}users`);
  const suspended = await browser.press(users, "suspend-alice");
  expect(suspended.body).toContain("idp users suspend alice --issuer w1");
  expect(await idp.issuers.get("w1").call("users.show", { username: "alice" })).toMatchObject({ status: "suspended" });
  expect(await idp.call("users.show", { username: "alice" })).toMatchObject({ status: "active" });
  // Who has no cookie is not led anywhere.
  const body = new URLSearchParams({ issuer: "w2", csrf: "c5rf" });
  const headers = { origin: idp.issuer };
  const foreign = await fetch(at("issuer"), { method: "POST", body, headers, redirect: "manual" });
  expect(foreign.status).toBe(403);
});

test("an inspector shows no list of issuers if there is only one", async () => {
  const { first } = await openInspector(await serve());
  expect(first.body).not.toContain("inspector-issuers");
});

test("a seed and other fixtures update the issuers that they name, and make those that are new", async () => {
  const idp = await serve({ fixtures: { issuers: { b: { users: [{ username: "bea" }] } } } });
  const usersOf = async (name: string) => {
    const users = await idp.issuers.get(name).call("users.list", {});
    return users.map(({ username, email }) => `${username} ${email}`);
  };
  await idp.call("seed", { issuers: { b: { users: [{ username: "ben", email: "ben@b.test" }] } } });
  expect(await usersOf("b")).toEqual([expect.stringMatching(/^bea /), "ben ben@b.test"]);
  const issuers = { b: { users: [{ username: "bea", email: "bea@b.test" }] }, c: { users: [{ username: "carl" }] } };
  expect((await idp.changeFixtures([{ value: { issuers } }])).vanished).toEqual([]);
  expect(await usersOf("b")).toEqual(["bea bea@b.test", "ben ben@b.test"]);
  expect(await usersOf("c")).toHaveLength(1);
  await idp.issuers.get("b").reset();
  expect(await usersOf("b")).toEqual(["bea bea@b.test"]);
  expect((await idp.changeFixtures([{ value: {} }])).vanished).toEqual(["issuer b", "issuer c"]);
});
