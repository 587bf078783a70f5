import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { load } from "js-yaml";
import { expect, test } from "vitest";
import { idp, newFolder } from "../helpers/cli.ts";
import { idpHere, idpIn } from "../helpers/command.ts";
import { controlC, down, enter, onTerminal } from "../helpers/terminal.ts";

/** `idp init`: a fixture file, variables and code for an app. */

const file = "idp.fixtures.yaml";

/** The file as printed, for flags; read as YAML. */
async function written(...flags: readonly string[]) {
  const { code, stdout, stderr } = await idpHere(["init", "--stdout", ...flags]);
  expect(code, stderr).toBe(0);
  return load(stdout) as { users: object[]; clients: Record<string, unknown>[] };
}

test("off a terminal the rest is proposed; the file is checked, and says what comes next", async () => {
  const cwd = newFolder();
  const flags = ["--type", "confidential", "--client", "shop", "--user", "erin", "--user", "true"];
  const { code, stdout, stderr } = await idpIn(cwd, ["init", "--no-input", ...flags]);
  const text = readFileSync(join(cwd, file), "utf8");
  const secret = /client_secret: "?([0-9a-f]{32})"? /.exec(text)?.[1] ?? "";
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: [
      "Created idp.fixtures.yaml",
      "  Client        shop",
      `  Secret        ${secret}`,
      "  Redirect URI  http://localhost:3000/callback",
      "  Users         erin  password erin",
      "                true  password true",
      "Wrote .env.local",
      "  OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_REDIRECT_URI",
      "",
    ].join("\n"),
    stderr: [
      "Next: idp start",
      "To print the settings that your app needs: idp env",
      "To run your tests with it: idp exec -- npm test",
      'For coding agents, add {"mcpServers":{"dev-idp":{"command":"npx","args":["dev-idp","mcp-server"]}}} to .mcp.json, or run: idp init --mcp-config',
      "",
    ].join("\n"),
  });
  expect(text.replace(new RegExp(`"?${secret}"?`), "SECRET")).toMatchSnapshot();
  const variables = readFileSync(join(cwd, ".env.local"), "utf8");
  expect(variables).toBe(`# idp begin\n${(await idpIn(cwd, ["env"])).stdout}# idp end\n`);
  const seeded = await idpIn(cwd, ["seed"]);
  expect(seeded).toMatchObject({
    code: 0,
    stdout: "idp.fixtures.yaml: users 2 added; clients 2 added; settings 1 added\n",
  });
  const env = await idpIn(cwd, ["env"]);
  expect(env.stdout).toContain(`OIDC_CLIENT_ID=shop\nOIDC_CLIENT_SECRET=${secret}\n`);
});

test("a client of each type", async () => {
  const client = async (type: string) => (await written("--type", type, "--client", "x")).clients[0];
  expect(await client("public")).toEqual({
    client_id: "x",
    redirect_uris: ["http://localhost:3000/callback"],
    post_logout_redirect_uris: ["http://localhost:3000/"],
  });
  expect(await client("service")).toEqual({
    client_id: "x",
    client_secret: expect.stringMatching(/^[\w-]{32}$/),
    grant_types: ["client_credentials"],
  });
  expect(await client("cli")).toEqual({
    client_id: "x",
    redirect_uris: ["http://127.0.0.1:*/callback"],
    grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
  });
  expect((await written("--type", "service")).users).toEqual([]);
});

test(
  "idp login gets its own client, while env and exec still use the app; a service signs nobody in",
  { tags: ["script"] },
  async () => {
    const cwd = newFolder();
    for (const type of ["public", "confidential", "cli"] as const) {
      expect((await written("--type", type, "--client", "x")).clients[1]).toEqual({
        client_id: "idp-cli",
        redirect_uris: ["http://127.0.0.1:*/callback"],
        grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
      });
    }
    expect((await written("--type", "service")).clients).toHaveLength(1);
    expect((await written("--type", "cli", "--client", "idp-cli")).clients).toHaveLength(1);
    // Behind idp-cli by name, and as open a redirect URI.
    await idpIn(cwd, ["init", "--no-input", "--type", "cli", "--client", "zeta"]);
    const child = "process.stdout.write(process.env.OIDC_CLIENT_ID)";
    const exec = await idp(["exec", "--quiet", "--", process.execPath, "-e", child], { cwd });
    expect(exec).toMatchObject({ code: 0, stdout: "zeta" });
    await idpIn(cwd, ["seed"]);
    expect((await idpIn(cwd, ["env"])).stdout).toContain("OIDC_CLIENT_ID=zeta\n");
    const asked = onTerminal("env", cwd);
    expect(await asked.ended, "there is one app to mean").toBe(0);
    expect(asked.screen()).toContain("OIDC_CLIENT_ID=zeta");
  },
);

test("two runs make two secrets", async () => {
  const secret = async () => (await written("--type", "service")).clients[0]?.["client_secret"];
  expect(await secret()).not.toBe(await secret());
});

