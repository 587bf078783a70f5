import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { idp, newFolder } from "../helpers/cli.ts";
import { idpHere, idpIn } from "../helpers/command.ts";

/** What a person meets who types something wrong. */

test("--version, and the command version", async () => {
  const { code, stdout } = await idp(["--version"], { cwd: newFolder() });
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  expect(await idpHere(["version"])).toMatchObject({ code, stdout });
  expect(JSON.parse((await idpHere(["version", "--json"])).stdout)).toEqual({ version: stdout.trim() });
});

test.each([
  ["usrs", "unknown command 'usrs'", "Did you mean users? See: idp --help"],
  ["wait --timeout 99999999999", /at least 0 and at most 9999999999/, "See: idp wait --help"],
  ["users lst", "unknown command 'lst'", "Did you mean list? See: idp users --help"],
  ["users list --jsno", "unknown option '--jsno'", "Did you mean --json? See: idp users list --help"],
  ["users list extra", "too many arguments for 'list'. Expected 0 arguments but got 1.", "See: idp users list --help"],
  ["users create erin", "unknown command 'create'", "Did you mean idp users add? See: idp users --help"],
  ["users unban bob", "unknown command 'unban'", "Did you mean idp users restore? See: idp users --help"],
  ["token create", "unknown command 'create'", "Did you mean idp token issue? See: idp token --help"],
  ["keys new", "unknown command 'new'", "Did you mean idp keys rotate? See: idp keys --help"],
  ["grants delete g_1", "unknown command 'delete'", "Did you mean idp grants revoke? See: idp grants --help"],
  ["sessions kill", "unknown command 'kill'", "idp sessions has list, end. See: idp sessions --help"],
  ["client list", "unknown command 'client'", "Did you mean clients? See: idp --help"],
  ["unban bob", "unknown command 'unban'", "Did you mean idp users restore? See: idp --help"],
  [
    "faults add tokn",
    /^endpoint must be one of authorize, token, .*, any, not 'tokn'$/,
    "Did you mean token? See: idp faults add --help",
  ],
  ["faults add token --method PSOT", /--method/, "Did you mean POST? See: idp faults add --help"],
  ["faults add token --flaw nonce-wrng", /lists. Did you mean nonce-wrong\?$/, "See: idp faults add --help"],
  ["faults add token --flaw banana", /lists.$/, "See: idp faults add --help"],
  ["init --from keyclock realm.json", /--from/, "Did you mean keycloak? See: idp init --help"],
  ["keys rotate --alg RS265", /--alg/, "Did you mean RS256? See: idp keys rotate --help"],
  ["start --login pikcer", /auto:<username>. Did you mean picker\?$/, "See: idp start --help"],
  ["start --factors paskey", /pwd,otp. Did you mean passkey\?$/, "See: idp start --help"],
  ["--color alwys users list", /--color/, "Did you mean always? See: idp users list --help"],
  ["token", "idp token needs one of its commands", "See: idp token --help"],
  ["clock 31m", "unknown command '31m'", "idp clock has show, advance, set, freeze, reset. See: idp clock --help"],
  ["clock rest", "unknown command 'rest'", "Did you mean reset? See: idp clock --help"],
  ["clock delete", "unknown command 'delete'", /^idp clock has show/],
  ["requests lst --json", "unknown command 'lst'", "Did you mean list? See: idp requests --help"],
  ["requests rm r1", "unknown command 'rm'", "Did you mean idp requests clear? See: idp requests --help"],
  ["start --port 99999", /It must be a number from 0 to 65535, or auto/, "See: idp start --help"],
  [
    "faults add token --skip 10000000 --drop",
    /argument '10000000' is invalid. It must be at most 9999999/,
    "See: idp faults add --help",
  ],
  ["start --code-ttl 1.5", /It must be a whole number of seconds, at least 1/, "See: idp start --help"],
  ["wait --timeout 1w", /or one with a unit: 30s, 5m, 2h, 7d/, "See: idp wait --help"],
  ["login --timeout 2d", /at least 1 and at most 86400/, "See: idp login --help"],
  ["wait --timeout soon", /It must be a whole number of seconds, at least 0/, "See: idp wait --help"],
  ["start --login sesame", /It must be one of picker, password, auto:/, "See: idp start --help"],
  ["start --consent maybe", /Allowed choices are ask, skip/, "See: idp start --help"],
  ["--color pink users list", /Allowed choices are auto, always, never/, "See: idp users list --help"],
  [
    "start --allow-host http://a.test",
    /"http:\/\/a.test" can never match/,
    /^Use a name without scheme, port and path/,
  ],
  [
    "start --trusted-proxy 0.0.0.0/0",
    /"0.0.0.0\/0" would believe every sender/,
    /start --trusted-proxy 10\.0\.0\.0\/8$/,
  ],
  ["start --allow-host a.test,b.test", /"a.test,b.test" can never match/, /Repeat the flag for more names$/],
  ["users show", "the user is missing, and there is no terminal to ask for it", "Give it: idp users show USERNAME"],
  ["users suspend", /the user is missing/, "Give it: idp users suspend USERNAME"],
  ["clients show", /the client is missing/, "Give it: idp clients show CLIENT_ID"],
  ["grants show", /the grant is missing/, "Give it: idp grants show GRANT_ID"],
  ["users add", /the username is missing/, "Give it: idp users add erin"],
  ["users edit", "there is nothing to change", /^For example: /],
  ["users edit bob", "there is nothing to change", "For example: idp users edit bob --display-name 'Another name'"],
  ["users edit --status active", /the user is missing/, /^Give it: idp users edit USERNAME /],
  ["users remove", /the user is missing/, "Give it: idp users remove USERNAME"],
  ["users edit bob --note x", "unknown option '--note'", "Set the field: idp users edit bob --set note=x"],
  ["users edit bob --note", "unknown option '--note'", "Set the field: idp users edit bob --set note=VALUE"],
  ["clients edit app --tos-uri=/a=b", /--tos-uri/, "Set the field: idp clients edit app --set tos_uri=/a=b"],
  ["users edit bob --frobnicate x", "unknown option '--frobnicate'", "See: idp users edit --help"],
  ["users add x --status gone", /Allowed choices are active, suspended, banned/, "See: idp users add --help"],
  ["users add x --set language", /It must be field=value/, "See: idp users add --help"],
  ["users add x --set password=x", /standard input: --password-stdin/, "See: idp users add --help"],
  ["users add x --set username=y", /--set username is not needed/, undefined],
  ["users add x --password-stdin", "there is no password on standard input", /printf %s "\$PASSWORD" \|$/],
  ["clients add", /the client_id is missing/, /^Give it: idp clients add shop /],
  ["clients add x --set client_secret=x", /standard input: --secret-stdin/, "See: idp clients add --help"],
  ["clients add x --public --secret-stdin", /not both/, undefined],
  [
    "clients add x --public",
    /the redirect URI is missing/,
    "Give it: idp clients add x --public --redirect-uri http://localhost:3000/callback",
  ],
  ["clients edit x", "there is nothing to change", "For example: idp clients edit x --name 'Another name'"],
  ["clients remove", /the client is missing/, "Give it: idp clients remove CLIENT_ID"],
  ["clients rotate-secret", /the client is missing/, "Give it: idp clients rotate-secret CLIENT_ID"],
  ["grants revoke", /the grant is missing/, "Give it: idp grants revoke GRANT_ID"],
  ["sessions end", /the session is missing/, "Give it: idp sessions end --user USERNAME"],
  ["start --memry", "unknown option '--memry'", "Did you mean --memory? See: idp start --help"],
  ["revoke", /the grant is missing/, "Give it: idp revoke --user USERNAME --client CLIENT_ID"],
  ["revoke g_1 --user alice", /not both/, "For one grant: idp revoke g_1"],
  ["revoke a.b.c", /that looks like a token/, "To revoke one token: idp token revoke -"],
  ["token issue --user alice", /the client is missing/, "Give it: --client CLIENT_ID"],
  ["token issue --claim tenant", /It must be name=value, as in tenant=acme/, "See: idp token issue --help"],
  ["token issue --expires-in soon", /It must be a whole number of seconds, at least 1/, "See: idp token issue --help"],
  ["issue tokens --client app", /the user is missing/, "Give it: --user USERNAME"],
  ["issue tokens --user alice", /the client is missing/, "Give it: --client CLIENT_ID"],
  ["token decode", "there is no token", /standard input/],
  ["token decode package.json", /is the name of a file/, "To read the file: idp token decode - < package.json"],
  ["token verify token.txt", /is the name of a file/, "To read the file: idp token verify - < token.txt"],
  ["token introspect", "there is no token", /standard input/],
  ["status --url localhost:4370", /--url takes an address/, undefined],
  ["wait --url localhost:4520", /--url takes an address .* this is "localhost:4520"/, undefined],
  ["wait --url notaurl", /--url takes an address/, undefined],
  ["open --url ftp://x", /--url takes an address/, undefined],
  ["login --url http://[", /--url takes an address/, undefined],
])("idp %s: exit 2", async (words, message, hint) => {
  const { code, stdout, stderr } = await idpIn(newFolder(), [...words.split(" "), "--json"]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  const { error } = JSON.parse(stderr);
  expect(error).toMatchObject({
    code: "usage",
    message: typeof message === "string" ? message : expect.stringMatching(message),
    ...(hint !== undefined && { hint: typeof hint === "string" ? hint : expect.stringMatching(hint) }),
  });
});

test("an error for a person is one line, and the next step below it", async () => {
  const { code, stdout, stderr } = await idpIn(newFolder(), ["users", "show", "--quiet"]);
  expect({ code, stdout, stderr }).toEqual({
    code: 2,
    stdout: "",
    stderr: "Error: the user is missing, and there is no terminal to ask for it\n  Give it: idp users show USERNAME\n",
  });
});

// What else runs on this machine's usual port is no matter here.
const env = { IDP_PORT: "auto" };

test("without data there is nothing to read: exit 3 and the next step", async () => {
  const cwd = newFolder();
  for (const words of ["users list", "clients list", "grants list", "revoke --user alice", "token verify a.b.c"]) {
    const { code, stdout, stderr } = await idpIn(cwd, words.split(" "), "", env);
    expect({ code, stdout, stderr }).toEqual({
      code: 3,
      stdout: "",
      stderr: "Error: there is no data in .idp yet\n  For other data, add --data DIR. To start a server: idp start\n",
    });
  }
});

test("the command that a hint names is for the data that was named", async () => {
  const data = join(newFolder(), "my data");
  for (const words of ["users list", "status", "open", "wait --timeout 0", "login"]) {
    const { stderr } = await idpHere([...words.split(" "), "--data", data, "--json"], "", env);
    expect(JSON.parse(stderr).error.hint).toContain(`start a server: idp start --data '${data}'`);
  }
});

test("without a server: status and stop exit 5", async () => {
  const cwd = newFolder();
  expect(await idpIn(cwd, ["status"])).toMatchObject({ code: 5, stdout: "stopped   .idp   no data yet\n" });
  const stderr = "Error: no server runs on .idp: there is nothing to stop\n";
  expect(await idpIn(cwd, ["stop"], "", env)).toEqual({ code: 5, stdout: "", stderr });
  // With its admin token and without: only a command that needs the token misses it.
  for (const more of [{ IDP_ADMIN_TOKEN: "0123456789abcdef" }, {}]) {
    const nobody = await idpIn(cwd, ["users", "list", "--url", "http://localhost:1"], "", more);
    expect(nobody).toMatchObject({
      code: 5,
      stdout: "",
      stderr: expect.stringContaining("nothing answers at http://localhost:1"),
    });
  }
});

test("global flags stand before or after the command, and IDP_DATA and IDP_URL for theirs", async () => {
  const cwd = newFolder();
  const message = async (args: readonly string[], env: Record<string, string> = {}): Promise<unknown> =>
    JSON.parse((await idpIn(cwd, args, "", env)).stderr).error.message;
  expect(await message(["--json", "--data", "x", "users", "list"])).toBe("there is no data in x yet");
  expect(await message(["users", "list", "--data=x", "--json"])).toBe("there is no data in x yet");
  expect(await message(["users", "list", "--json"], { IDP_DATA: "y" })).toBe("there is no data in y yet");
  expect(await message(["users", "list", "--json", "--data", "x"], { IDP_DATA: "y" })).toBe(
    "there is no data in x yet",
  );
  // The process itself takes an empty variable for none.
  const { stderr } = await idp(["users", "list"], { cwd, env: { IDP_DATA: "" } });
  expect(stderr).toContain("there is no data in .idp yet");
  const url = { IDP_URL: "http://localhost:1", IDP_ADMIN_TOKEN: "0123456789abcdef" };
  expect(await message(["users", "list", "--json"], url)).toBe("nothing answers at http://localhost:1");
});

test.each([[["users", "list", "--data", ""]], [["--data=", "status"]]])(
  "--data with nothing in it: idp %j",
  async (words) => {
    const { code, stdout, stderr } = await idpHere(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("option '--data <dir>' argument '' is invalid. It must name a folder.");
  },
);

test("color is for terminals, unless it is asked for", async () => {
  const cwd = newFolder();
  const stderr = async (args: readonly string[], env: Record<string, string> = {}) =>
    (await idpIn(cwd, [...args, "users", "list"], "", env)).stderr.includes("\u001b[");
  expect(await stderr([])).toBe(false);
  expect(await stderr(["--color", "always"])).toBe(true);
  expect(await stderr(["--color", "always"], { NO_COLOR: "1" })).toBe(true);
  expect(await stderr([], { FORCE_COLOR: "1" })).toBe(false);
});

test("--verbose prints the cause, and nothing prints a stack trace", async () => {
  const cwd = newFolder();
  const env = { IDP_ADMIN_TOKEN: "0123456789abcdef", IDP_URL: "http://localhost:1" };
  const plain = await idpIn(cwd, ["users", "list"], "", env);
  const verbose = await idpIn(cwd, ["users", "list", "--verbose"], "", env);
  expect(plain.stderr).not.toContain("Cause:");
  expect(verbose.stderr).toMatch(/^ {2}Cause: \S+/m);
  for (const { stderr } of [plain, verbose]) expect(stderr).not.toMatch(/^\s+at /m);
});

describe("idp help", () => {
  test.each([
    ["help", "--help"],
    ["help seed", "seed --help"],
    ["help users", "users --help"],
    ["help users list", "users list --help"],
    ["--data x help users list --json", "users list --help --json"],
  ])("idp %s prints what idp %s does", async (words, same) => {
    expect(await idpHere(words.split(" "))).toEqual(await idpHere(same.split(" ")));
  });

  test.each([
    ["help usrs", "unknown command 'usrs'", "Did you mean users? See: idp --help"],
    ["--json help usrs", "unknown command 'usrs'", "Did you mean users? See: idp --help"],
    ["--data x --quiet help bogus", "unknown command 'bogus'", "See: idp --help"],
    ["help users lst", "unknown command 'lst'", "Did you mean list? See: idp users --help"],
    ["help seed more", "unknown command 'more'", "See: idp seed --help"],
  ])("idp %s, an unknown command: exit 2", async (words, message, hint) => {
    const { code, stdout, stderr } = await idpHere([...words.split(" "), "--json"]);
    expect({ code, stdout, error: JSON.parse(stderr).error }).toEqual({
      code: 2,
      stdout: "",
      error: { code: "usage", message, hint },
    });
  });
});

test("--data that is a file: exit 7, and a folder is asked for", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "file"), "");
  const { code, stderr } = await idpIn(cwd, ["users", "list", "--data", join(cwd, "file")]);
  expect({ code, stderr }).toEqual({
    code: 7,
    stderr: expect.stringContaining("file is not a folder\n  Name a folder"),
  });
});

test("an address from IDP_URL is named so, and no hint starts a server that it would not reach", async () => {
  const cwd = newFolder();
  const status = (IDP_URL: string) => idpIn(cwd, ["status", "--json"], "", { IDP_URL });
  expect(await status("zzz")).toMatchObject({ code: 2, stderr: expect.stringContaining("IDP_URL takes an address") });
  const gone = await status("http://localhost:1");
  expect(JSON.parse(gone.stderr)).toMatchObject({
    error: { hint: expect.stringContaining("Without --url and IDP_URL") },
  });
});

test("--issuer with what is neither a name nor an address proposes no --url", async () => {
  const said = async (issuer: string) => (await idpIn(newFolder(), ["users", "list", "--issuer", issuer])).stderr;
  const names =
    "Error: --issuer takes the name of an issuer here: letters, digits, _ and -\n  To list the names: idp issuers list\n";
  for (const issuer of ["a b", "localhost:4370", "a:b"]) expect(await said(issuer)).toBe(names);
  const exec = ["exec", "--issuer", "http://a.test", "--", "true"];
  expect((await idpIn(newFolder(), exec)).stderr).toBe(names);
  expect(await said("http://a.test")).toContain("For a server elsewhere: idp users list --url http://a.test\n");
});
