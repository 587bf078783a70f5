import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { printFailure, say } from "../../src/cli/output/print.ts";
import { styleOf } from "../../src/cli/output/style.ts";
import { idp, newFolder, startIdp } from "../helpers/cli.ts";
import { idpIn, startHere } from "../helpers/command.ts";
import { newProject, shell } from "../helpers/shell.ts";

/** What a refusal proposes is true, and works where it is followed. */

const fixtures = {
  users: [{ username: "alice" }],
  clients: [
    { client_id: "app", client_secret: "app-secret", redirect_uris: ["http://localhost:3000/callback"] },
    { client_id: "it's", client_secret: "its-secret", grant_types: ["client_credentials"] },
  ],
};

/** A folder with data, on which no server runs. */
async function newData(): Promise<string> {
  const cwd = newFolder();
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify(fixtures));
  expect(await idpIn(cwd, ["seed", join(cwd, "idp.fixtures.json")])).toMatchObject({ code: 0 });
  return cwd;
}

const hintOf = ({ stderr }: { readonly stderr: string }): string => JSON.parse(stderr).error.hint as string;

const orders = "http://localhost:8080/orders";

test.each([
  ["check api ORDERS -- node api.mjs", "idp check api --url ORDERS -- node api.mjs"],
  ["check api ORDERS node api.mjs", "idp check api --url ORDERS -- node api.mjs"],
  ["check api --mcp ORDERS", "idp check api --mcp --url ORDERS"],
  ["check scim ORDERS --token-env TOKEN -- npm start", "idp check scim --token-env TOKEN --url ORDERS -- npm start"],
  ["check api --url ORDERS npm start", "idp check api --url ORDERS -- npm start"],
])("idp %s: the hint names the address by its flag", async (words, command) => {
  const { code, stderr } = await idpIn(newFolder(), words.replace("ORDERS", orders).split(" "));
  expect(code).toBe(2);
  expect(stderr).toContain(`: ${command.replace("ORDERS", orders)}\n`);
});

describe("the issuer of tokens", () => {
  const other = "https://other.example.test";

  test("beside a running server --as-issuer is refused where it is not that server's", async () => {
    const cwd = newFolder();
    const { issuer } = await startHere([], { cwd });
    const whom = ["--user", "alice", "--client", "demo-app"];
    for (const command of [
      ["token", "issue", ...whom],
      ["issue", "tokens", ...whom],
    ]) {
      expect(await idpIn(cwd, [...command, "--as-issuer", issuer])).toMatchObject({ code: 0 });
      const refused = await idpIn(cwd, [...command, "--as-issuer", other, "--json"]);
      expect(refused).toMatchObject({ code: 2, stdout: "" });
      expect(JSON.parse(refused.stderr).error.message).toContain(`this one issues as ${issuer}`);
      expect(hintOf(refused)).toContain("idp token issue --wrong-issuer");
      // Of the environment it is for servers.
      expect(await idp(command, { cwd, env: { IDP_ISSUER: other } })).toMatchObject({ code: 0 });
    }
  });

  test("the claim iss has a flag that works everywhere", async () => {
    const cwd = await newData();
    const whom = ["--user", "alice", "--client", "app"];
    const refused = await idpIn(cwd, ["token", "issue", ...whom, "--claim", `iss=${other}`, "--json"]);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain("There is a flag for it: --wrong-issuer");
    expect(await idpIn(cwd, ["token", "issue", ...whom, "--wrong-issuer"])).toMatchObject({ code: 0 });
  });
});

describe("on a running server", () => {
  const cwd = newFolder(afterAll);
  beforeAll(async () => {
    const ends: (() => Promise<void> | void)[] = [];
    await startIdp([], { cwd }, (end) => void ends.push(end));
    await idpIn(cwd, ["snapshots", "save", "before"]);
    writeFileSync(join(cwd, "exported.json"), JSON.stringify({ users: [{ username: "gina" }] }));
    return async () => {
      for (const end of ends) await end();
    };
  });
  const uri = "http://localhost:9/cb";

  test.each([
    ["snapshots restore befor", 'no snapshot "befor"', "Did you mean before? All snapshots: idp snapshots list"],
    ["snapshots remove nothere", 'no snapshot "nothere"', "All snapshots: idp snapshots list"],
    ["requests show f1", 'no request "f1"', "To list the requests of a sign-in: idp requests --flow f1"],
    [
      `issue code --client demo-app --user alice --redirect-uri ${uri}`,
      'is not registered for client "demo-app"; registered: http://localhost:3000/callback',
      `idp clients edit demo-app --add-redirect-uri ${uri}`,
    ],
    ["issue tokens --client demo-app --user alice --scope opnid", "did you mean openid?", "Define it under"],
    ["import exported.json --yes", "is not an export", "idp seed exported.json"],
    ["expire", "expire needs --user, --client or --all", "See: idp expire --help"],
    ["expect token --times 1 --never", "--times is given beside --never; give only one of them", "See"],
    ["clock advance 5mins", '31m, 2h30m, 7d or -5m, not "5mins"', "See"],
    ["expect token --within 2x", 'a duration such as 5s, at most 100 s, not "2x"', "See"],
    ["snapshots save my.snap", 'such as before-logout, not "my.snap"', "See"],
    ["issuers add a.b", 'such as tenant-a, not "a.b"', "See"],
    ["faults remove x99", 'no fault "x99"', "idp faults list"],
    [
      "faults add token --client demo-ap --drop",
      'names no client that exists: "demo-ap". Did you mean demo-app?',
      "See",
    ],
  ])("idp %s", async (words, message, hint) => {
    const ended = await idpIn(cwd, [...words.split(" "), "--json"]);
    expect(ended.stdout).toBe("");
    const { error } = JSON.parse(ended.stderr) as { error: { message: string } };
    expect(error.message).toContain(message);
    expect(hintOf(ended)).toContain(hint);
    const command = /idp (?:snapshots|requests|clients edit|seed|faults).*$/.exec(hint)?.[0].split(" ").slice(1);
    if (command !== undefined) expect(await idpIn(cwd, command)).toMatchObject({ code: 0 });
  });

  test("sessions that end are counted by user", async () => {
    const login = ["login", "--user", "alice", "--approve", "--no-browser"];
    for (const user of ["alice", "alice", "bob"]) await idpIn(cwd, login.with(2, user));
    for (const [user, ended] of [
      ["alice", "Ended 2 sessions: alice (2)\n"],
      ["bob", "Ended 1 session: bob\n"],
    ] as const)
      expect((await idpIn(cwd, ["sessions", "end", "--user", user])).stdout).toContain(ended);
  });
});

