import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { idp, newFolder } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";
import { made, project } from "../helpers/init.ts";
import { down, enter, onTerminal } from "../helpers/terminal.ts";

/** What `idp init` writes into a project: variables, and the files of its code. What exists stays. */

test("an existing .env.local keeps its values; missing ones are added, different ones are reported", async () => {
  const cwd = project({ next: "16", "next-auth": "4" });
  const file = join(cwd, ".env.local");
  writeFileSync(file, "NEXTAUTH_SECRET=mine\nOIDC_ISSUER=http://localhost:9999");
  const { stderr } = await idpIn(cwd, ["init", "--yes"]);
  const text = readFileSync(file, "utf8");
  expect(text).toMatch(
    /^NEXTAUTH_SECRET=mine\nOIDC_ISSUER=http:\/\/localhost:9999\n# idp begin\nOIDC_CLIENT_ID=my-app\n[^]*\nNEXTAUTH_URL=http:\/\/localhost:3000\n# idp end\n$/,
  );
  expect(text.match(/OIDC_ISSUER/g)).toHaveLength(1);
  expect(stderr).toContain(".env.local has other values. The app needs: OIDC_ISSUER=http://localhost:4370\n");
  // Its own lines follow the new secret.
  const { client } = await made(cwd, "--force");
  expect(readFileSync(file, "utf8")).toContain(`OIDC_CLIENT_SECRET=${String(client["client_secret"])}\n`);
  expect(readFileSync(file, "utf8").match(/OIDC_CLIENT_SECRET/g)).toHaveLength(1);
});

test(
  "on a terminal, a library that was found leaves less to ask; --yes leaves nothing",
  { tags: ["script"] },
  async () => {
    const cwd = project({ next: "16", "next-auth": "4" });
    const asked = onTerminal("init --client shop --user erin", cwd);
    await asked.shown("Redirect URI (proposed for next-auth 4)");
    asked.type(enter);
    await asked.shown("Write app/api/auth/[...nextauth]/route.js? (Y/n)");
    expect(existsSync(join(cwd, "idp.fixtures.yaml"))).toBe(false);
    asked.type(`n${enter}`);
    expect(await asked.ended, asked.screen()).toBe(0);
    expect(asked.screen()).toContain("Paste this into app/api/auth/[...nextauth]/route.js, a new file:");
    expect(existsSync(join(cwd, "app"))).toBe(false);
    const agreed = onTerminal("init --force --client shop --user erin", cwd);
    await agreed.shown("Redirect URI (proposed for next-auth 4)");
    agreed.type(enter);
    await agreed.shown("(Y/n)");
    agreed.type(enter);
    expect(await agreed.ended, agreed.screen()).toBe(0);
    expect(agreed.screen()).toContain("Wrote this into app/api/auth/[...nextauth]/route.js:");
    expect(readFileSync(join(cwd, "app/api/auth/[...nextauth]/route.js"), "utf8")).toContain("NextAuth({");
    const several = onTerminal(
      "init --force --client shop --user erin --redirect-uri http://localhost:3000/callback",
      project({ "openid-client": "6", "express-openid-connect": "3" }),
    );
    await several.shown("❯ openid-client 6");
    several.type(down + enter);
    expect(await several.ended, several.screen()).toBe(0);
    expect(several.screen()).toContain("app.use(auth({");
    const { ended, screen } = onTerminal("init --yes", project({ next: "16", "next-auth": "4" }));
    expect(await ended, screen()).toBe(0);
  },
);

test("--yes writes the files that the framework has for the code; what exists stays, and its code is printed", async () => {
  const cwd = project({ "@sveltejs/kit": "2", "@auth/sveltekit": "1" });
  const auth = join(cwd, "src", "auth.js");
  const hooks = join(cwd, "src", "hooks.server.js");
  await made(cwd);
  expect(existsSync(auth), "nobody was asked").toBe(false);
  mkdirSync(join(cwd, "src"));
  writeFileSync(hooks, "mine");
  const { pieces } = await made(cwd, "--force", "--yes");
  expect(pieces).toEqual([
    { where: "into src/auth.js", text: readFileSync(auth, "utf8").trimEnd(), written: true },
    { where: "into src/hooks.server.js, which exists already", text: expect.any(String), written: false },
  ]);
  expect(readFileSync(hooks, "utf8")).toBe("mine");
  writeFileSync(auth, "mine too");
  writeFileSync(join(cwd, "tsconfig.json"), "{}");
  const again = await made(cwd, "--force", "--yes");
  expect(again.pieces.map(({ where }) => where)).toEqual([
    "into src/auth.js, which exists already",
    "into src/hooks.server.js, which exists already",
  ]);
  expect(readFileSync(auth, "utf8")).toBe("mine too");
  expect(existsSync(join(cwd, "src", "auth.ts"))).toBe(false);
});

