import { execFileSync } from "node:child_process";
import { existsSync, lstatSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpHere, idpIn, startHere } from "../helpers/command.ts";
import { controlC, enter, onTerminal } from "../helpers/terminal.ts";

/** `idp env`: what an app needs to know. */

const issuer = "http://localhost:4370";

const clients = [
  { client_id: "worker", client_secret: "w", grant_types: ["client_credentials"] },
  { client_id: "tool", redirect_uris: ["http://127.0.0.1:*/cb"] },
  { client_id: "web", client_secret: "web-secret", redirect_uris: ["http://localhost:3000/cb?a=1&b=2"] },
  { client_id: "spa", redirect_uris: ["http://localhost:5173/callback"] },
];

/** A folder with these clients in its data, and the same as a flag. */
async function seeded(these: readonly object[] = clients): Promise<{ cwd: string; data: readonly string[] }> {
  const cwd = newFolder();
  const file = join(cwd, "idp.fixtures.json");
  writeFileSync(file, JSON.stringify({ clients: these }));
  const data = ["--data", join(cwd, ".idp")];
  expect(await idpHere(["seed", file, ...data])).toMatchObject({ code: 0 });
  return { cwd, data };
}

const env = async (data: readonly string[], ...flags: readonly string[]): Promise<string> => {
  const { code, stdout, stderr } = await idpHere(["env", ...flags, ...data]);
  expect(code, stderr).toBe(0);
  return stdout;
};

test("the first client that signs users in, its secret too; the same from a running server and from the folder", async () => {
  const { cwd, data } = await seeded();
  const expected = [
    `OIDC_ISSUER=THE_ISSUER`,
    "OIDC_CLIENT_ID=web",
    "OIDC_CLIENT_SECRET=web-secret",
    "OIDC_REDIRECT_URI='http://localhost:3000/cb?a=1&b=2'",
    "",
  ].join("\n");
  expect(await env(data)).toBe(expected.replace("THE_ISSUER", issuer));
  const running = await startHere([], { cwd });
  expect(await env(data)).toBe(expected.replace("THE_ISSUER", running.issuer));
  await running.stop();
  expect(await env(data)).toBe(expected.replace("THE_ISSUER", running.issuer));
});

test("before the first start, the fixtures say it; nothing is written", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify({ clients }));
  const spring = await idpIn(cwd, ["env", "--for", "spring"]);
  expect(spring).toMatchObject({ code: 0, stdout: expect.stringContaining('client-secret: "web-secret"') });
  expect(existsSync(join(cwd, ".idp"))).toBe(false);
  const before = await idpIn(cwd, ["env"], "", { IDP_PORT: "4471" });
  expect(before).toMatchObject({ code: 0, stdout: expect.stringContaining("OIDC_CLIENT_SECRET=web-secret\n") });
  expect(before.stdout).toContain("OIDC_ISSUER=http://localhost:4471\n");
  expect(before.stderr).toBe("Read from idp.fixtures.json: there is no data in .idp yet.\n");
  const demo = await idpIn(newFolder(), ["env"]);
  expect(demo.stdout).toContain("OIDC_CLIENT_ID=demo-app\n");
  expect(demo.stderr).toContain("Read from the built-in demo");
  writeFileSync(join(cwd, "idp.fixtures.json"), '{"clients":[{}]}');
  expect(await idpIn(cwd, ["env"])).toMatchObject({ code: 7, stdout: "" });
});

test("--client, --prefix, --name; a public client has no secret, a worker no address to return to", async () => {
  const { data } = await seeded();
  const flags = ["--client", "spa", "--prefix", "VITE_", "--name", "issuer=VITE_OIDC_AUTHORITY"];
  expect(await env(data, ...flags)).toBe(
    `VITE_OIDC_AUTHORITY=${issuer}\nVITE_OIDC_CLIENT_ID=spa\nVITE_OIDC_REDIRECT_URI=http://localhost:5173/callback\n`,
  );
  expect(JSON.parse(await env(data, "--client", "worker", "--json"))).toEqual({
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: "worker",
    OIDC_CLIENT_SECRET: "w",
  });
  const tool = await idpHere(["env", "--client", "tool", ...data]);
  expect(tool.stdout).not.toContain("OIDC_REDIRECT_URI");
  expect(tool.stderr).toContain("tool may return to any port (http://127.0.0.1:*/cb)");
});

const machine = (secret: string) => ({
  client_id: "machine",
  client_secret: secret,
  grant_types: ["client_credentials"],
});

/** Secrets that some reader of some format takes for something else. */
const hostile = [
  "plain-1.2_3",
  "with space and # hash",
  "$HOME ${HOME} $(id) `id`",
  'double " quote \\n back\\slash',
  "it's",
  "two\nlines\nidp_end",
  "ends with \\",
  "=leading",
  "~tilde*glob?",
];