test("with two usual fixture files, the hint names one in the form that seed takes", async () => {
  const cwd = newFolder();
  for (const name of ["idp.fixtures.json", "idp.fixtures.yaml"]) writeFileSync(join(cwd, name), "{}\n");
  const refused = await idpIn(cwd, ["seed", "--json"]);
  expect(refused).toMatchObject({ code: 7 });
  expect(hintOf(refused)).toBe("Remove one, or name the file to use: idp seed --fixtures idp.fixtures.json");
  expect(hintOf(await idpIn(cwd, ["start", "--json"]))).toContain("--fixtures idp.fixtures.json");
});

test("a client without users: the hint names idp token issue", async () => {
  const cwd = await newData();
  const refused = await idpIn(cwd, ["issue", "tokens", "--user", "alice", "--client", "it's", "--json"]);
  expect(refused).toMatchObject({ code: 6 });
  expect(hintOf(refused)).toBe(String.raw`For itself: idp token issue --client 'it'\''s'`);
  expect(await idpIn(cwd, ["token", "issue", "--client", "it's"])).toMatchObject({ code: 0 });
});

test.each(["\n", " \n\t"])("an empty export (%j) is reported as empty", async (text) => {
  const refused = await idpIn(await newData(), ["import", "-", "--json"], text);
  expect(refused).toMatchObject({ code: 7 });
  expect(JSON.parse(refused.stderr).error).toMatchObject({
    message: "stdin is empty; nothing was imported",
    hint: "Make one: idp export --output state.json",
  });
});

test("an ID token cannot be revoked, and the error says why", async () => {
  const cwd = await newData();
  const made = await idpIn(cwd, ["token", "issue", "--type", "id", "--user", "alice", "--client", "app"]);
  expect(await idpIn(cwd, ["token", "revoke", "-"], made.stdout)).toMatchObject({
    code: 0,
    stdout: "Nothing to revoke: it is an ID token, which carries no rights and cannot be revoked.\n",
  });
});

test("init with an existing file: the proposed command works as pasted, with the flags that were typed", async () => {
  const project = newProject();
  const words = ["init", "--client", "my-shop's", "--user", "erin"];
  expect(await idp([...words, "--type", "service"], project)).toMatchObject({ code: 0 });
  for (const typed of [["init"], words, [...words, "--type", "confidential"]]) {
    const refused = await idp([...typed, "--json"], project);
    expect(refused).toMatchObject({ code: 4, stdout: "" });
    const commands = hintOf(refused).match(/idp init .*/g) ?? [];
    expect(commands).toHaveLength(1);
    for (const command of commands) expect(await shell(command, project)).toMatchObject({ code: 0 });
    const text = readFileSync(join(project.cwd, "idp.fixtures.yaml"), "utf8");
    expect(text.includes("my-shop's")).toBe(typed.includes("erin"));
  }
});

test("a command in a remark stays in one piece on a terminal: on the line where it fits, else on one of its own", () => {
  const written: string[] = [];
  const stderr = {
    isTTY: true,
    columns: 60,
    write: (text: string) => written.push(text),
  } as unknown as NodeJS.WriteStream;
  const err = styleOf(stderr, "never", {});
  const shell = { target: [], env: {} };
  const seeAgain = (...words: string[]) => ({
    text: "To see it again",
    command: ["idp", "clients", "show", ...words],
  });
  say({ ...shell, quiet: false, stderr, err }, seeAgain("shop"));
  say({ ...shell, quiet: false, stderr, err }, seeAgain("a-rather-long-name", "--show-secrets"));
  const hint = {
    text: "Use that one, or another port for this one",
    command: ["idp", "start", "--data", ".idp-9", "--port", "auto"],
  };
  printFailure(
    { ...shell, json: false, stderr, err },
    { code: "conflict", exit: 4, message: "taken", hint, problems: [] },
    null,
  );
  expect(written.join("")).toBe(
    [
      "To see it again: idp clients show shop",
      "To see it again:",
      "idp clients show a-rather-long-name --show-secrets",
      "Error: taken",
      "  Use that one, or another port for this one:",
      "  idp start --data .idp-9 --port auto",
      "",
    ].join("\n"),
  );
});

test("making a client public reports that its secret is gone", async () => {
  const cwd = await newData();
  const { stderr } = await idpIn(cwd, ["clients", "edit", "app", "--public"]);
  expect(stderr).toContain("Its client_secret is gone: a public client has none.\n");
  expect((await idpIn(cwd, ["clients", "edit", "app", "--public"])).stderr).not.toContain("is gone");
});
