import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Browser, type Visit } from "../helpers/browser.ts";
import {} from "../helpers/cli.ts";
import { idpIn, startHere } from "../helpers/command.ts";
import { authorizeUrl, pick, pkce } from "../helpers/client.ts";
import { unescapeHtml } from "../helpers/html.ts";
import { newProject, shell } from "../helpers/shell.ts";

/** The command that a page names is pasted into a shell, and then the same request goes on. */

test("the fix that a page shows fixes the request", async () => {
  const project = newProject();
  const idp = await startHere([], project);
  const browser = new Browser(idp.issuer);
  const fixOf = ({ body }: Visit): string =>
    unescapeHtml(
      (/id="(?:error-fix|login-notice|login-error)"[^]*?<code[^>]*>(.*?)<\/code>/.exec(body)?.[1] ?? "").replaceAll(
        /<[^>]*>/g,
        "",
      ),
    );
  const place = ({ page, state }: Visit): string => `${page} ${state}`;
  /** What stands beside the command, quoted as a person does it who knows the shell. */
  const valueOf = ({ body }: Visit): string => {
    const [, value = ""] = /VALUE is ([^<]*?)(?:\. [A-Z]|:<)/.exec(body) ?? [];
    return `'${unescapeHtml(value).replaceAll("'", String.raw`'\''`)}'`;
  };
  const applyFix = async (visit: Visit): Promise<void> => {
    const command = fixOf(visit).replace("VALUE", () => valueOf(visit));
    expect(await shell(command, project)).toMatchObject({ code: 0 });
  };

  const unregistered = authorizeUrl(idp, { redirect_uri: "http://localhost:3001/cb?a='1'&b=2" });
  const error = await browser.open(unregistered);
  expect(place(error)).toBe("error redirect-uri");
  await applyFix(error);
  expect(place(await browser.open(unregistered))).toBe("login default");
  // The address that was there before still counts.
  expect(place(await browser.open(authorizeUrl(idp)))).toBe("login default");

  const code_challenge = pkce().challenge;
  const unknown = authorizeUrl(idp, { client_id: "$(shop)", code_challenge, code_challenge_method: "S256" });
  const stranger = await browser.open(unknown);
  expect(place(stranger)).toBe("error client");
  await applyFix(stranger);
  expect(place(await browser.open(unknown))).toBe("login default");

  const query = new URLSearchParams({ client_id: "demo-app", post_logout_redirect_uri: "http://localhost:3001/bye" });
  const logout = `/api/v2/oauth/logout?${query.toString()}`;
  const refused = await browser.open(logout);
  expect(place(refused)).toBe("error redirect-uri");
  await applyFix(refused);
  expect((await browser.open(logout)).left?.href).toBe("http://localhost:3001/bye");

  const hint = authorizeUrl(idp, { login_hint: "erin@example.com" });
  const nobody = await browser.open(hint);
  await applyFix(nobody);
  expect((await browser.open(hint)).body).toContain('id="login-as-erin"');

  const login = await browser.open(authorizeUrl(idp));
  const suspended = await pick(browser, login, "carol");
  expect(place(suspended)).toBe("login error-suspended");
  await applyFix(suspended);
  expect((await pick(browser, login, "carol")).page).toBe("consent");
});

/** The commands in what was said: each from `idp` on, up to the end of its sentence or line. */
const commandsIn = (said: string): string[] =>
  said.match(/(?<!\w)idp (?:clients|login|revoke) [^\n]*?(?=\. |\n|$)/g) ?? [];

// No command line takes the first for more than a word, and none takes the second for a flag.
test.each(["$(touch${IFS}pwned);'x'", "-x"])(
  "a client named %s: the commands in hints work for it",
  async (id) => {
    const project = newProject();
    writeFileSync(join(project.cwd, "idp.fixtures.json"), JSON.stringify({ users: [{ username: "alice" }] }));
    const run = (...words: string[]) => idpIn(project.cwd, [...words, "--", id]);
    const said = async (ran: ReturnType<typeof run>): Promise<string> => {
      const { stdout, stderr } = await ran;
      return stdout + stderr;
    };
    const paste = async (commands: readonly string[]) => {
      expect(commands.length).toBeGreaterThan(0);
      for (const command of commands) expect(await shell(command, project)).toMatchObject({ code: 0 });
    };
    await idpIn(project.cwd, ["seed", join(project.cwd, "idp.fixtures.json")]);
    await paste(commandsIn(await said(run("clients", "add"))));
    await paste(commandsIn(await said(run("clients", "rotate-secret", "--yes"))));
    const taken = commandsIn(await said(run("clients", "add", "--redirect-uri", "http://localhost:1/")))[0] ?? "";
    await paste([taken.replace("clients edit", "clients edit --name Shop")]);
    expect(existsSync(join(project.cwd, "pwned"))).toBe(false);
  },
  60_000,
);