test("nothing is overwritten: exit 4; --force replaces, and only this file", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, file), "mine");
  const flags = ["init", "--no-input", "--type", "public"];
  expect(await idpIn(cwd, flags)).toMatchObject({ code: 4, stdout: "", stderr: expect.stringContaining("--force") });
  expect(readFileSync(join(cwd, file), "utf8")).toBe("mine");
  expect(await idpIn(cwd, [...flags, "--force"])).toMatchObject({ code: 0 });
  expect(readFileSync(join(cwd, file), "utf8")).toContain("client_id");
  const other = newFolder();
  writeFileSync(join(other, "idp.fixtures.json"), "{}");
  expect(await idpIn(other, [...flags, "--force"])).toMatchObject({ code: 4, stdout: "" });
  expect(existsSync(join(other, file))).toBe(false);
});

test.each([
  [["--for", "rails"], /Allowed choices are authjs, next-auth/],
  [["--for", "passport", "--type", "public"], /--for passport is for another kind of app than --type public/],
  [["--for", "passport", "--type", "service"], /another kind of app/],
  [["--type", "mobile"], /Allowed choices are public, confidential, service, cli/],
  [["--type", "service", "--redirect-uri", "http://localhost/"], /it takes no --redirect-uri/],
  [["--type", "public", "--redirect-uri", "http://example.test/"], /--redirect-uri "http:\/\/example.test\/" is http/],
  [["--type", "confidential", "--redirect-uri", "http://127.0.0.1:*/"], /--redirect-uri .* leaves the port open/],
  [["--type", "public", "--user", "a b"], /--user "a b" is not a username/],
  [["--type", "public", "--client", "é"], /--client "é" is not a client_id/],
])("idp init %j: exit 2", async (flags, said) => {
  const { code, stdout, stderr } = await idpIn(newFolder(), ["init", "--stdout", ...flags]);
  expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  expect(stderr).toMatch(said);
});

test("on a terminal each is asked for, and a wrong answer again", { tags: ["script"] }, async () => {
  const cwd = newFolder();
  const { type, shown, ended, screen } = onTerminal("init", cwd);
  await shown("Command line, device");
  for (const line of [
    "❯ Browser app           public, PKCE",
    "  Server-rendered app   confidential",
    "  API or worker         client credentials",
    "  Command line, device  public, any port",
  ]) {
    expect(screen()).toContain(line);
  }
  type(down);
  await shown("❯ Server-rendered app   confidential");
  type(enter);
  await shown("Which library signs users in?");
  await shown("Another one, or none yet");
  type(enter);
  await shown("Its client_id (app)");
  type(`..${enter}`);
  await shown("1 to 200 characters of ASCII");
  type(`\u0015shop${enter}`);
  await shown("Redirect URI (http://localhost:3000/callback)");
  type(`nowhere${enter}`);
  await shown('"nowhere" is not absolute');
  type(`\u0015http://localhost:8080/cb${enter}`);
  await shown("Users to sign in with (alice, bob)");
  type(`carol dave${enter}`);
  expect(await ended, screen()).toBe(0);
  expect(load(readFileSync(join(cwd, file), "utf8"))).toMatchObject({
    users: [{ username: "carol" }, { username: "dave" }],
    clients: [{ client_id: "shop", redirect_uris: ["http://localhost:8080/cb"] }, { client_id: "idp-cli" }],
  });
});

test("Ctrl+C in a question: exit 130, no stack trace, and no file", { tags: ["script"] }, async () => {
  const cwd = newFolder();
  const { type, shown, ended, screen } = onTerminal("init --type public", cwd);
  await shown("Which library signs users in?");
  type(controlC);
  expect(await ended).toBe(130);
  expect(screen()).not.toMatch(/Error|^\s+at /m);
  expect(existsSync(join(cwd, file))).toBe(false);
});

test("in a git repository, what holds secrets is added to .gitignore, once", async () => {
  const cwd = newFolder();
  const ignore = join(cwd, ".gitignore");
  await idpIn(cwd, ["init", "--no-input", "--type", "public"]);
  expect(existsSync(ignore)).toBe(false);
  writeFileSync(ignore, "node_modules\n/.idp");
  const { stderr } = await idpIn(cwd, ["init", "--no-input", "--type", "public", "--force"]);
  expect(stderr).toContain("Added to .gitignore: .env.local\n");
  expect(readFileSync(ignore, "utf8")).toBe("node_modules\n/.idp\n.env.local\n");
  expect((await idpIn(cwd, ["init", "--no-input", "--type", "public", "--force"])).stderr).not.toContain(".gitignore");
  // What create-next-app and create-vite write.
  for (const pattern of [".env*", "*.local"]) {
    writeFileSync(ignore, `.idp/\n${pattern}\n`);
    expect((await idpIn(cwd, ["init", "--type", "public", "--force"])).stderr).not.toContain(".gitignore");
  }
});