test.each(hostile)("the secret %j comes out of every format as it went in", async (secret) => {
  const { cwd, data } = await seeded([machine(secret)]);
  const dotenv = join(cwd, ".env");
  writeFileSync(dotenv, await env(data));
  const print = "process.stdout.write(process.env.OIDC_CLIENT_SECRET)";
  expect(execFileSync(process.execPath, [`--env-file=${dotenv}`, "--eval", print], { encoding: "utf8" })).toBe(secret);

  const shell = join(cwd, "env.sh");
  writeFileSync(shell, await env(data, "--format", "shell"));
  const said = execFileSync("sh", ["-c", `. "${shell}"; "${process.execPath}" --eval '${print}'`], {
    encoding: "utf8",
  });
  expect(said).toBe(secret);

  expect(JSON.parse(await env(data, "--format", "json"))).toMatchObject({ OIDC_CLIENT_SECRET: secret });
  expect(fromGithub(await env(data, "--format", "github")).get("OIDC_CLIENT_SECRET")).toBe(secret);
});

/** Reads $GITHUB_ENV as its documentation has it: NAME=value, or NAME<<mark, lines, mark. */
function fromGithub(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const lines = text.split("\n");
  for (let line = lines.shift(); line !== undefined && line !== ""; line = lines.shift()) {
    const [, name = "", mark = ""] = /^(\w+)<<(.+)$/.exec(line) ?? [];
    if (name === "") found.set(line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1));
    else
      found.set(
        name,
        lines
          .splice(0, lines.indexOf(mark) + 1)
          .slice(0, -1)
          .join("\n"),
      );
  }
  return found;
}

test("a value that no .env file can hold is refused, and the hint names a format that can", async () => {
  const { data } = await seeded([machine(`'"\``)]);
  expect(await idpHere(["env", ...data])).toMatchObject({
    code: 6,
    stdout: "",
    stderr: expect.stringContaining("idp env --format shell"),
  });
});

test("a $ in a .env file is noted, with what to do: some readers expand it, some do not", async () => {
  const { cwd, data } = await seeded([machine("pa$$word")]);
  const file = join(cwd, ".env");
  for (const flags of [[], ["--format", "dotenv"], ["--write", file]]) {
    const { code, stderr } = await idpHere(["env", ...flags, ...data]);
    expect(code).toBe(0);
    expect(stderr).toContain("OIDC_CLIENT_SECRET contains $");
    expect(stderr).toContain("write \\$ for each $");
    expect(stderr).toContain("idp clients rotate-secret machine");
    expect(stderr).not.toContain("pa$$word");
  }
  for (const flags of [
    ["--format", "shell"],
    ["--format", "github"],
    ["--format", "json"],
  ]) {
    expect((await idpHere(["env", ...flags, ...data])).stderr).not.toContain("contains $");
  }
  const { data: plain } = await seeded();
  expect((await idpHere(["env", ...plain])).stderr).not.toContain("contains $");
});

test("--write replaces its own block, and not a byte beside it", async () => {
  const { cwd, data } = await seeded();
  const file = join(cwd, ".env.local");
  const mine = Buffer.concat([Buffer.from("A=1\r\n# idp beginning\r\nB=2"), Buffer.from([0xff, 0xfe])]);
  writeFileSync(file, mine, { mode: 0o640 });
  expect(await env(data, "--write", file)).toBe(`Wrote 4 variables into ${file}\n`);
  const block = `# idp begin\r\n${(await env(data)).replaceAll("\n", "\r\n")}# idp end\r\n`;
  const appended = Buffer.concat([mine, Buffer.from(`\r\n${block}`)]);
  expect(readFileSync(file)).toEqual(appended);
  expect(statSync(file).mode & 0o777).toBe(0o640);

  writeFileSync(file, Buffer.concat([appended, Buffer.from("C=3")]));
  expect(await env(data, "--write", file, "--client", "spa")).toContain("Wrote ");
  const spa = `# idp begin\r\n${(await env(data, "--client", "spa")).replaceAll("\n", "\r\n")}# idp end\r\n`;
  expect(readFileSync(file)).toEqual(Buffer.concat([mine, Buffer.from(`\r\n${spa}C=3`)]));

  const before = statSync(file).mtimeMs;
  expect(await env(data, "--write", file, "--client", "spa")).toMatch(/^Up to date: /);
  expect(statSync(file).mtimeMs).toBe(before);
  expect(JSON.parse(await env(data, "--write", file, "--client", "spa", "--json"))).toEqual({
    file,
    changed: false,
    variables: ["OIDC_ISSUER", "OIDC_CLIENT_ID", "OIDC_REDIRECT_URI"],
  });
});

