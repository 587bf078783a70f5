import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { CarefulApp, type Neglect } from "../helpers/careful-app.ts";
import { idp, launch, newFolder, startIdp, type Ended } from "../helpers/cli.ts";
import { freePort } from "../helpers/port.ts";
import { serveApp } from "../helpers/serve-app.ts";

/** `idp check client` on a running server, with an app that somebody else started: what it leaves there. */

const clientSecret = "the-secret-of-the-app-under-test";

/** A server, and the address of an app that is not there yet. */
async function startServer(flags: readonly string[] = []) {
  const cwd = newFolder();
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const redirectUri = `${url}/callback`;
  const clients = [{ client_id: "app", client_secret: clientSecret, redirect_uris: [redirectUri] }];
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify({ users: [{ username: "alice" }], clients }));
  const { issuer } = await startIdp(flags, { cwd });
  let app: CarefulApp | null = null;
  return {
    ...{ cwd, issuer },
    words: (...flags: readonly string[]) => [
      ...["check", "client", "--start", `${url}/login`, "--signed-in", `${url}/me`],
      ...flags,
    ],
    /** The app of an issuer answers from now on. */
    serve: async (name: string, ...neglects: readonly Neglect[]): Promise<void> => {
      const isFirst = app === null;
      app = await CarefulApp.create({ issuer: name, clientId: "app", clientSecret, redirectUri, neglects });
      if (isFirst) onTestFinished((await serveApp(Number(port), () => app)).close);
    },
  };
}

test("the faults are those of one client, and none is left", async () => {
  const { issuer, serve, words, ...folder } = await startServer();
  await serve(issuer, "nonce");
  const wanted = ["id-token.nonce-wrong", "userinfo.sub-wrong", "keys.keys-empty", "keys-rotated"];
  const cases = wanted.flatMap((name) => ["--case", name]);
  const { code, stdout } = await idp(words(...cases, "--client", "app", "--json"), folder);
  expect(code).toBe(6);
  const document = JSON.parse(stdout) as { readonly cases: readonly Readonly<Record<string, unknown>>[] };
  expect(document.cases.map(({ name, verdict }) => [name, verdict])).toEqual([
    ["control", "works"],
    // The one of the nonce reads its verdict.
    ["id-token.not-read", "noticed"],
    ["id-token.nonce-wrong", "unnoticed"],
    ["userinfo.sub-wrong", "noticed"],
    ["keys.keys-empty", "not-reached"],
    ["keys-rotated", "not-reached"],
    ["control", "works"],
  ]);
  expect(await idp(["faults", "list", "--json"], folder)).toMatchObject({ stdout: "[]\n" });
});

test("the issuer of the check signs nobody in by itself, although the server does", async () => {
  const { serve, words, cwd, issuer } = await startServer(["--login", "auto:alice"]);
  const own = `${issuer}/i/check-client`;
  // The check makes its issuer, and then waits for the app.
  const checked = idp(words("--case", "login-csrf"), { cwd });
  await vi.waitFor(() => serve(own), { timeout: 30_000 });
  const { code, stdout } = await checked;
  expect([code, stdout]).toEqual([0, expect.stringContaining("works")]);
});

test("Ctrl+C leaves no fault on a running server", async () => {
  const { issuer, serve, words, ...folder } = await startServer();
  await serve(issuer);
  const running = launch(words("--case", "userinfo.sub-wrong", "--client", "app"), folder);
  onTestFinished(() => void running.kill("SIGKILL"));
  const ended = new Promise((resolve) => running.on("close", resolve));
  // The control is done, and the fault of the first case is added next.
  await new Promise((resolve) => running.stdout.once("data", resolve));
  running.kill("SIGINT");
  expect(await ended).toBe(130);
  expect(await idp(["faults", "list", "--json"], folder)).toMatchObject({ stdout: "[]\n" });
});

test("Ctrl+C removes the issuer that was added for the check", async () => {
  const { issuer, words, cwd } = await startServer();
  // Nothing is at --start, so it waits.
  const running = launch(words(), { cwd });
  onTestFinished(() => void running.kill("SIGKILL"));
  const ended = new Promise((resolve) => running.on("close", resolve));
  const status = async (): Promise<number> =>
    (await fetch(`${issuer}/i/check-client/.well-known/openid-configuration`)).status;
  await vi.waitFor(async () => expect(await status()).toBe(200), { timeout: 30_000 });
  running.kill("SIGINT");
  expect(await ended).toBe(130);
  expect(await status()).toBe(404);
});

test("without --client it has an issuer of its own there, which the app must use", async () => {
  const { issuer, serve, words, ...folder } = await startServer();
  const check = (): Promise<Ended> =>
    idp(words("--case", "token.token-type-wrong", "--case", "keys-rotated", "--json"), folder);
  const shown = async (...args: readonly string[]): Promise<unknown> =>
    JSON.parse((await idp([...args, "--json"], folder)).stdout);
  await serve(issuer);
  const refused = await check();
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("the app does not use the issuer of this check");
  expect(refused.stderr).toContain(`${issuer}/i/check-client`);
  expect(refused.stderr).toContain("idp issuers add check-client");
  expect(await shown("issuers", "list")).toEqual([]);
  await idp(["issuers", "add", "check-client"], folder);
  // Without the counters of what is revoked, which only grow.
  const state = async (): Promise<unknown> =>
    Object.assign(Object(await shown("export", "--issuer", "check-client")) as object, { meta: null });
  const before = await state();
  await serve(`${issuer}/i/check-client`);
  const { code, stdout } = await check();
  expect(code).toBe(0);
  const { cases } = JSON.parse(stdout) as { readonly cases: readonly Readonly<Record<string, unknown>>[] };
  expect(cases.map(({ verdict }) => verdict)).toEqual(["works", "noticed", "works", "works"]);
  // It is as it was.
  expect(await state()).toEqual(before);
  expect(await shown("snapshots", "list", "--issuer", "check-client")).toEqual([]);
  await idp(["issuers", "remove", "check-client"], folder);
  // The app has the addresses already, and reads the keys again.
  expect((await check()).code).toBe(0);
  expect(await shown("issuers", "list")).toEqual([]);
  // Nobody else's keys were rotated.
  expect((await idp(["keys", "list", "--json"], folder)).stdout).not.toContain("retired");
});
