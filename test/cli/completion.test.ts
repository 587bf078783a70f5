import { execFile } from "node:child_process";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bin, environment, newFolder } from "../helpers/cli.ts";
import { commandTree, idpHere, idpIn, leaves, startHere } from "../helpers/command.ts";

/** Completion: what is offered, and that three shells offer it. */

const fixtures = {
  users: [{ username: "alice" }, { username: "albert" }, { username: "bob" }],
  clients: [
    { client_id: "$(reboot)", redirect_uris: ["http://localhost:3000/cb"] },
    { client_id: "app", client_name: "Evil\u001b[2J", redirect_uris: ["http://localhost:3000/cb"] },
  ],
  scopes: { "orders:read": { description: { en: "See your orders" } } },
  grants: [{ user: "bob", client: "app", scope: "openid" }],
};

const cwd = newFolder(afterAll);
const data = join(cwd, ".idp");

beforeAll(async () => {
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify(fixtures));
  expect((await idpIn(cwd, ["seed"])).code).toBe(0);
  expect((await idpIn(cwd, ["snapshots", "save", "signed-in"])).code).toBe(0);
  writeFileSync(join(cwd, "staging.json"), JSON.stringify({ users: [{ username: "zoe" }] }));
  expect((await idpIn(cwd, ["issuers", "add", "staging", "--fixtures", "staging.json"])).code).toBe(0);
  mkdirSync(join(cwd, "bin"));
  symlinkSync(bin, join(cwd, "bin", "idp"));
});

