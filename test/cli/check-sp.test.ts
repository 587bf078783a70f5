import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { built } from "../helpers/built.ts";
import { CarefulSp, type SpConfig, type SpNeglect } from "../helpers/careful-sp.ts";
import { idp, launch, newFolder, startIdp, type Ended, type Place } from "../helpers/cli.ts";
import { documentOf, idpIn, startHere } from "../helpers/command.ts";
import { freePort } from "../helpers/port.ts";
import { serveApp } from "../helpers/serve-app.ts";

/**
 * `idp check sp`: the app as a process, the exit codes, and what is printed. What it shares with `idp check client` is in check-client.test.ts, what
 * each case finds in test/client/neglect-sp.test.ts.
 */

const child = await built(fileURLToPath(new URL("children/sp.ts", import.meta.url)));

interface SpFolder {
  readonly cwd: string;
  readonly url: string;
  readonly entityId: string;
  /** @param sp how it behaves, and what it neglects; empty: it runs already */
  readonly words: (flags: readonly string[], ...sp: readonly string[]) => readonly string[];
}

async function spFolder(): Promise<SpFolder> {
  const cwd = newFolder();
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const entityId = `${url}/metadata`;
  const clients = [{ client_id: entityId, saml: { acs: [`${url}/acs`], slo: `${url}/slo` } }];
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify({ users: [{ username: "alice" }], clients }));
  const at = ["check", "sp", "--start", `${url}/login`, "--signed-in", `${url}/me`];
  return {
    ...{ cwd, url, entityId },
    words: (flags, ...[mode, ...neglects]) => [
      ...at,
      ...flags,
      ...(mode === undefined ? [] : ["--", process.execPath, child, mode, port, ...neglects]),
    ],
  };
}

const verdicts = ({ stdout }: Ended): unknown =>
  (documentOf(stdout) as { readonly cases: readonly Readonly<Record<string, unknown>>[] }).cases.map(
    ({ name, verdict }) => [name, verdict],
  );

test("a service provider that refuses everything: exit 0, and one document", async () => {
  const { cwd, words } = await spFolder();
  const ended = await idp(words(["--case", "xsw-3", "--case", "replayed", "--json"], "careful"), { cwd });
  expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: "" });
  expect(verdicts(ended)).toEqual([
    ["control", "works"],
    ["control-attacker", "works"],
    ["xsw-3", "noticed"],
    ["replayed", "noticed"],
    ["control", "works"],
  ]);
});

test("one that does not: exit 6, what to change, the report, and what may be accepted", async () => {
  const { cwd, words } = await spFolder();
  const cases = ["--case", "recipient-wrong", "--case", "logout-other", "--report", "report.xml"];
  const { code, stdout, stderr } = await idp(words(cases, "careful", "recipient", "logout-name"), { cwd });
  expect(code).toBe(6);
  expect(stdout).toMatch(/^✗ unnoticed {5}recipient-wrong +signed in alice$/m);
  expect(stdout).toMatch(
    /^✗ unnoticed {5}logout-other +ended the session of the user: for check-sp-\w+, by POST, with/m,
  );
  expect(stdout).toContain("(SAML Profiles 4.1.4.3)");
  expect(stderr).toMatch(/^Error: the app fails 2 of 5 cases\n[^]*\n +sp:\n +accept:\n +recipient-wrong: why\n/m);
  const xml = readFileSync(join(cwd, "report.xml"), "utf8");
  expect(xml).toContain('<testsuite name="idp check sp" tests="5" failures="2"');
  expect(xml).toContain('<testcase classname="check-sp" name="recipient-wrong">');
  writeFileSync(join(cwd, "idp.check.yaml"), "sp:\n  accept:\n    recipient-wrong: one address only\n");
  const accepted = await idp(
    words([...cases, "--accept", "logout-other=no logout"], "careful", "recipient", "logout-name"),
    { cwd },
  );
  expect(accepted.code).toBe(0);
  expect(accepted.stdout).toContain("2 unnoticed (2 accepted)");
});

test("an app that never answers: exit 5; Ctrl+C: 130", async () => {
  const { cwd, words } = await spFolder();
  expect(await idp(words(["--timeout", "1"], "hangs"), { cwd })).toMatchObject({ code: 5 });
  const running = launch(words([], "careful"), { cwd });
  onTestFinished(() => void running.kill("SIGKILL"));
  const ended = new Promise((resolve) => running.on("close", resolve));
  await new Promise((resolve) => running.stdout.once("data", resolve));
  running.kill("SIGINT");
  expect(await ended).toBe(130);
});

/** A server and a service provider of it, both in this process. */
async function running(
  neglects: readonly SpNeglect[],
  issuerOf: (issuer: string) => string,
  start: (args: readonly string[], place: Place) => Promise<{ readonly issuer: string }> = startHere,
  other: Pick<SpConfig, "strangers"> = {},
) {
  const folder = await spFolder();
  const { issuer } = await start([], folder);
  let sp: CarefulSp | null = null;
  const { close } = await serveApp(Number(new URL(folder.url).port), () => sp);
  onTestFinished(close);
  const run = (words: readonly string[]): Promise<Ended> => idpIn(folder.cwd, words);
  const use = async (): Promise<void> => {
    const own = issuerOf(issuer);
    const metadata = await (await fetch(`${own}/saml/metadata`)).text();
    const [, base64 = ""] = /<ds:X509Certificate>([^<]+)</.exec(metadata) ?? [];
    const certificate = `-----BEGIN CERTIFICATE-----\n${base64}\n-----END CERTIFICATE-----\n`;
    sp = new CarefulSp({
      ...{ entityId: folder.entityId, acs: `${folder.url}/acs`, neglects, ...other },
      idp: { entityId: `${own}/saml/metadata`, sso: `${own}/saml/sso`, certificate },
    });
  };
  return { ...folder, issuer, run, use };
}