test("--write makes a private file, follows a link, and takes shell lines too", async () => {
  const { cwd, data } = await seeded();
  const [file, link] = [join(cwd, ".envrc"), join(cwd, "link")];
  symlinkSync(file, link);
  await env(data, "--write", link, "--format", "shell");
  expect(readFileSync(file, "utf8")).toMatch(/^# idp begin\nexport OIDC_ISSUER=.*\n(export .*\n)+# idp end\n$/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
});

test.each([
  ["# idp begin\nA=1\n", "1"],
  ["A=1\n# idp end\n# idp begin\n", "2, 3"],
  ["# idp begin\n# idp end\n# idp begin\n# idp end\n", "1, 2, 3, 4"],
])("--write into a file with broken marks: exit 7, and nothing changed: %j", async (text, where) => {
  const { cwd, data } = await seeded();
  const file = join(cwd, ".env");
  writeFileSync(file, text);
  const { code, stderr } = await idpHere(["env", "--write", file, ...data]);
  expect({ code, stderr }).toEqual({ code: 7, stderr: expect.stringContaining(`on line ${where}\n`) });
  expect(readFileSync(file, "utf8")).toBe(text);
});

test.each([
  [["--write", "x", "--format", "github"], 2, "Write it to a file yourself: idp env --format github"],
  [["--write", "/nowhere/at/all"], 2, "cannot be written (ENOENT)"],
  [["--for", "spring", "--prefix", "A_"], 2, "it takes no --prefix"],
  [["--for", "rails"], 2, "Allowed choices are authjs, next-auth, openid-client"],
  [["--client", "wb"], 3, "Did you mean web?"],
  [["--client", "worker", "--for", "authjs"], 6, "it has no redirect URI"],
  [["--client", "spa", "--for", "passport"], 6, "it is public, and this library needs a secret"],
  [["--client", "spa", "--for", "oauth2-proxy"], 6, "it is public, and this library needs a secret"],
])("idp env %j: exit %d", async (flags, code, said) => {
  const { data } = await seeded();
  const ended = await idpHere(["env", ...flags, ...data]);
  expect(ended).toMatchObject({ code, stdout: "" });
  expect(ended.stderr).toContain(said);
});

test("without clients: exit 3 and how to add one", async () => {
  const { data } = await seeded([]);
  expect(await idpHere(["env", ...data])).toMatchObject({
    code: 3,
    stderr: expect.stringContaining("idp clients add"),
  });
});

test("an address that a library returns to and the client lacks is named, with the command that adds it", async () => {
  const { data } = await seeded();
  const { code, stdout, stderr } = await idpHere(["env", "--for", "spring", "--client", "web", ...data]);
  expect(code).toBe(0);
  expect(stdout).toContain("http://localhost:3000/login/oauth2/code/idp");
  expect(stderr).toContain("idp clients edit web --add-redirect-uri http://localhost:3000/login/oauth2/code/idp");
  // It listens at its own address, in front of the app.
  const proxy = await idpHere(["env", "--for", "oauth2-proxy", "--client", "web", ...data]);
  expect(proxy.stdout).toContain('redirect_url = "http://localhost:4180/oauth2/callback"');
  expect(proxy.stdout).toContain('upstreams = ["http://localhost:3000/"]');
});

test("public clients, and the way of authentication that a client insists on, in each library's words", async () => {
  const post = {
    client_id: "post",
    client_secret: "s",
    token_endpoint_auth_method: "client_secret_post",
    scope: "openid email",
  };
  const { data } = await seeded([
    { ...post, redirect_uris: ["http://localhost:8080/login/oauth2/code/my-idp"] },
    { client_id: "spa", redirect_uris: ["http://localhost:8080/login/oauth2/code/idp"] },
  ]);
  const registration = async (client: string): Promise<unknown> => {
    const text = await env(data, "--for", "spring", "--client", client);
    return load(text);
  };
  expect(await registration("post")).toMatchObject({
    spring: {
      security: {
        oauth2: {
          client: {
            registration: {
              "my-idp": { "client-authentication-method": "client_secret_post", scope: "openid,email" },
            },
            provider: { "my-idp": { "issuer-uri": issuer } },
          },
        },
      },
    },
  });
  expect(await env(data, "--for", "spring", "--client", "spa")).toContain("client-authentication-method: none\n");
  expect(await env(data, "--for", "authjs", "--client", "spa")).toContain('token_endpoint_auth_method: "none"');
  expect(await env(data, "--for", "express-openid-connect", "--client", "post")).toContain(
    'clientAuthMethod: "client_secret_post"',
  );
});

test("on a terminal the client is asked for, and so is whether to make a file", { tags: ["script"] }, async () => {
  const { cwd } = await seeded();
  const { type, shown, ended, screen } = onTerminal("env --write .env", cwd);
  await shown("Which client?");
  type(enter);
  await shown("Create .env?");
  type(`n${enter}`);
  expect(await ended).toBe(6);
  expect(screen()).toContain("nothing was written");
  expect(existsSync(join(cwd, ".env"))).toBe(false);
  const again = onTerminal("env", cwd);
  await again.shown("Which client?");
  again.type(controlC);
  expect(await again.ended).toBe(130);
  expect(again.screen()).not.toMatch(/Error|^\s+at /m);
});

test(
  "on a terminal too, an answer that goes into a file asks nothing: it is of the client that --help says",
  { tags: ["script"] },
  async () => {
    const { cwd } = await seeded();
    const { ended, screen } = onTerminal("env > x.env", cwd);
    expect(await ended).toBe(0);
    expect(screen()).not.toContain("Which client?");
    expect(readFileSync(join(cwd, "x.env"), "utf8")).toMatch(/^OIDC_CLIENT_ID=/m);
  },
);
