import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import { idp, newFolder } from "../helpers/cli.ts";
import { idpIn, startHere } from "../helpers/command.ts";
import { problemsOf } from "../helpers/fixtures.ts";

/** What an app needs beside the variables of OpenID Connect: `env` of its client, and the block of `idp env --write`. */

const target = "idp.fixtures.yaml";
const client = { client_id: "app", client_secret: "app-secret", redirect_uris: ["http://localhost:3000/cb"] };
const withEnv = (env: object) => JSON.stringify({ clients: [{ ...client, env }], users: [{ username: "alice" }] });

function folderWith(text: string, name = target): string {
  const cwd = newFolder();
  writeFileSync(join(cwd, name), text);
  return cwd;
}

describe("the field env of a client", () => {
  const names =
    "PATH PATHEXT COMSPEC ZDOTDIR TMPDIR TEMP TMP ENV BASH_ENV SHELL IFS PROMPT_COMMAND PAGER EDITOR VISUAL BROWSER CLASSPATH HOME MAKEFLAGS SHELLOPTS PS4 PHPRC LUA_INIT OPENSSL_CONF GODEBUG GOFLAGS GOROOT GOPATH GOPROXY GOTOOLCHAIN";
  const beginnings =
    "PHP GEM_ BUNDLE_ LESS MAN PIP_ UV_ POETRY_ COMPOSER_ COREPACK_ GITHUB_ IDP_ OIDC_ NODE_ NPM_ LD_ DYLD_ GIT_ SSH_ PERL RUBY PYTHON JAVA_ JDK_ _JAVA_ MAVEN_ GRADLE_ DOTNET_ COR_ SSL_ BUN_ DENO_ PLAYWRIGHT_ CARGO_ RUSTC_ XDG_";
  const refused = [
    ...names.split(" "),
    ...beginnings.split(" ").flatMap((beginning) => [beginning, `${beginning}X`]),
    ..."HTTP_PROXY ALL_PROXY MY_PROXY".split(" "),
  ];

  test("a name by which programs find or run code, or that idp sets, is refused", async () => {
    // Of one file, 100 problems are shown.
    for (const part of [refused.slice(0, 60), refused.slice(60)]) {
      const env = Object.fromEntries(part.map((name) => [name, "x"]));
      const problems = await problemsOf({ name: "f.json", text: withEnv(env) });
      for (const name of part) {
        expect(problems.filter((line) => line.includes(`clients[0].env.${name} `))).toEqual([
          expect.stringContaining("cannot be set here") as string,
        ]);
      }
      expect(problems).toHaveLength(part.length);
    }
  });
  test("a name that only resembles one of them is not", async () => {
    const alike =
      "PATHS BASE_PATH ENVIRONMENT APP_ENV SHELL_X HOMEPAGE EDITOR_URL NODEX NPMRC LDAP_URL AUTH_GITHUB_ID SSHD SSO_URL JAVASCRIPT CORS_ORIGIN PROXY PROXY_URL MY_PROXYX GOOGLE_ID XDGX COOKIE_SECRET NEXTAUTH_URL";
    const env = Object.fromEntries(alike.split(" ").map((name) => [name, "x"]));
    expect(await problemsOf({ name: "f.json", text: withEnv(env) })).toEqual([]);
  });
  test.each(["lower", "1A", "A-B", ""])("%o is not a name", async (name) => {
    expect(await problemsOf({ name: "f.json", text: withEnv({ [name]: "x" }) })).toHaveLength(1);
  });
  test("a value is text, and no message repeats it", async () => {
    const [problem = ""] = await problemsOf({ name: "f.json", text: withEnv({ A: 12345678 }) });
    expect(problem).toContain("must be text");
    expect(problem).not.toContain("12345678");
  });
  test("names are shown, values only with --show-secrets", async () => {
    const cwd = folderWith(withEnv({ COOKIE_SECRET: "very-secret" }));
    await idpIn(cwd, ["seed"]);
    for (const words of [
      ["clients", "show", "app"],
      ["clients", "show", "app", "--json"],
      ["clients", "list", "--json"],
    ]) {
      const { stdout } = await idpIn(cwd, words);
      expect(stdout).not.toContain("very-secret");
      expect(stdout).toContain("COOKIE_SECRET");
    }
    expect((await idpIn(cwd, ["clients", "show", "app", "--show-secrets"])).stdout).toContain("very-secret");
  });
  test("adding a client, and giving it another secret, shows only the secret that was made", async () => {
    const cwd = folderWith(withEnv({ COOKIE_SECRET: "c" }));
    await idpIn(cwd, ["seed"]);
    const others = [
      'env={"COOKIE_SECRET":"very-secret"}',
      'scim={"url":"http://localhost:3000/scim","token":"very-secret"}',
    ].flatMap((field) => ["--set", field]);
    for (const words of [
      ["add", "shop", "--redirect-uri", "http://localhost:3000/cb", ...others],
      ["rotate-secret", "shop"],
    ]) {
      const { stdout, stderr } = await idpIn(cwd, ["clients", ...words]);
      expect(stdout).toMatch(/client_secret +[\w-]{43}\n/);
      expect(stdout).toContain('{"COOKIE_SECRET":null}');
      expect(stderr).toContain('env: {"COOKIE_SECRET":"<its value>"}');
      expect(stdout + stderr).not.toContain("very-secret");
    }
  });
  test("env and exec give it; what the environment has wins", async () => {
    const cwd = folderWith(withEnv({ COOKIE_SECRET: "from-fixtures", OTHER: "two words" }));
    const { stdout } = await idpIn(cwd, ["env"]);
    expect(stdout).toContain("COOKIE_SECRET=from-fixtures\nOTHER='two words'\n");
    const script = "process.stdout.write(`${process.env.COOKIE_SECRET} ${process.env.OTHER}`)";
    const words = ["exec", "--quiet", "--", process.execPath, "-e", script];
    expect((await idp(words, { cwd })).stdout).toBe("from-fixtures two words");
    expect((await idp(words, { cwd, env: { COOKIE_SECRET: "mine" } })).stdout).toBe("mine two words");
  });
});

