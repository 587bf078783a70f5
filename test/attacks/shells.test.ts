import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { flagWith, hintText } from "../../src/core/base/hint.ts";
import { commandLine } from "../../src/cli/output/command-line.ts";
import { underAttack } from "../helpers/attack.ts";
import { Browser } from "../helpers/browser.ts";
import { idp, newFolder } from "../helpers/cli.ts";
import { authorizeUrl } from "../helpers/client.ts";
import { unescapeHtml } from "../helpers/html.ts";
import { openInspector } from "../helpers/inspector.ts";
import { idpIn } from "../helpers/command.ts";
import { shell } from "../helpers/shell.ts";

/** Values of others that a program or a shell on this machine would run: from fixture files, and from requests. */

const client = { client_id: "app", client_secret: "app-secret", redirect_uris: ["http://localhost:3000/cb"] };

/** A folder whose fixtures have this client. */
function folderWith(more: object): string {
  const cwd = newFolder();
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify({ clients: [{ ...client, ...more }] }));
  return cwd;
}

test("env of a fixture file does not make a shell run a file", { tags: ["bash"] }, async () => {
  const cwd = folderWith({ env: { BASH_ENV: "./evil.sh" } });
  writeFileSync(join(cwd, "evil.sh"), "touch ran\n");
  const { code, stderr } = await idp(["exec", "--", "bash", "-c", "true"], { cwd });
  expect(existsSync(join(cwd, "ran"))).toBe(false);
  expect([code, stderr]).toEqual([125, expect.stringContaining("BASH_ENV")]);
});

describe("the file of idp env --write", () => {
  test.each([
    `touch ran #'"`,
    `touch ran #'$HOME`,
    `touch ran #'\\`,
    "'$(touch ran)",
    "it's \"'`touch ran`",
    "it's `touch ran`",
  ])("no file is written for %j, which a shell that sources it could run", async (value) => {
    const cwd = folderWith({ env: { GREETING: value } });
    const { code, stderr } = await idpIn(cwd, ["env", "--yes", "--write", ".env.local"]);
    expect([code, stderr]).toEqual([6, expect.stringContaining("the value of GREETING")]);
    expect(stderr).not.toContain(value);
    expect(existsSync(join(cwd, ".env.local"))).toBe(false);
  });

  test.each([
    "$(touch ran)",
    "`touch ran`",
    'a"; touch ran; "\\',
    "$HOME\ntouch ran",
    "it's; touch ran #",
    "a & touch ran",
  ])("sourced by a shell, %j is the value, and runs nothing", async (value) => {
    const cwd = folderWith({ env: { GREETING: value } });
    expect(await idpIn(cwd, ["env", "--yes", "--write", ".env.local"])).toMatchObject({ code: 0 });
    const { stdout } = await shell('. ./.env.local; printf %s "$GREETING"', { cwd });
    expect(existsSync(join(cwd, "ran"))).toBe(false);
    expect(stdout).toBe(value);
  });

  test.each(["a\n# idp end\nb", "a\n# idp begin\nb", "a\n# idp end  \r\nb"])(
    "a value with the mark of its end or beginning, %j, does not keep later values out",
    async (value) => {
      const cwd = folderWith({ env: { NOTE: value } });
      const write = () => idpIn(cwd, ["env", "--yes", "--write", ".env.local"]);
      expect(await write()).toMatchObject({ code: 6, stderr: expect.stringContaining("the value of NOTE") as string });
      writeFileSync(
        join(cwd, "idp.fixtures.json"),
        JSON.stringify({ clients: [{ ...client, env: { NOTE: "plain" } }] }),
      );
      expect(await write()).toMatchObject({ code: 0 });
      expect(readFileSync(join(cwd, ".env.local"), "utf8")).toContain("NOTE=plain\n# idp end\n");
    },
  );
});

const foreign = [
  "http://localhost:3000/cb?a=1&calc.exe&",
  "http://localhost:3000/cb?';calc;'",
  "http://localhost:3000/$(calc)",
  "http://localhost:3000/cb?a=%26calc%26",
  "http://localhost:3000/cb/%COMSPEC%25".replace("%COMSPEC", "%43OMSPEC"),
];

