import { afterEach, expect, test } from "vitest";
import { idpFixtures } from "../../src/playwright.ts";
import { SignInError } from "../../src/index.ts";
import { serve } from "../helpers/app.ts";
import { appClient, plainApp } from "../helpers/plain-app.ts";

/** `idp.signInAt`: a user signs in at an app, and a test goes on with the cookies. */

type Ways = ReturnType<NonNullable<Parameters<typeof plainApp>[1]>>;
let ways: Ways = {};
afterEach(() => {
  ways = {};
});
let issuer = "";
const app = await plainApp(
  () => issuer,
  () => ways,
);
const idp = await serve({ fixtures: { users: [{ username: "alice" }], clients: [appClient(app.url)] } });
({ issuer } = idp);
const start = `${app.url}/login`;

test("gives cookies, Playwright's state and the header for an address", async () => {
  const signedIn = await idp.signInAt(start, { user: "alice", signedIn: `${app.url}/me` });
  const { cookies, storageState } = signedIn;
  expect(cookies.map(({ name }) => name)).toEqual(["sid", "theme"]);
  expect(storageState).toEqual({ cookies, origins: [] });
  expect(signedIn.header(`${app.url}/me`)).toMatch(/^sid=[\da-f]{32}; theme=dark$/);
  expect(signedIn.header("http://example.test/")).toBe("");
  const me = await fetch(`${app.url}/me`, { headers: { cookie: signedIn.header(`${app.url}/me`) } });
  expect(await me.text()).toContain("I am ");
});

test("what it leaves is a session and a grant, as of a person", async () => {
  await idp.reset();
  await idp.signInAt(new URL(start), { user: "alice" });
  expect(await idp.call("sessions.list", {})).toMatchObject([{ user: "alice" }]);
  expect(await idp.call("grants.list", {})).toMatchObject([{ user: "alice", client: "web", status: "active" }]);
});

test("throws with the rule and the fix of the refused request", async () => {
  ways = { tokenRedirectUri: `${app.url}/callback/` };
  const error: unknown = await idp.signInAt(start, { user: "alice" }).catch((one: unknown) => one);
  expect(error).toBeInstanceOf(SignInError);
  expect(error).toMatchObject({
    message: "alice was not signed in: the token request was refused",
    rule: expect.stringContaining("RFC 6749 4.1.3"),
    fix: expect.any(String),
  });
});

test("opens no address outside this machine and private networks", async () => {
  ways = { answers: () => ({ status: 302, headers: { location: "http://93.184.216.34/" } }) };
  await expect(idp.signInAt(start, { user: "alice" })).rejects.toThrow("neither this machine nor a private network");
});

test("the fixtures of Playwright have it too", async () => {
  const { adminToken } = idp;
  const {
    idp: [worker],
  } = idpFixtures({ issuer: idp.issuer, adminToken, perWorker: false });
  await worker(
    {},
    async (own) => {
      const signedIn = await own.signInAt(start, { user: "alice" });
      expect(signedIn.header(app.url)).toContain("sid=");
    },
    { parallelIndex: 0 },
  );
});
