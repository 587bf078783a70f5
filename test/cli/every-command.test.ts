import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createIdp, type Idp } from "../../src/index.ts";
import { environment, newFolder, type Ended } from "../helpers/cli.ts";
import { idpHere, idpIn, leaves } from "../helpers/command.ts";

/**
 * What holds for every command: it ends off a terminal, with an exit code of the table; `--json` is one document; and the
 * answer is the same whether a server runs on the data or not. A new command has its line in the table, or a test fails.
 */

interface Call {
  /** What follows the command, and makes it do its work; TOKEN stands for an access token, FILE for a fixture file. */
  readonly words: string;
  /** How it ends with a server, and without one if that differs. */
  readonly code: number;
  readonly stopped?: number;
  /** It uses the working folder. */
  readonly inFolder?: true;
  /** Its answer is about the server itself: another one where none runs. */
  readonly aboutServer?: true;
  /** Without words it does not end, or not soon. */
  readonly endless?: true;
  /** stdout is that of the command it runs. */
  readonly foreign?: true;
}

/** In this order: later calls find what earlier ones left. */
const calls: Readonly<Record<string, Call>> = {
  seed: { words: "FILE", code: 0 },
  status: { words: "", code: 0, stopped: 5, aboutServer: true },
  wait: { words: "--timeout 0", code: 0, stopped: 5, aboutServer: true, endless: true },
  open: { words: "device", code: 0, stopped: 5, aboutServer: true },
  doctor: { words: "", code: 0, aboutServer: true },
  completion: { words: "bash", code: 0 },
  version: { words: "", code: 0 },
  scopes: { words: "", code: 0 },
  start: { words: "--memory --fixtures missing.json", code: 7, endless: true },
  env: { words: "--client app", code: 0 },
  exec: { words: "-- true", code: 0, inFolder: true, foreign: true },
  "users list": { words: "", code: 0 },
  "users add": { words: "erin --email erin@example.com", code: 0 },
  "users show": { words: "erin", code: 0 },
  "users edit": { words: 'erin --set factors=["otp"]', code: 0 },
  "users otp": { words: "erin", code: 0, aboutServer: true },
  "users suspend": { words: "erin", code: 0 },
  "users ban": { words: "erin", code: 0 },
  "users restore": { words: "erin", code: 0 },
  "users leave": { words: "erin", code: 0 },
  "users remove": { words: "erin", code: 0 },
  "clients list": { words: "--show-secrets", code: 0 },
  "clients add": { words: "shop --redirect-uri http://localhost:3000/cb", code: 0 },
  "clients show": { words: "shop", code: 0 },
  "clients edit": { words: "shop --name Shop", code: 0 },
  "clients rotate-secret": { words: "shop", code: 0 },
  "clients remove": { words: "shop", code: 0 },
  "scim push": { words: "", code: 0 },
  "scim status": { words: "", code: 0 },
  "scim test": { words: "", code: 0 },
  "issue grant": { words: "--user alice --client app --scope openid", code: 0 },
  "issue tokens": { words: "--user alice --client app --scope openid", code: 0 },
  "issue code": { words: "--user alice --client app", code: 0, stopped: 5, aboutServer: true },
  "grants list": { words: "", code: 0 },
  "grants show": { words: "g_none", code: 3 },
  "grants revoke": { words: "g_none", code: 3 },
  "token issue": { words: "--user alice --client app", code: 0 },
  "token decode": { words: "TOKEN", code: 0 },
  "token verify": { words: "TOKEN", code: 0 },
  "token introspect": { words: "TOKEN", code: 0 },
  "token revoke": { words: "TOKEN", code: 0 },
  revoke: { words: "--user alice --client app", code: 0 },
  "sessions list": { words: "", code: 0 },
  "sessions end": { words: "--user alice", code: 0 },
  "issue saml": { words: "--user alice --client urn:sp", code: 3 },
  "keys list": { words: "", code: 0 },
  "keys rotate": { words: "--alg ES256", code: 0 },
  "keys remove": { words: "nokey", code: 3 },
  "faults add": { words: "token --status 503 --delay 1s", code: 0, stopped: 5, aboutServer: true },
  "faults list": { words: "", code: 0, stopped: 5, aboutServer: true },
  "faults remove": { words: "x1", code: 0, stopped: 5, aboutServer: true },
  "faults clear": { words: "", code: 0, stopped: 5, aboutServer: true },
  "faults flaws": { words: "", code: 0 },
  "requests list": { words: "", code: 0, stopped: 5, aboutServer: true },
  "requests follow": { words: "--endpoint nowhere", code: 2, endless: true },
  "requests show": { words: "r0", code: 3, stopped: 5, aboutServer: true },
  "requests clear": { words: "", code: 0, stopped: 5, aboutServer: true },
  expect: { words: "token --never", code: 0, stopped: 5, aboutServer: true },
  acts: { words: "", code: 0, stopped: 5, aboutServer: true },
  diff: { words: "FILE", code: 0 },
  export: { words: "--as fixtures", code: 0 },
  import: { words: "missing.json", code: 7 },
  init: { words: "--stdout --type public --client shop --user erin", code: 0, inFolder: true },
  reset: { words: "--fixtures FILE", code: 0 },
  "snapshots save": { words: "first", code: 0 },
  "snapshots list": { words: "", code: 0 },
  "snapshots restore": { words: "first", code: 0 },
  "snapshots remove": { words: "first", code: 0 },
  expire: { words: "--user alice --access --refresh --sessions", code: 0 },
  "clock show": { words: "", code: 0, stopped: 5, aboutServer: true },
  "clock advance": { words: "31m", code: 0, stopped: 5, aboutServer: true },
  "clock set": { words: "2027-01-01T00:00:00Z", code: 0, stopped: 5, aboutServer: true },
  "clock freeze": { words: "", code: 0, stopped: 5, aboutServer: true },
  "clock reset": { words: "", code: 0, stopped: 5, aboutServer: true },
  // On an empty standard input: stdout is that of the protocol.
  "mcp-server": { words: "", code: 0, aboutServer: true, inFolder: true, foreign: true },
  // It leaves a session and a grant where a server runs; and `stop` ends that server.
  login: { words: "--user alice --approve", code: 0, stopped: 5, aboutServer: true, endless: true },
  "issuers add": { words: "tenant-a --fixtures FILE", code: 0 },
  "issuers list": { words: "", code: 0 },
  "issuers show": { words: "tenant-a", code: 0 },
  "issuers remove": { words: "tenant-a", code: 0 },
  "check client": {
    words: "--start http://localhost:1/login --signed-in http://localhost:1/me --timeout 1",
    code: 5,
    aboutServer: true,
  },
  "sign-in": { words: "--start http://localhost:1/login", code: 5, aboutServer: true },
  "check api": { words: "--url http://localhost:1/orders --timeout 1", code: 5, aboutServer: true },
  "check sp": {
    words: "--start http://localhost:1/login --signed-in http://localhost:1/me --timeout 1",
    code: 3,
    stopped: 5,
    aboutServer: true,
  },
  "check scim": { words: "", code: 3, stopped: 5, aboutServer: true },
  "check leaver": {
    words: "--start http://localhost:1/login --signed-in http://localhost:1/me --timeout 1",
    code: 5,
    aboutServer: true,
  },
  "issuer set": { words: "http://127.0.0.1:4370", code: 0, stopped: 5, aboutServer: true },
  stop: { words: "", code: 0, stopped: 5, aboutServer: true },
};