test("a browser app gets a file of its own, and one line for its first script", async () => {
  const cwd = project({ vite: "8", "oidc-client-ts": "3" });
  mkdirSync(join(cwd, "src"));
  writeFileSync(join(cwd, "src", "main.jsx"), "");
  const { stdout } = await idpIn(cwd, ["init"]);
  expect(stdout).toContain("\nPaste this into src/auth.js, a new file:\n\nimport { UserManager } from");
  expect(stdout).toMatch(
    /signinRedirect\(\);\n\nPaste this at the top of src\/main\.jsx:\n\nimport "\.\/auth\.js";\n\n$/,
  );
  const { pieces } = await made(cwd, "--yes", "--force");
  // Code that is there as it is needed is not printed again.
  expect((await made(cwd, "--force")).pieces).toEqual([pieces[1]]);
  expect(pieces.map(({ where }) => where)).toEqual(["into src/auth.js", "at the top of src/main.jsx"]);
  expect(pieces[1]?.text).toBe('import "./auth.js";');
});

test("a folder that cannot be written to: exit 2, and the fixtures are not there either", async () => {
  const cwd = project({ next: "16", "next-auth": "4" });
  writeFileSync(join(cwd, "app"), "a file");
  const { code, stderr } = await idpIn(cwd, ["init", "--yes"]);
  expect({ code, stderr }).toEqual({
    code: 2,
    stderr: expect.stringContaining("app/api/auth/[...nextauth]/route.js cannot be written"),
  });
  expect(existsSync(join(cwd, "idp.fixtures.yaml"))).toBe(false);
});

test("--stdout prints the file as it would be written, with the client's env, and says that its secrets are new", async () => {
  const cwd = project({ next: "16", "next-auth": "4" });
  const { code, stdout, stderr } = await idpIn(cwd, ["init", "--stdout", "--yes"]);
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr: "Each run makes new secrets: idp init will write others\n",
  });
  expect(stdout).toMatch(/\n {6}NEXTAUTH_URL: "http:\/\/localhost:3000"\n {6}NEXTAUTH_SECRET: /);
  expect(existsSync(join(cwd, "app"))).toBe(false);
});

test("--port is the port of the app, everywhere", async () => {
  const cwd = project({ next: "16", "next-auth": "4" });
  const { client } = await made(cwd, "--port", "5401");
  expect(client["redirect_uris"]).toEqual(["http://localhost:5401/api/auth/callback/idp"]);
  // The code reads the address, so it suits every port.
  const spa = project({ vite: "8", "oidc-client-ts": "3" });
  const [code] = (await made(spa)).pieces;
  expect((await made(spa, "--force", "--port", "5401")).pieces).toEqual([code]);
  const written = readFileSync(join(cwd, "idp.fixtures.yaml"), "utf8") + readFileSync(join(cwd, ".env.local"), "utf8");
  expect(written).toContain("NEXTAUTH_URL=http://localhost:5401\n");
  expect(written).not.toContain("localhost:3000");
  await made(cwd, "--port", "5402", "--force");
  const after = readFileSync(join(cwd, "idp.fixtures.yaml"), "utf8") + readFileSync(join(cwd, ".env.local"), "utf8");
  expect(after).toContain("NEXTAUTH_URL=http://localhost:5402\n");
  expect(after).not.toContain("localhost:5401");
  for (const more of [
    ["--redirect-uri", "http://localhost:1/cb"],
    ["--type", "service"],
    ["--port", "0"],
  ]) {
    const refused = await idpIn(newFolder(), ["init", "--port", "5401", ...more]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("port") });
  }
});

test("a clone of a browser app without .env.local: exec gives the names that its code reads, and env --write writes them", async () => {
  const cwd = project({ vite: "8", "oidc-client-ts": "3" });
  await made(cwd);
  rmSync(join(cwd, ".env.local"));
  const child =
    "console.log(process.env.VITE_OIDC_CLIENT_ID, process.env.OIDC_CLIENT_ID, process.env.VITE_OIDC_ISSUER)";
  const { stdout } = await idp(["exec", "--quiet", "--", process.execPath, "-e", child], { cwd });
  expect(stdout).toMatch(/^my-app my-app http:\/\/localhost:\d+\n$/);
  const { code, stderr } = await idpIn(cwd, ["env", "--write", ".env.local"]);
  expect(code, stderr).toBe(0);
  const text = readFileSync(join(cwd, ".env.local"), "utf8");
  expect(text).toContain("VITE_OIDC_CLIENT_ID=my-app\n");
  expect(text).not.toMatch(/^OIDC_/m);
  expect((await idpIn(cwd, ["env"])).stdout).toMatch(/^OIDC_ISSUER=/);
});
