import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { commandNames } from "../../src/cli/nouns.ts";
import { Browser } from "../helpers/browser.ts";
import { newFolder } from "../helpers/cli.ts";
import { authorizeUrl } from "../helpers/client.ts";
import { beginHere, commandTree, idpHere, idpIn, leaves, startHere } from "../helpers/command.ts";
import { unescapeHtml } from "../helpers/html.ts";

/** Each command that is printed runs as printed, where it is printed: on pages, in the log, on the first screen, in help. */

const token = "the-admin-token-of-this-walk";
const environment = { IDP_ADMIN_TOKEN: token };

const start = new RegExp(String.raw`(?<![\w./@-])(?:npx dev-)?idp (?:${commandNames.join("|")})(?![\w=])`, "g");

/** The commands in a text, each up to the end of its line, sentence or quotation. */
function commandsIn(text: string): string[] {
  return text.split("\n").flatMap((line) => {
    const at = [...line.matchAll(start)].map(({ index }) => index);
    return at.map(
      (from, next) => line.slice(from, at[next + 1]).split(/[.,;)`]*(?:\s{2,}|\s\(|$)|[,;.] |, or /)[0] ?? "",
    );
  });
}

/** What a page shows in boxes for commands, with the value that stands beside a command in place of its placeholder. */
function boxesOf(html: string): string[] {
  const [, value = "VALUE"] = /VALUE is ([^<]*?)(?:\. [A-Z]|:<)/.exec(html) ?? [];
  return [...html.matchAll(/<code[^>]*>(.*?)<\/code>/gs)].map(([, inner = ""]) =>
    unescapeHtml(inner.replaceAll(/<[^>]*>/g, ""))
      .trim()
      .replace("VALUE", () => `'${unescapeHtml(value)}'`),
  );
}

/** The words of a line as a shell reads them. */
const wordsOf = (line: string): string[] =>
  (line.match(/(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"\\])+/g) ?? []).map((word) =>
    word.replaceAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/g, (_, ...parts: (string | undefined)[]) =>
      parts.slice(0, 3).join(""),
    ),
  );

const argumentsOf = (line: string): string[] => wordsOf(line).slice(line.startsWith("npx ") ? 2 : 1);

/** Runs a command to its end: a sign-in without a browser, and no second server. @returns how it failed; null: it did not */
async function failureOf(cwd: string, line: string): Promise<string | null> {
  const words = argumentsOf(line);
  // A server runs there already, so that all that a start can do is to say so.
  const accepted = words[0] === "start" ? [4] : [0];
  const more =
    words[0] === "login" ? [...(words.includes("--user") ? [] : ["--user", "alice", "--approve"]), "--no-browser"] : [];
  const { code, stderr } = await idpIn(cwd, [...words, ...more], "a-new-password", environment);
  return accepted.includes(code ?? -1) ? null : `${line}: exit ${code}: ${stderr}`;
}

const fixtures = `
users: [{ username: alice, password: pw }, { username: carol, password: pw, status: suspended }]
clients:
  - { client_id: demo-app, client_secret: shop-secret, redirect_uris: ["http://localhost:3000/callback"] }
  - { client_id: idp-cli, redirect_uris: ["http://127.0.0.1:*/callback"] }
`;

/** Pages that name commands, and what leads to them. */
async function pagesOf(issuer: string): Promise<string[]> {
  const browser = new Browser(issuer);
  const query = (parameters: Record<string, string>): string => new URLSearchParams(parameters).toString();
  const base = issuer.replace(/\/$/, "");
  const asked = [
    `${base}/`,
    `${base}/account`,
    `${base}/device`,
    `${base}/nothing-here`,
    `${base}/_idp/`,
    authorizeUrl({ issuer: base }, { redirect_uri: "http://localhost:3001/callback" }),
    authorizeUrl({ issuer: base }, { client_id: "shop" }),
    authorizeUrl({ issuer: base }, { login_hint: "erin@example.com" }),
    authorizeUrl({ issuer: base }, { scope: "openid orders:read" }),
    `${base}/api/v2/oauth/authorize`,
    `${base}/api/v2/oauth/logout?${query({ client_id: "demo-app", post_logout_redirect_uri: "http://localhost:3001/bye" })}`,
  ];
  const bodies: string[] = [];
  for (const url of asked) bodies.push((await browser.open(url)).body);
  const login = await browser.open(authorizeUrl({ issuer: base }));
  bodies.push((await browser.press(login, "login-as-carol")).body);
  return bodies;
}

/** Requests of a program that are refused, for the log. */
async function refusedBy(issuer: string): Promise<void> {
  for (const body of [
    { grant_type: "authorization_code", code: "nope", client_id: "demo-app", client_secret: "shop-secret" },
    { grant_type: "client_credentials", client_id: "demo-app", client_secret: "shop-secret" },
    { grant_type: "authorization_code", client_id: "demo-ap" },
  ])
    await fetch(`${issuer}/api/v2/oauth/token`, { method: "POST", body: new URLSearchParams(body) });
}

test.each([
  ["of a data folder", ["--data", "d"]],
  ["in memory", ["--memory"]],
])("what a server %s prints", async (_, flags) => {
  const cwd = newFolder();
  const file = join(cwd, "own.yaml");
  writeFileSync(file, fixtures);
  const { issuer, output } = await startHere([...flags, "--fixtures", file], { cwd, env: environment });
  const found = new Set<string>();
  const problems: string[] = [];
  const walk = async (lines: readonly string[]): Promise<void> => {
    for (const line of lines.filter((one) => !found.has(one))) {
      found.add(line);
      const failure = await failureOf(cwd, line);
      if (failure !== null) problems.push(failure);
    }
  };
  const target = flags.includes("--memory") ? ["--url", issuer] : flags;
  await idpIn(cwd, ["issuers", "add", "tenant", ...target], "", environment);
  await idpIn(cwd, ["seed", file, "--issuer", "tenant", ...target], "", environment);
  await idpIn(cwd, ["clients", "remove", "idp-cli", "--yes", "--issuer", "tenant", ...target], "", environment);
  for (const server of [issuer, `${issuer}/i/tenant`]) {
    const bodies = await pagesOf(server);
    await refusedBy(server);
    await walk(bodies.flatMap(boxesOf).flatMap(commandsIn));
  }
  await walk(commandsIn(output.stdout));
  expect(problems).toEqual([]);
  expect([...found].filter((line) => line.includes(" login"))).toEqual([expect.not.stringContaining("tenant")]);
  expect([...found].filter((line) => line.includes("tenant")).length).toBeGreaterThan(5);
  expect(found.size).toBeGreaterThan(15);
});

/** They wait, or run another program, another server, or files that a reader has and this test does not. */
const onlyRead =
  /^(?:start|stop|exec|wait|import|init|check|completion|login --issuer|requests follow|clients add --saml-metadata|saml|env --write)/;

test("the examples in help are commands that there are, and run on the demo", async () => {
  const cwd = newFolder();
  await startHere(["--data", ".idp"], { cwd });
  const problems: string[] = [];
  let ran = 0;
  for (const path of await leaves()) {
    const { stdout } = await idpHere([...path.split(" ").filter(Boolean), "--help"]);
    for (const line of stdout.match(/^ {2}\$ .+$/gm) ?? []) {
      for (const command of line.split(/ \| |\$\(|<\(| < | > | >> |\)/).flatMap(commandsIn)) {
        const words = argumentsOf(command);
        const known = (await commandTree()).has(words[0] ?? "");
        if (!known) problems.push(command);
        if (onlyRead.test(words.join(" "))) continue;
        ran += 1;
        const { code, stderr } = await idpIn(cwd, [...words, "--yes"], "secret-of-16-letters");
        // A record or a file that is not here, or a provider that does not answer: what was typed is understood.
        if ([1, 2, null].includes(code)) problems.push(`${command}: exit ${code}: ${stderr}`);
      }
    }
  }
  expect(problems).toEqual([]);
  expect(ran).toBeGreaterThan(100);
});

test("help, remarks and errors call idp as the reader's shell finds it", async () => {
  const away = { PATH: "/nowhere" };
  const npm = { PATH: "/nowhere:/app/node_modules/.bin", npm_lifecycle_event: "dev" };
  for (const env of [away, npm]) {
    const { stdout } = await idpHere(["token", "issue", "--help"], "", env);
    expect(stdout).toContain("Usage: npx dev-idp token issue [options]");
    expect(stdout).toContain("$ TOKEN=$(npx dev-idp token issue --user alice --client demo-app)");
    expect(stdout).not.toMatch(/(?<![\w-])idp (?:token|--help)/);
    const { stderr } = await beginHere(["users", "lst"], "", env).ended;
    expect(stderr).toContain("npx dev-idp users --help");
  }
  for (const path of (await commandTree()).keys()) {
    const help = (await idpHere([...path.split(" ").filter(Boolean), "--help"], "", away)).stdout;
    expect(help).toContain("npx dev-idp");
    expect(help.split("\n").filter((line) => line.length > 80 && !line.startsWith("  $ "))).toEqual([]);
  }
  expect((await idpHere(["users", "--help"])).stdout).toContain("Usage: idp users");
});

test("a fixture file that init writes calls idp as the shell of its reader finds it", async () => {
  const cwd = newFolder();
  const away = { PATH: "/nowhere" };
  const { stdout } = await idpIn(cwd, ["init", "--stdout", "--no-input"], "", away);
  expect(stdout).toContain("# Check it: npx dev-idp seed --check.");
  expect(stdout).toContain("found here by npx dev-idp start and npx dev-idp exec");
});