describe("commands to paste", () => {
  /** The texts of the commands of a page. */
  const commandsIn = (body: string): readonly string[] =>
    [...body.matchAll(/<code[^>]*>([^]*?)<\/code>/g)]
      .map(([, text = ""]) => unescapeHtml(text.replaceAll(/<[^>]*>/g, "")))
      .filter((text) => /^(?:npx dev-)?idp /.test(text));
  const isPlain = (command: string): boolean => /^[\w.:/=@+,\- ]+$/.test(command);
  const textOf = (body: string): string => unescapeHtml(body.replaceAll(/<[^>]*>/g, " "));

  test("of pages have only words that every shell reads as they are; what a stranger sent stands beside them", async () => {
    const server = await underAttack();
    const sent = [
      ...foreign.map((redirect_uri) => ({ value: redirect_uri, change: { redirect_uri } })),
      ...["x;$(reboot)'", "x&calc.exe&", "%OS%"].map((client_id) => ({ value: client_id, change: { client_id } })),
    ];
    const browser = new Browser(server.issuer);
    for (const { value, change } of sent) {
      const page = await browser.open(authorizeUrl(server, change));
      const commands = commandsIn(page.body);
      expect([page.status, commands.filter((one) => !isPlain(one))]).toEqual([400, []]);
      expect(commands[0]).toMatch(/ (?:--add-redirect-uri|clients add) VALUE( |$)/);
      expect(textOf(page.body)).toContain(`VALUE is ${value}`);
      const { first } = await openInspector(server, /idp open (f\d+)/.exec(page.body)?.[1]);
      expect(commandsIn(first.body).length).toBeGreaterThan(0);
      expect(commandsIn(first.body).filter((one) => !isPlain(one))).toEqual([]);
      expect(textOf(first.body)).toContain(`VALUE is ${value}`);
    }
    const hint = await browser.open(authorizeUrl(server, { login_hint: "erin@a.test&calc.exe&" }));
    expect(commandsIn(hint.body).filter((one) => !isPlain(one))).toEqual([]);
    expect(hint.body).toContain("users add erin");
  });

  test("of the inspector do, too, for whatever is registered", async () => {
    const server = await underAttack();
    await server.call("clients.add", { client_id: "a&calc.exe&'b", redirect_uris: ["http://localhost:3000/cb"] });
    await server.call("users.edit", { username: "alice", claims: { team: "';calc;'" } });
    await server.call("revoke", { client: "a&calc.exe&'b" });
    const { browser, at } = await openInspector(server);
    for (const tab of ["", "users", "clients", "grants", "tokens", "testing", "fixtures"]) {
      const { body } = await browser.open(at(tab));
      expect([tab, commandsIn(body).filter((one) => !isPlain(one))]).toEqual([tab, []]);
    }
    expect((await browser.open(at("clients"))).body).toContain("clients edit VALUE");
  });

  const lineFor = (platform: NodeJS.Platform, words: readonly string[]): string =>
    hintText({ text: "Do", command: words }, commandLine({ target: [], env: {}, platform }), platform);

  test.each([
    ["a&calc.exe&", `"a&calc.exe&"`],
    ["';calc;'", `"';calc;'"`],
    ["a|b<c>d^e(f)", `"a|b<c>d^e(f)"`],
    ["openid profile", `"openid profile"`],
    ["a,b", `"a,b"`],
    ["@file", `"@file"`],
    ["C:\\data\\x", `"C:\\data\\x"`],
    ["http://localhost:3000/cb", "http://localhost:3000/cb"],
  ])("of a terminal on Windows: %s is %s, for cmd.exe and PowerShell alike", (value, word) => {
    expect(lineFor("win32", ["idp", "clients", "edit", "app", "--x", value])).toBe(
      `Do: idp clients edit app --x ${word}`,
    );
  });

  test.each(["a%CMDCMDLINE:~0,1%b", "$(calc)", "`calc`", 'a"&calc.exe&"', "“;calc;”", "a b\\", "a!b"])(
    "of a terminal on Windows: no quotes are right for %s in both, so it stands before the command",
    (value) => {
      expect(lineFor("win32", ["idp", "clients", "edit", "app", "--x", value])).toBe(
        `VALUE is ${value}. Do: idp clients edit app --x VALUE`,
      );
    },
  );

  test.each(foreign)("of a terminal elsewhere: %s is one word for a shell", async (value) => {
    const line = lineFor("linux", ["idp", "--x", value]).slice("Do: idp --x ".length);
    const { stdout } = await shell(`printf %s ${line}`, { cwd: newFolder() });
    expect(stdout).toBe(value);
  });

  test("go to the server that they are for, whatever a client or a scope is called", async () => {
    const target = ["--url", "http://localhost:1"];
    const server = await underAttack({ commandLine: commandLine({ target, env: {} }) });
    for (const flag of ["--data=/tmp/x", "--store=/tmp/x", "--url=http://evil.test", "--help", "--issuer"]) {
      await server.call("clients.add", { client_id: flag, redirect_uris: ["http://localhost:3000/cb"] });
      const page = await new Browser(server.issuer).open(
        authorizeUrl(server, { client_id: flag, redirect_uri: "http://localhost:3000/other" }),
      );
      expect(commandsIn(page.body)[0]).toBe(
        `idp clients edit --add-redirect-uri http://localhost:3000/other --url http://localhost:1 -- ${flag}`,
      );
      const words = ["idp", "clients", "edit", "app", ...flagWith("--scope", flag)];
      expect(commandLine({ target, env: {} })(words, "shop")).toBe(
        `idp clients edit app --scope=${flag} --url http://localhost:1 --issuer shop`,
      );
    }
  });
});