const fixtures = {
  users: [{ username: "alice", password: "alice" }, { username: "bob" }],
  clients: [
    { client_id: "app", client_secret: "app-secret", redirect_uris: ["https://app.test/cb"] },
    { client_id: "idp-cli", redirect_uris: ["http://127.0.0.1:*/callback"] },
  ],
};

/** Every exit code but 130, because nobody presses Ctrl+C. */
const exitCodes = [0, 2, 3, 4, 5, 6, 7];

test("every command is in the table, and nothing else is", async () => {
  expect(Object.keys(calls).sort()).toEqual([...(await leaves())].sort());
});

function isDocument(text: string): boolean {
  expect(text.endsWith("\n")).toBe(true);
  expect(text.trim()).not.toBe("");
  JSON.parse(text);
  return true;
}

/** What differs from call to call: times, ids, tokens, ports, folders. */
function masked(value: unknown, folder: string): unknown {
  if (typeof value === "number") return value > 1_000_000_000 ? "a time" : value;
  if (typeof value === "string") {
    if (/^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) return "a time";
    if (/^ey[\w-]+\.[\w-]+\.[\w-]*$/.test(value)) return "a token";
    if (/^(?=.*[A-Z0-9])[\w-]{11,}$/.test(value)) return "random";
    return value
      .replaceAll(folder, "FOLDER")
      .replace(/localhost:\d+/g, "localhost:PORT")
      .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g, "a time")
      .replace(/\d+ (s|min) ago|now/g, "just now")
      .replace(/in \d+ min/g, "in a while")
      .replace(/key [\w-]{11}/g, "key KID");
  }
  if (Array.isArray(value)) return value.map((each: unknown) => masked(each, folder));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, key === "expiresIn" ? "seconds" : masked(each, folder)]),
  );
}