test("on a running server with --client: what would reach others is not reached, and nothing is left", async () => {
  const { words, run, use, entityId } = await running(["audience"], (issuer) => issuer);
  await use();
  const cases = ["sign-response", "audience-wrong", "xsw-3", "keys-rotated"].flatMap((name) => ["--case", name]);
  const ended = await run(words([...cases, "--client", entityId, "--json"]));
  expect(ended.code).toBe(6);
  expect(verdicts(ended)).toEqual([
    ["control", "works"],
    ["control-attacker", "works"],
    ["sign-response", "not-reached"],
    ["audience-wrong", "unnoticed"],
    ["xsw-3", "noticed"],
    ["keys-rotated", "not-reached"],
    ["control", "works"],
  ]);
  expect((await run(["faults", "list", "--json"])).stdout).toBe("[]\n");
  expect((await run(["users", "list", "--json"])).stdout).not.toContain("check-sp");
});

test("--signed-in-text tells users from strangers where the app answers 200 to everybody", async () => {
  const { words, run, use, entityId } = await running([], (issuer) => issuer, startHere, { strangers: "page" });
  await use();
  const only = ["--case", "unsigned", "--client", entityId, "--json"];
  expect((await run(words(only))).stdout).toContain("the same as a user: give another address, or --signed-in-text");
  expect(await run(words(["--signed-in-text", "nameId", ...only]))).toMatchObject({ code: 0 });
});

test("without --client it has an issuer of its own there, which is as it was afterwards", async () => {
  const { words, run, use } = await running([], (issuer) => `${issuer}/i/check-sp`);
  await run(["issuers", "add", "check-sp"]);
  await use();
  const shown = async (...args: readonly string[]): Promise<unknown> =>
    documentOf((await run([...args, "--issuer", "check-sp", "--json"])).stdout);
  const state = async (): Promise<unknown> => [
    await shown("users", "list"),
    await shown("clients", "list"),
    await shown("keys", "list"),
  ];
  const before = await state();
  const cases = ["sign-both", "request-acs", "keys-rotated"].flatMap((name) => ["--case", name]);
  const ended = await run(words([...cases, "--json"]));
  expect(verdicts(ended)).toEqual([
    ["control", "works"],
    ["control-attacker", "works"],
    ["sign-both", "works"],
    ["request-acs", "noticed"],
    ["keys-rotated", "not-required"],
    ["control", "works"],
  ]);
  expect(await state()).toEqual(before);
  expect(await shown("snapshots", "list")).toEqual([]);
});

test("a service provider that is only on the running server is named with --client", async () => {
  const cwd = newFolder();
  await startHere([], { cwd });
  const none = () =>
    idpIn(cwd, ["check", "sp", "--start", "http://localhost:1/login", "--signed-in", "http://localhost:1/me"]);
  const add = ["clients", "add", "urn:sp", "--saml-acs", "http://localhost:1/acs"];
  expect((await idpIn(cwd, add)).code).toBe(0);
  expect(await none()).toMatchObject({ code: 3, stderr: expect.stringContaining("--client CLIENT_ID") });
});

test("Ctrl+C leaves neither a fault nor the attacker on a running server", async () => {
  const { words, use, entityId, cwd } = await running([], (issuer) => issuer, startIdp);
  await use();
  const users = async (): Promise<string> => (await idp(["users", "list", "--json"], { cwd })).stdout;
  const checking = launch(words(["--client", entityId]), { cwd });
  onTestFinished(() => void checking.kill("SIGKILL"));
  const ended = new Promise((resolve) => checking.on("close", resolve));
  // The first control is done, and a fault is added soon.
  await new Promise((resolve) => checking.stdout.once("data", resolve));
  expect(await users()).toContain("check-sp-");
  expect(await users()).toMatch(/"alice@example\.com\.\w+\.example\.com"/);
  checking.kill("SIGINT");
  expect(await ended).toBe(130);
  expect(await users()).not.toContain("check-sp-");
  expect((await idp(["faults", "list", "--json"], { cwd })).stdout).toBe("[]\n");
});

test("wrong arguments: exit 2", async () => {
  const { cwd, words, url } = await spFolder();
  const refused = async (...flags: readonly string[]): Promise<string> => {
    const { code, stderr } = await idpIn(cwd, words(flags, "careful"));
    expect(code, stderr).toBe(2);
    return stderr;
  };
  expect(await refused("--case", "xsw-33")).toContain("xsw-3");
  expect(await refused("--who", "https://192.0.2.1/me")).toContain("--who is at 192.0.2.1");
  expect(await refused("--accept", "control-attacker")).toContain("a control must work");
  expect(await refused("--attacker", "alice")).toContain("is the user who signs in");
  const fixtures = join(cwd, "other.json");
  writeFileSync(
    fixtures,
    JSON.stringify({ users: [{ username: "alice" }], clients: [{ client_id: "app", redirect_uris: [url] }] }),
  );
  expect(await refused("--fixtures", fixtures, "--client", "app")).toContain("is not a service provider of SAML");
});