/** The values that are offered for the last word. */
async function offered(...words: readonly string[]): Promise<readonly string[]> {
  const { code, stdout, stderr } = await idpHere(["__complete", ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  return stdout.split("\n").flatMap((line) => (line === "" ? [] : [line.split("\t")[0] ?? ""]));
}

test("every command is offered in its place, with its flags and the global ones", async () => {
  for (const [path, command] of await commandTree()) {
    const words = path.split(" ").filter(Boolean);
    const commands = command.commands.map((each) => each.name());
    if (commands.length > 0) expect(await offered(...words, "")).toEqual(expect.arrayContaining(commands));
    const flags = command.options.map(({ long }) => long);
    expect(await offered(...words, "--")).toEqual(expect.arrayContaining([...flags, "--json", "--data", "--help"]));
  }
});

test.each(await leaves())("idp %s: completing its argument ends quietly", async (path) => {
  await offered("--data", data, ...path.split(" "), "");
});

test.each([
  ["start", "--consent", ""],
  ["start", "--consent="],
])("choices of a flag: %s %s", async (...words) => {
  expect((await offered(...words)).map((value) => value.replace("--consent=", ""))).toEqual(["ask", "skip"]);
});

test.each([
  [
    ["users", "show", "al"],
    ["alice", "albert"],
  ],
  [["users", "show", "alice", ""], []],
  [["revoke", "--user", "b"], ["bob"]],
  [["revoke", "--user=b"], ["--user=bob"]],
  [["--json", "issue", "tokens", "--user", "bob", "--client", ""], ["app"]],
  [["clients", "show", ""], ["app"]],
  [["clients", "add", ""], []],
  [["revoke", ""], [expect.stringMatching(/^g_/)]],
  [["seed", "--check", ""], [":files"]],
  [["start", "--cert", ""], [":files"]],
  [["--color", "n"], ["never"]],
  [["help", "us"], ["users"]],
  [
    ["completion", ""],
    ["bash", "zsh", "fish", "powershell"],
  ],
  [["login", "--scope", "ord"], ["orders:read"]],
  [
    ["clients", "add", "shop", "--scope=p"],
    ["--scope=profile", "--scope=phone"],
  ],
  [
    ["faults", "add", "userinfo", "--flaw", "sub-"],
    ["sub-wrong", "sub-missing"],
  ],
  [["faults", "add", "jwks", "--flaw=issuer"], []],
  [
    ["faults", "add", "--flaw", "issuer"],
    ["issuer-mismatch", "issuer-wrong"],
  ],
  [["snapshots", "restore", ""], ["signed-in"]],
  [["snapshots", "remove", "s"], ["signed-in"]],
  [["issuers", "show", ""], ["staging"]],
  [["issuers", "add", ""], []],
  [["users", "list", "--issuer", "s"], ["staging"]],
  [["users", "show", "--issuer", "staging", ""], ["zoe"]],
  [["nonsense", "more", ""], []],
  [["users", "--nonsense=", ""], expect.arrayContaining(["list"])],
])("%j offers %j", async (words, values) => {
  expect(await offered("--data", data, ...words)).toEqual(values);
});

test("a name with shell characters is not offered, and no description acts on the terminal", async () => {
  expect(JSON.parse((await idpHere(["clients", "list", "--json", "--data", data])).stdout)).toHaveLength(2);
  const { stdout } = await idpHere(["__complete", "--data", data, "clients", "show", ""]);
  expect(stdout).toBe("app\tEvil [2J\n");
});

test("the script for PowerShell asks the same idp, and its parentheses and quotes are balanced", async () => {
  const script = (await idpHere(["completion", "powershell"])).stdout;
  expect(script).toContain("Register-ArgumentCompleter -Native -CommandName idp -ScriptBlock {\n");
  expect(script).toContain("& idp __complete @words $current 2>$null");
  // Without comments and texts in single quotes, which hold no quote of their own.
  const code = script.replaceAll(/^\s*#.*$/gm, "").replaceAll(/'[^']*'/g, "");
  expect(code).not.toContain("'");
  const open: string[] = [];
  for (const bracket of code.match(/[(){}[\]]/g) ?? []) {
    if ("({[".includes(bracket)) open.push(bracket);
    else expect(open.pop()).toBe({ ")": "(", "}": "{", "]": "[" }[bracket]);
  }
  expect(open).toEqual([]);
  // It splits a line at the tab, so that every candidate that has a description is in that form.
  const { stdout } = await idpHere(["__complete", "us"]);
  expect(stdout).toMatch(/^users\t[^\t\n]+\n$/);
  expect(script).toContain("-split '\\t', 2");
});

test("without data, and without a server at --url, nothing is offered and nothing is printed", async () => {
  expect(await offered("--data", join(cwd, "none"), "users", "show", "")).toEqual([]);
  expect(await offered("--url", "http://localhost:1", "users", "show", "")).toEqual([]);
});

test("names come from the running server", async () => {
  const folder = newFolder();
  await startHere([], { cwd: folder });
  await idpIn(folder, ["users", "add", "erin"]);
  await idpIn(folder, ["snapshots", "save", "before"]);
  expect(await offered("--data", join(folder, ".idp"), "users", "show", "e")).toEqual(["erin"]);
  expect(await offered("--data", join(folder, ".idp"), "snapshots", "restore", "")).toEqual(["before"]);
});

describe("in the shell itself", () => {
  const run = promisify(execFile);
  const shell = async (file: string, args: readonly string[], script: string): Promise<readonly string[]> => {
    const env = environment({ PATH: `${join(cwd, "bin")}:${process.env.PATH ?? ""}` });
    const { stdout, stderr } = await run(file, [...args, "-c", script], { cwd, env });
    expect(stderr).toBe("");
    return stdout.trimEnd().split("\n");
  };

  /** @param pieces the words of the line, taken apart as bash does it */
  const bash = (line: string, ...pieces: readonly string[]): Promise<readonly string[]> =>
    shell(
      "bash",
      ["--norc"],
      `source <(idp completion bash)
       COMP_LINE='${line}'; COMP_POINT=${line.length}
       COMP_WORDS=(${pieces.map((piece) => `'${piece}'`).join(" ")}); COMP_CWORD=${pieces.length - 1}; _idp idp
       printf '%s\\n' "\${COMPREPLY[@]}"; complete -p idp`,
    );

  test("bash", { tags: ["bash"] }, async () => {
    const registered = "complete -F _idp idp";
    expect(await bash("idp us", "idp", "us")).toEqual(["users", registered]);
    expect(await bash("idp users show al", "idp", "users", "show", "al")).toEqual(["alice", "albert", registered]);
    expect(await bash("idp  users show ", "idp", "users", "show", "")).toEqual(expect.arrayContaining(["alice"]));
    expect(await bash("idp start --cert ", "idp", "start", "--cert", "")).toEqual(["", registered]);
  });

  // Its words end at "=", ":" and "@", it keeps what stands before them (but for the "@"), and quotes stay on.
  test.each<[line: string, pieces: readonly string[], offered: readonly string[]]>([
    ["revoke --user=bo", ["revoke", "--user", "=", "bo"], ["bob"]],
    ["clients show my:shop:l", ["clients", "show", "my", ":", "shop", ":", "l"], ["live"]],
    ["clients show my:", ["clients", "show", "my", ":"], ["shop:live"]],
    ['clients show "my:shop":', ["clients", "show", '"my:shop"', ":"], ["live"]],
    ["revoke --client=my:", ["revoke", "--client", "=", "my", ":"], ["shop:live"]],
    ["clients show shop@li", ["clients", "show", "shop", "@", "li"], ["@live.test"]],
    ["clients show shop@", ["clients", "show", "shop", "@"], ["@live.test"]],
    ["--url http://[::1]:1 users sh", ["--url", "http", ":", "//[", "::", "1]", ":", "1", "users", "sh"], ["show"]],
  ])('bash: idp --data "a b" %s', { tags: ["bash"] }, async (line, pieces, values) => {
    const clients = ["my:shop:live", "shop@live.test"].map((id) => ({ ...fixtures.clients[1], client_id: id }));
    writeFileSync(join(cwd, "names.json"), JSON.stringify({ users: fixtures.users, clients }));
    expect((await idpIn(cwd, ["seed", "names.json", "--data", "a b"])).code).toBe(0);
    const answer = await bash(`idp --data "a b" ${line}`, "idp", "--data", '"a b"', ...pieces);
    expect(answer.slice(0, -1)).toEqual(values);
  });

  // What offers the candidates works while a person edits a line only; here it tells what it was given.
  const zsh = (prefix: string, ...words: readonly string[]): Promise<readonly string[]> =>
    shell(
      "zsh",
      ["-f"],
      `compdef() { print "compdef $*" }; _files() { print FILES }; _describe() { print -l -- "\${(@P)4}" }
       source <(idp completion zsh)
       words=(${words.map((word) => `"${word}"`).join(" ")}); CURRENT=$#words PREFIX="${prefix}" _idp`,
    );

  test("zsh", { tags: ["zsh"] }, async () => {
    const registered = "compdef _idp idp";
    expect(await zsh("us", "idp", "us")).toEqual([
      registered,
      "users:list, show, add, edit, remove, suspend, ban and restore users",
    ]);
    expect(await zsh("b", "idp", "revoke", "--user", "b")).toEqual([registered, expect.stringMatching(/^bob:bob@/)]);
    expect(await zsh("", "idp", "start", "--cert", "")).toEqual([registered, "FILES"]);
  });

  const fish = (line: string): Promise<readonly string[]> =>
    shell("fish", ["--no-config"], `idp completion fish | source; complete -C "${line}"`);

  test("fish", { tags: ["fish"] }, async () => {
    expect(await fish("idp us")).toEqual(["users\tlist, show, add, edit, remove, suspend, ban and restore users"]);
    expect(await fish("idp revoke --user b")).toEqual([expect.stringMatching(/^bob\tbob@/)]);
    expect(await fish("idp start --cert b")).toEqual(["bin/"]);
    expect(await fish("idp seed --ch")).toEqual([
      "--check\tcheck the files without applying them; exit 7 if there are problems",
    ]);
  });
});
