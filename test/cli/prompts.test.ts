import { expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";
import { controlC, controlD, down, enter, onTerminal } from "../helpers/terminal.ts";

/** Questions to a person, on a real terminal. */

async function seeded(): Promise<string> {
  const cwd = newFolder();
  expect((await idpIn(cwd, ["seed"])).code).toBe(0);
  return cwd;
}

test("a user who was not named is picked from a list", { tags: ["script"] }, async () => {
  const { type, shown, ended, screen } = onTerminal("users show", await seeded());
  await shown("Which user?");
  type(down);
  await shown("❯ bob");
  type(enter);
  expect(await ended).toBe(0);
  expect(screen()).toContain("bob  Bob Brown  active");
});

test("Ctrl+C in a question: exit 130, and nothing of a stack trace", { tags: ["script"] }, async () => {
  const { type, shown, ended, screen } = onTerminal("issue tokens", await seeded());
  await shown("Which user?");
  type(controlC);
  expect(await ended).toBe(130);
  expect(screen()).not.toMatch(/Error|^\s+at /m);
});

test.each([
  ["a yes or no", "reset", "Reset to the demo?"],
  ["a line", "token decode", "The token"],
])("Ctrl+D in %s: exit 130, and nothing is done", { tags: ["script"] }, async (_what, words, question) => {
  const cwd = await seeded();
  await idpIn(cwd, "users add erin".split(" "));
  const { type, shown, ended, screen } = onTerminal(words, cwd);
  await shown(question);
  type(controlD);
  expect(await ended).toBe(130);
  expect(screen()).not.toMatch(/Error|Warning|^\s+at /m);
  expect((await idpIn(cwd, "users show erin".split(" "))).code).toBe(0);
});

test("a question that is longer than a line keeps its last word and (y/N) together", { tags: ["script"] }, async () => {
  const { type, shown, ended, screen } = onTerminal("reset", await seeded(), {}, 80);
  await shown("(y/N)");
  type(`n${enter}`);
  expect(await ended).toBe(6);
  const lines = screen().split(/\r?\n/);
  expect(lines.some((line) => line.startsWith("discarded. (y/N)"))).toBe(true);
});

test.each([
  "users remove nope",
  "users ban nope",
  "clients remove nope",
  "clients rotate-secret nope",
  "keys remove nope",
  "revoke --user nope",
])("%s: nobody is asked about what is not there", { tags: ["script"] }, async (words) => {
  const { ended, screen } = onTerminal(words, await seeded());
  expect(await ended).toBe(3);
  expect(screen()).toMatch(/^Error: .*nope/);
  expect(screen()).not.toContain("(y/N)");
});

test(
  "reset, import and users remove ask first: no leaves all as it is, yes does it",
  { tags: ["script"] },
  async () => {
    const cwd = await seeded();
    await idpIn(cwd, "users add erin".split(" "));
    await idpIn(cwd, "export --output state.json".split(" "));
    const users = async (): Promise<string> => (await idpIn(cwd, "users list".split(" "))).stdout;
    const say = async (words: string, question: string, key: string): Promise<number | null> => {
      const { type, shown, ended } = onTerminal(words, cwd);
      await shown(question);
      type(key + enter);
      return ended;
    };
    expect(await say("users remove erin", "Remove erin, with their grants and sessions?", "n")).toBe(6);
    expect(await users()).toContain("erin");
    expect(await say("reset", "Reset to the demo?", "")).toBe(6);
    expect(await users()).toContain("erin");
    expect(await say("reset", "Reset to the demo?", "y")).toBe(0);
    expect(await users()).not.toContain("erin");
    expect(await say("import state.json", "Import state.json?", "n")).toBe(6);
    expect(await users()).not.toContain("erin");
    expect(await say("import state.json", "Import state.json?", "y")).toBe(0);
    expect(await users()).toContain("erin");
    expect(await say("users remove erin", "Remove erin, with their grants and sessions?", "y")).toBe(0);
    expect(await users()).not.toContain("erin");
  },
);

test("a ban by users edit asks as users ban does", { tags: ["script"] }, async () => {
  const cwd = await seeded();
  const status = async (): Promise<unknown> =>
    (JSON.parse((await idpIn(cwd, "users show bob --json".split(" "))).stdout) as { status: unknown }).status;
  for (const [key, code, is] of [
    ["n", 6, "active"],
    ["y", 0, "banned"],
  ] as const) {
    const { type, shown, ended } = onTerminal("users edit bob --status banned", cwd);
    await shown("Ban bob? Their sessions end and their grants are revoked permanently.");
    type(key + enter);
    expect(await ended).toBe(code);
    expect(await status()).toBe(is);
  }
  const again = onTerminal("users edit bob --status banned --set about=x", cwd);
  expect(await again.ended).toBe(0);
  expect(again.screen()).not.toContain("(y/N)");
});

test("revoke without arguments offers the active grants", { tags: ["script"] }, async () => {
  const cwd = await seeded();
  await idpIn(cwd, "issue grant --user alice --client demo-app".split(" "));
  const { type, shown, ended, screen } = onTerminal("revoke", cwd);
  await shown("Which grant?");
  type(enter);
  expect(await ended).toBe(0);
  expect(screen()).toContain("Revoked 1 grant:");
  const none = onTerminal("revoke", cwd);
  expect(await none.ended).toBe(3);
  expect(none.screen()).toContain("no active grants");
});

test(
  "an irreversible command asks first; no: nothing is done, exit 6; --yes: no question",
  { tags: ["script"] },
  async () => {
    const cwd = await seeded();
    await idpIn(cwd, "issue grant --user alice --client demo-app".split(" "));
    const { type, shown, ended, screen } = onTerminal("revoke --user alice", cwd);
    await shown("Revoke the grants of alice for all clients?");
    type(`n${enter}`);
    expect(await ended).toBe(6);
    expect(screen()).toContain("nothing was revoked");
    const sure = onTerminal("revoke --user alice --yes", cwd);
    expect(await sure.ended).toBe(0);
    expect(sure.screen()).toContain("Revoked 1 grant:");
    expect(sure.screen()).not.toContain("?");
  },
);

test.each([
  ["--json", {}],
  ["--no-input", {}],
  ["", { CI: "1" }],
])("no question is asked with %s %j", { tags: ["script"] }, async (flag, env) => {
  const { ended, screen } = onTerminal(`users show ${flag}`, await seeded(), env);
  expect(await ended).toBe(2);
  expect(screen()).not.toContain("Which user?");
});

test("on a terminal there is color, unless NO_COLOR or --color say otherwise", { tags: ["script"] }, async () => {
  const cwd = await seeded();
  const colors = async (words: string, env: Record<string, string> = {}): Promise<boolean> => {
    const { ended, written } = onTerminal(words, cwd, env);
    expect(await ended).toBe(0);
    return written().includes("\u001b[");
  };
  expect(await colors("users list")).toBe(true);
  expect(await colors("users list --color never")).toBe(false);
  expect(await colors("users list", { NO_COLOR: "1" })).toBe(false);
  expect(await colors("users list", { TERM: "dumb" })).toBe(false);
});

test("issue asks for what is missing: user, client, and the scopes to tick", { tags: ["script"] }, async () => {
  const { type, shown, ended, screen } = onTerminal("issue grant", await seeded());
  await shown("Which user?");
  type(enter);
  await shown("Which client?");
  type(enter);
  await shown("Which scopes, in addition to openid?");
  // The first one is unticked.
  type(" ");
  await shown("◯");
  type(enter);
  expect(await ended).toBe(0);
  expect(screen()).toMatch(/g_\S+ {2}alice {2}demo-app {2}active/);
  expect(screen()).toMatch(/scope +openid email details/);
});

test(
  "a name that is missing is asked for until it is one, and where a client's users are sent back to",
  { tags: ["script"] },
  async () => {
    const cwd = await seeded();
    const user = onTerminal("users add", cwd);
    await user.shown("The username");
    user.type(enter);
    await user.shown("It needs one.");
    user.type(`erin${enter}`);
    expect(await user.ended).toBe(0);
    expect(user.screen()).toContain("Added erin");
    const client = onTerminal("clients add shop", cwd);
    await client.shown("Where users are sent back to");
    client.type(enter);
    expect(await client.ended).toBe(0);
    expect(client.screen()).toMatch(/redirect_uris +http:\/\/localhost:3000\/callback/);
  },
);

test("a secret is asked for where --password-stdin meets a terminal, and not shown", { tags: ["script"] }, async () => {
  const cwd = await seeded();
  const { type, shown, ended, screen } = onTerminal("users add erin --password-stdin", cwd);
  await shown("The password");
  type(`sesame-of-erin${enter}`);
  expect(await ended).toBe(0);
  expect(screen()).not.toContain("sesame");
  expect(JSON.parse((await idpIn(cwd, ["users", "show", "erin", "--json"])).stdout)).toMatchObject({
    hasPassword: true,
  });
});

test.each([
  ["users show", "Which user?"],
  ["users add", "The username"],
  ["users add erin --password-stdin", "The password"],
  ["revoke --user alice", "Revoke the grants"],
])(
  "Ctrl+C at a question of idp %s: exit 130, and the cursor is back",
  { tags: ["script"] },
  async (words, question) => {
    const { type, shown, ended, screen, written } = onTerminal(words, await seeded());
    await shown(question);
    type(controlC);
    expect(await ended).toBe(130);
    expect(screen()).not.toMatch(/Error|^\s+at /m);
    expect(written().lastIndexOf("\u001b[?25h")).toBeGreaterThanOrEqual(written().lastIndexOf("\u001b[?25l"));
  },
);
