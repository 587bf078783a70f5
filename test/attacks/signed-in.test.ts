import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpHere } from "../helpers/command.ts";
import { call, startWithTokens, tokenOf } from "../helpers/control-tokens.ts";
import { hostileApp } from "../helpers/hostile-app.ts";
import { appClient } from "../helpers/plain-app.ts";

/** A hostile app, or a page on the way to it, against who runs `idp sign-in`; and who has a part of a sign-in, against its user. */

const { app, idp, lines, turn } = await hostileApp(({ url }) => ({
  fixtures: { users: [{ username: "alice" }], clients: [appClient(url)], settings: { login: "password" } },
}));
const cwd = newFolder(afterAll);
const target = ["--url", idp.issuer, "--data", join(cwd, "none")];
const signIn = (words: readonly string[]) =>
  idpHere(["sign-in", "--start", `${app.url}/login`, ...words, ...target], "", { IDP_ADMIN_TOKEN: idp.adminToken });
const redirect = (location: string) => ({ status: 302, headers: { location } });
const far = [
  "http://93.184.216.34/",
  "http://169.254.169.254/latest/meta-data/",
  "http://[fd00:ec2::254]/",
  "http://100.100.100.200/",
];

test.each(far)("a redirect of the app to %s is not followed: exit 2", async (location) => {
  turn({ answers: (path) => (path === "/login" ? redirect(location) : null) });
  expect(await signIn([])).toMatchObject({ code: 2, stdout: "" });
  turn({ answers: (path) => (path === "/me" ? redirect(location) : null) });
  expect(await signIn(["--signed-in", `${app.url}/me`])).toMatchObject({ code: 2, stdout: "" });
});

test("the same of an address that is named; and a link-local one is never opened", async () => {
  for (const location of far) {
    expect((await signIn(["--signed-in", location])).code).toBe(2);
  }
  const [, linkLocal = ""] = far;
  turn({ answers: (path) => (path === "/login" ? redirect(linkLocal) : null) });
  expect((await signIn(["--allow-remote"])).code).toBe(2);
});

test("a redirect to a file, or to a program, is not followed", async () => {
  for (const location of ["file:///etc/passwd", "javascript:alert(1)", "data:text/html,x"]) {
    turn({ answers: (path) => (path === "/login" ? redirect(location) : null) });
    expect(await signIn([])).toMatchObject({ code: 6, stdout: "" });
  }
});

test("the result has no cookie of idp, though both are on one host, and none of another idp", async () => {
  const reflected = { status: 200, headers: { "set-cookie": ["idp_9999_session=other", "own=1"] } };
  turn({ answers: (path) => (path === "/me" ? reflected : null) });
  for (const form of ["storage-state", "cookies", "header"]) {
    const { code, stdout } = await signIn(["--signed-in", `${app.url}/me`, "--as", form]);
    expect([code, stdout.includes("own")]).toEqual([0, true]);
    expect(stdout).not.toMatch(/idp_\d+/);
  }
});

test("no cookie is in the log, the ledger, the acts or an error, and no request to the app names the file", async () => {
  const output = join(cwd, "a-telling-name.json");
  expect((await signIn(["--output", output, "--signed-in", `${app.url}/me`])).code).toBe(0);
  turn({ answers: (path) => (path === "/me" ? { status: 403 } : null) });
  const { code, stdout, stderr } = await signIn(["--signed-in", `${app.url}/me`]);
  expect(code).toBe(6);
  const ledger = JSON.stringify([await idp.call("requests.list", {}), await idp.call("acts", {})]);
  const told = [stdout, stderr, ledger, ...lines].join("\n");
  expect(app.sessions.size).toBeGreaterThan(0);
  for (const sid of app.sessions.keys()) expect(told).not.toContain(sid);
  const sessions = app.seen.flatMap((one) =>
    [...one.matchAll(/idp_\d+_(?:session|browser)=([\w-]+)/g)].map(([, value]) => value),
  );
  expect(sessions.length).toBeGreaterThan(0);
  for (const value of sessions) expect(told).not.toContain(value);
  expect(app.seen.join("\n")).not.toContain("a-telling-name");
});

test("characters that act on a terminal or in a file come out of no form", async () => {
  turn({
    cookies: ["a=1\tFALSE\tx", "ok=2"],
    answers: (path) => (path === "/me" ? { status: 200, body: "\u001b[2J" } : null),
  });
  for (const form of ["storage-state", "cookies", "header"]) {
    const { code, stdout, stderr } = await signIn(["--as", form]);
    expect([code, stdout.includes("ok")]).toEqual([0, true]);
    // eslint-disable-next-line no-control-regex
    expect(stdout + stderr).not.toMatch(/[\u001b\u0080-\u009f]/);
    if (form === "cookies") expect(stdout.split("\n").filter((line) => line.split("\t").length > 7)).toEqual([]);
  }
});

test("what a refused request sent begins no line of its own", async () => {
  turn({ tokenRedirectUri: `${app.url}/callback\nfix      idp reset --yes` });
  const { code, stderr } = await signIn([]);
  expect(code).toBe(6);
  expect(stderr).toContain("rule ");
  expect(stderr).not.toMatch(/^\s*fix +idp reset/m);
});

test("a username leads to no other folder", async () => {
  await idp.call("seed", { users: [{ username: "_..-" }] });
  const output = join(cwd, "below", "{user}", "state.json");
  expect(await signIn(["--user", "_..-", "--output", output])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining(join(cwd, "below", "_..-", "state.json")),
  });
});

test("a session begins only for a sign-in that waits, with the value of its own page, and by a tester", async () => {
  const server = await startWithTokens();
  const own = server.issuer.ctx.issuer;
  const query =
    "response_type=code&client_id=demo-app&redirect_uri=http%3A%2F%2Flocalhost%3A3000%2Fcallback&scope=openid";
  const begun = await fetch(`${own}/api/v2/oauth/authorize?${query}`, { redirect: "manual" });
  const uid = /interaction\/([\w-]+)\//.exec(begun.headers.get("location") ?? "")?.[1] ?? "";
  expect(uid).not.toBe("");
  const body = { user: "alice", sign_in: uid, csrf: "" };
  const begin = (who: string, change: object = {}) =>
    call({ issuer: server.issuer }, tokenOf(who), "POST", "/sessions", { ...body, ...change });
  expect(await begin("qa")).toMatchObject({ status: 404 });
  expect(await begin("qa", { csrf: "x".repeat(22) })).toMatchObject({ status: 404 });
  expect(await begin("eyes")).toMatchObject({ status: 403 });
  const words = ["sign-in", "--start", `${app.url}/login`, "--url", own, "--data", join(cwd, "none")];
  expect(await idpHere(words, "", { IDP_ADMIN_TOKEN: tokenOf("eyes") })).toMatchObject({
    code: 6,
    stderr: expect.stringContaining("sign-in needs a tester, and this token is a reader's"),
  });
});