describe("init", () => {
  const nextApp = JSON.stringify({ name: "my-app", dependencies: { next: "16", "next-auth": "4" } });
  test("what the library needs is in the fixtures; --force keeps it, and the secret", async () => {
    const cwd = folderWith(nextApp, "package.json");
    await idpIn(cwd, ["init", "--yes"]);
    const read = () =>
      load(readFileSync(join(cwd, target), "utf8")) as {
        clients: Record<string, unknown>[];
        settings: object;
        users: object[];
      };
    const [first] = read().clients;
    expect(first?.["env"]).toEqual({
      NEXTAUTH_URL: "http://localhost:3000",
      NEXTAUTH_SECRET: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(await idpIn(cwd, ["init", "--yes", "--force"])).toMatchObject({ code: 0 });
    expect(read().clients[0]).toEqual(first);
    // What apps and APIs use.
    expect(read().settings).toMatchObject({ access_token_alg: "RS256" });
    expect(read().users[0]).toMatchObject({ emailVerified: true });
  });
  test("the code to paste runs without the file", async () => {
    const cwd = folderWith(
      JSON.stringify({ dependencies: { express: "5", "express-openid-connect": "2" } }),
      "package.json",
    );
    const { stdout } = await idpIn(cwd, ["init", "--yes", "--json"]);
    const { pieces } = JSON.parse(stdout) as { pieces: { text: string }[] };
    const line = /^.*loadEnvFile.*$/m.exec(pieces[0]?.text ?? "")?.[0] ?? "";
    const folder = newFolder();
    expect(
      await idp(["exec", "--quiet", "--", process.execPath, "-e", `${line} process.stdout.write("ok")`], {
        cwd: folder,
      }),
    ).toMatchObject({ code: 0, stdout: "ok" });
  });
});

describe("env --write", () => {
  test("the block keeps its names, whatever they are", async () => {
    const cwd = folderWith(withEnv({ COOKIE_SECRET: "c" }));
    const named = [
      "--name",
      "issuer=AUTH_URL",
      "--name",
      "client_id=AUTH_ID",
      "--name",
      "client_secret=AUTH_SECRET",
      "--name",
      "redirect_uri=AUTH_BACK",
    ];
    for (const names of [["--prefix", "VITE_"], named]) {
      const first = await idpIn(cwd, ["env", "--yes", "--write", ".env.local", ...names]);
      expect(first.code, first.stderr).toBe(0);
      const before = readFileSync(join(cwd, ".env.local"), "utf8");
      expect((await idpIn(cwd, ["env", "--write", ".env.local"])).stdout).toBe("Up to date: .env.local\n");
      expect(readFileSync(join(cwd, ".env.local"), "utf8")).toBe(before);
    }
  });

  const write = async (cwd: string, ...flags: readonly string[]): Promise<readonly string[]> => {
    const { code, stderr } = await idpIn(cwd, ["env", "--yes", "--write", ".env.local", ...flags]);
    expect(code, stderr).toBe(0);
    return readFileSync(join(cwd, ".env.local"), "utf8").trim().split("\n").slice(1, -1);
  };
  const named = (lines: readonly string[]): readonly string[] => lines.map((line) => line.split("=")[0] ?? "");
  const own = ["issuer=AUTH_URL", "client_id=AUTH_ID", "client_secret=AUTH_KEY", "redirect_uri=AUTH_BACK"];

  test("it keeps a name that says nothing, with variables of the client behind it", async () => {
    const cwd = folderWith(withEnv({ COOKIE_SECRET: "c" }));
    const first = await write(cwd, ...own.flatMap((one) => ["--name", one]));
    expect(named(first)).toEqual(["AUTH_URL", "AUTH_ID", "AUTH_KEY", "AUTH_BACK", "COOKIE_SECRET"]);
    expect(await write(cwd)).toEqual(first);
  });

  test("--name changes one name, and keeps the others; a value that is new gets the prefix of the block", async () => {
    const cwd = folderWith(withEnv({}));
    await write(cwd, ...own.flatMap((one) => ["--name", one]));
    expect(named(await write(cwd, "--name", "client_id=APP_ID"))).toEqual([
      "AUTH_URL",
      "APP_ID",
      "AUTH_KEY",
      "AUTH_BACK",
    ]);
    writeFileSync(join(cwd, ".env.local"), "# idp begin\nVITE_OIDC_ISSUER=x\nVITE_OIDC_CLIENT_ID=app\n# idp end\n");
    expect(named(await write(cwd))).toEqual(
      ["ISSUER", "CLIENT_ID", "CLIENT_SECRET", "REDIRECT_URI"].map((name) => `VITE_OIDC_${name}`),
    );
  });

  test("the address of the discovery document is written by the name that was asked for, and stays", async () => {
    const cwd = folderWith(withEnv({}));
    expect(named(await write(cwd))).not.toContain("OIDC_DISCOVERY_URL");
    const lines = await write(cwd, "--name", "discovery=OIDC_CONFIG");
    expect(lines.at(-1)).toMatch(/^OIDC_CONFIG=http:\/\/localhost:\d+\/\.well-known\/openid-configuration$/);
    expect(await write(cwd)).toEqual(lines);
  });

  test.each<[string, string, RegExp]>([
    [
      "another port",
      "OIDC_ISSUER=http://localhost:1\nOIDC_CLIENT_ID=app",
      /\.env\.local names the issuer http:\/\/localhost:1, and this server is/,
    ],
    ["another client", "VITE_OIDC_CLIENT_ID=gone", /names the client gone, which is not registered here/],
    [
      "another address",
      "OIDC_CLIENT_ID=app\nOIDC_REDIRECT_URI=http://localhost:9/cb",
      /names the redirect URI http:\/\/localhost:9\/cb, which app does not have/,
    ],
    [
      "all of it at once",
      "OIDC_ISSUER=http://localhost:1\nOIDC_CLIENT_ID=app\nOIDC_CLIENT_SECRET=old\nOIDC_REDIRECT_URI=http://localhost:9/cb",
      /the issuer http:\/\/localhost:1, and this server is \S+; the redirect URI http:\/\/localhost:9\/cb, .*; another secret than app has/,
    ],
  ])("start and doctor say that the file names %s", async (_, block, says) => {
    const cwd = folderWith(withEnv({}));
    writeFileSync(join(cwd, ".env.local"), `# idp begin\n${block}\n# idp end\n`);
    const server = await startHere([], { cwd });
    // stdout and stderr arrive in any order.
    await expect.poll(() => server.output.stderr).toContain("idp env --write .env.local");
    await expect.poll(() => server.output.stderr).toMatch(says);
    expect((await idpIn(cwd, ["doctor"])).stdout.replaceAll(/\s+/g, " ")).toMatch(says);
    expect(await idpIn(cwd, ["env", "--write", ".env.local"])).toMatchObject({ code: 0 });
    expect((await idpIn(cwd, ["doctor"])).stdout).not.toMatch(says);
  });
});