const noStackTrace = /^\s+at .+:\d+:\d+\)?$/m;
const answers = { running: new Map<string, unknown>(), stopped: new Map<string, unknown>() };

describe.each(["running", "stopped"] as const)("with the server %s", (mode) => {
  const cwd = newFolder(afterAll);
  const data = join(cwd, ".idp");
  const bare = join(cwd, "bare");
  const file = join(cwd, "team.json");
  let server: Idp;
  let token: string;

  /** Runs a command on the data of this mode. */
  const call = (path: string, words: string, more: readonly string[]): Promise<Ended> => {
    const given = words.replace("TOKEN", token).replace("FILE", file).split(" ").filter(Boolean);
    const all = ["--data", data, ...more, ...path.split(" "), ...given];
    if (calls[path]?.inFolder !== true) return idpHere(all, "", { IDP_PORT: "0" });
    return idpIn(cwd, all, "", environment({ CI: "1" }));
  };

  beforeAll(async () => {
    writeFileSync(file, JSON.stringify(fixtures));
    server = await createIdp({ data, port: 0, fixtures });
    ({ access_token: token } = await server.issueTokens({ user: "bob", client: "app" }));
    const beside = await createIdp({ data: bare, port: 0, fixtures });
    const close = async (): Promise<void> => {
      await server.close();
      await beside.close();
    };
    if (mode === "stopped") await close();
    return close;
  });

  // On separate data: a command may change all of it.
  test.each(Object.keys(calls).filter((path) => calls[path]?.endless !== true))(
    "idp %s without a word more ends, without a question and without a stack trace",
    async (path) => {
      const { code, stderr } = await call(path, "", ["--data", bare]);
      expect(path === "exec" ? [125] : exitCodes, stderr).toContain(code);
      expect(stderr).not.toMatch(noStackTrace);
      if (code !== 0) expect(stderr).toMatch(/^Error: \S/m);
    },
  );

  test.each(Object.entries(calls))("idp %s --json: one document, and the exit code of the table", async (path, one) => {
    const { code, stdout, stderr } = await call(path, one.words, ["--json"]);
    expect(code, stderr).toBe(mode === "stopped" ? (one.stopped ?? one.code) : one.code);
    expect(stderr).not.toMatch(noStackTrace);
    if (one.foreign === true) return;
    expect(code === 0 ? isDocument(stdout) : stdout === "" || isDocument(stdout)).toBe(true);
    if (code !== 0) {
      isDocument(stderr);
      expect(JSON.parse(stderr)).toEqual({
        error: expect.objectContaining({ code: expect.stringMatching(/^[a-z_]+$/), message: expect.any(String) }),
      });
    }
    answers[mode].set(path, masked([code, JSON.parse(stdout || stderr)], cwd));
  });
});

describe("with the server running and stopped", () => {
  const same = Object.entries(calls).filter(([, { aboutServer, foreign }]) => aboutServer !== true && foreign !== true);
  test.each(same)("idp %s gives the same answer", (path) => {
    expect(answers.stopped.get(path)).toBeDefined();
    expect(answers.stopped.get(path)).toEqual(answers.running.get(path));
  });
});
