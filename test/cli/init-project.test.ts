import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { idp, newFolder } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";
import { down, enter, onTerminal } from "../helpers/terminal.ts";

/** `idp init` in a project: what it finds there, the variables that it writes and the code that it prints. That this code signs users in: test/flow. */

/** A folder with a package.json. */
function project(dependencies: Readonly<Record<string, string>>, more: Readonly<Record<string, unknown>> = {}): string {
  const cwd = newFolder();
  writeFileSync(join(cwd, "package.json"), JSON.stringify({ name: "@team/my app", dependencies, ...more }));
  return cwd;
}

interface Made {
  readonly client: Readonly<Record<string, unknown>>;
  readonly found: readonly string[];
  readonly library: string | null;
  readonly env: object | null;
  readonly pieces: readonly { readonly where: string; readonly text: string; readonly written: boolean }[];
}

async function made(cwd: string, ...flags: readonly string[]): Promise<Made & { readonly stderr: string }> {
  const { code, stdout, stderr } = await idpIn(cwd, ["init", "--json", ...flags]);
  expect(code, stderr).toBe(0);
  return { ...(JSON.parse(stdout) as Made), stderr };
}

test.each<[dependencies: Readonly<Record<string, string>>, library: string | null, type: string, uri: string]>([
  [{ vite: "^8.0.0" }, null, "public", "http://localhost:5173/callback"],
  [{ next: "16" }, null, "confidential", "http://localhost:3000/callback"],
  [{ next: "16", "next-auth": "4" }, "next-auth", "confidential", "http://localhost:3000/api/auth/callback/idp"],
  [{ vite: "8", "oidc-client-ts": "3" }, "oidc-client-ts", "public", "http://localhost:5173/callback"],
  [{ next: "16", "oidc-client-ts": "3" }, "oidc-client-ts", "public", "http://localhost:3000/callback"],
  [{ express: "5", "@auth/express": "0.12" }, "authjs", "confidential", "http://localhost:3000/auth/callback/idp"],
  [{ nuxt: "4", "nuxt-auth-utils": "0.5" }, "nuxt-auth-utils", "confidential", "http://localhost:3000/auth/oidc"],
  [{ hono: "4", "@hono/oidc-auth": "1" }, "hono-oidc-auth", "confidential", "http://localhost:3000/callback"],
  [{ fastify: "5", "@fastify/oauth2": "8" }, "fastify-oauth2", "confidential", "http://localhost:3000/callback"],
  [
    { "@nestjs/core": "11", "passport-openidconnect": "0.1" },
    "passport",
    "confidential",
    "http://localhost:3000/oauth2/redirect",
  ],
  [{ astro: "5", "better-auth": "1" }, "better-auth", "confidential", "http://localhost:4321/api/auth/callback/idp"],
  [
    { "@angular/core": "21", "angular-auth-oidc-client": "21" },
    "angular-auth-oidc-client",
    "public",
    "http://localhost:4200/",
  ],
  [
    { express: "5", "passport-openidconnect": "0.1" },
    "passport",
    "confidential",
    "http://localhost:3000/oauth2/redirect",
  ],
])("a project with %j: library, type and redirect URI follow", async (dependencies, library, type, uri) => {
  const result = await made(project(dependencies));
  expect(result).toMatchObject({ library, client: { client_id: "my-app", redirect_uris: [uri] } });
  expect("client_secret" in result.client).toBe(type === "confidential");
  expect(result.pieces.length > 0).toBe(library !== null);
});

test("openid-client in NestJS, whose app takes no routes of Express: the code asks for the place of each step", async () => {
  const { pieces } = await made(project({ "@nestjs/core": "11", express: "5", "openid-client": "6" }));
  expect(pieces.map(({ where }) => where)).toEqual([
    expect.stringContaining("call beginSignIn, endSignIn and signOutUrl"),
  ]);
});

test("framework and library are named with their versions", async () => {
  const { found } = await made(project({ next: "^16.1.0", "next-auth": "^4.24.0" }));
  expect(found).toEqual(["next 16", "next-auth 4"]);
});

test.each([
  ["pom.xml", "<artifactId>spring-boot-starter-oauth2-client</artifactId>", "spring", 8080, "/login/oauth2/code/idp"],
  ["requirements.txt", "mozilla-django-oidc==4.0.1", "django", 8000, "/oidc/callback/"],
  ["pyproject.toml", 'dependencies = ["Authlib"]', "authlib", 5000, "/callback"],
  ["go.mod", "require github.com/coreos/go-oidc/v3 v3.11.0", "go", 8080, "/callback"],
])("%s with %s: the library is found; its configuration has the values", async (name, text, library, port, path) => {
  const cwd = newFolder();
  writeFileSync(join(cwd, name), text);
  const { client, pieces, ...result } = await made(cwd);
  expect(result).toMatchObject({ library, env: null });
  expect(client["redirect_uris"]).toEqual([`http://localhost:${port}${path}`]);
  expect(pieces[0]?.text).toContain(String(client["client_secret"]));
  expect(existsSync(join(cwd, ".env.local"))).toBe(false);
});

test("several libraries: the first is taken, and the others are named; --for takes another, found or not", async () => {
  const cwd = project({ express: "5", "express-openid-connect": "3", "openid-client": "6" });
  const several = await idpIn(cwd, ["init", "--no-input"]);
  expect(several.stderr).toContain(
    "Found openid-client 6 and express-openid-connect 3: took the first. Instead: --for express-openid-connect\n",
  );
  expect((await made(cwd, "--force", "--for", "express-openid-connect")).library).toBe("express-openid-connect");
  expect((await made(cwd, "--force", "--for", "keycloak-js")).client).not.toHaveProperty("client_secret");
});

test("unknown project: a web app with a secret, with a note", async () => {
  const { code, stdout, stderr } = await idpIn(newFolder(), ["init"]);
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("http://localhost:3000/callback") });
  expect(stderr).toMatch(
    /^No framework is known here: this is for a web app with a secret\. .*--type TYPE or --for LIBRARY\n/,
  );
});

test("a framework without a known library: it says so", async () => {
  const { stderr } = await idpIn(project({ nuxt: "4" }), ["init"]);
  expect(stderr).toContain(
    "No library that signs users in is known in this nuxt 4 app. To print the code for one, add --for LIBRARY\n",
  );
});

test("next-auth: a file for the router and the language of the project", async () => {
  const next = { next: "16" };
  const where = async (cwd: string): Promise<readonly string[]> => (await made(cwd)).pieces.map((piece) => piece.where);
  const four = { ...next, "next-auth": "4" };
  expect(await where(project(four))).toEqual(["into app/api/auth/[...nextauth]/route.js, a new file"]);
  const pages = project(four);
  mkdirSync(join(pages, "src", "pages"), { recursive: true });
  writeFileSync(join(pages, "tsconfig.json"), "{}");
  expect(await where(pages)).toEqual(["into src/pages/api/auth/[...nextauth].ts, a new file"]);
  const five = project({ ...next, "next-auth": "5.0.0-beta.30" });
  const { pieces } = await made(five);
  expect(pieces.map((piece) => piece.where)).toEqual([
    "into auth.js, a new file",
    "into app/api/auth/[...nextauth]/route.js, a new file",
  ]);
  expect(pieces[0]?.text).toContain("  secret: process.env.AUTH_SECRET,\n");
  expect(readFileSync(join(five, ".env.local"), "utf8")).toMatch(/^AUTH_SECRET=[\w-]{43}$/m);
});

/** A project with better-auth and these dependencies. */
const betterAuth = (dependencies: Readonly<Record<string, string>>): string =>
  project({ ...dependencies, "better-auth": "1" });

test.each<[string, cwd: () => string, files: readonly string[]]>([
  [
    "better-auth, Next",
    () => betterAuth({ next: "16" }),
    ["lib/auth.js", "app/api/auth/[...all]/route.js", "app/logout/route.js"],
  ],
  [
    "better-auth, SvelteKit",
    () => betterAuth({ "@sveltejs/kit": "2" }),
    ["src/lib/server/auth.js", "src/hooks.server.js", "src/routes/logout/+server.js"],
  ],
  [
    "better-auth, Nuxt",
    () => betterAuth({ nuxt: "4" }),
    ["server/utils/auth.js", "server/api/auth/[...all].js", "server/routes/logout.get.js"],
  ],
  [
    "better-auth, Astro",
    () => betterAuth({ astro: "5" }),
    ["src/lib/auth.js", "src/pages/api/auth/[...all].js", "src/pages/logout.js"],
  ],
  [
    "nuxt-auth-utils",
    () => project({ nuxt: "4", "nuxt-auth-utils": "0.5" }),
    ["server/routes/auth/oidc.get.js", "server/routes/logout.get.js"],
  ],
  [
    "Auth.js, Nuxt",
    () => project({ nuxt: "4", "@sidebase/nuxt-auth": "1", "next-auth": "4" }),
    ["server/api/auth/[...].js"],
  ],
])("%s: the files that its documentation names", async (_, folder, files) => {
  const cwd = folder();
  const { pieces } = await made(cwd, "--yes");
  expect(pieces.filter(({ written }) => written).map(({ where }) => where)).toEqual(
    files.map((name) => `into ${name}`),
  );
  expect(files.filter((name) => !existsSync(join(cwd, name)))).toEqual([]);
});

test.each<[dependencies: Readonly<Record<string, string>>, at: string, returnsTo: string, code: RegExp]>([
  [{ next: "16", "next-auth": "4" }, ":3000/api/auth/signout", ":3000/", /events: \{\n.*signOut/],
  [{ next: "16", "next-auth": "5.0.0-beta.30" }, ":3000/api/auth/signout", ":3000/", /events: \{\n.*signOut/],
  [{ "@sveltejs/kit": "2", "@auth/sveltekit": "1" }, ":5173/auth/signout", ":5173/", /events: \{\n.*signOut/],
  [{ express: "5", "@auth/express": "0.12" }, ":3000/auth/signout", ":3000/", /events: \{\n.*signOut/],
  [{ next: "16", "better-auth": "1" }, ":3000/logout", ":3000/", /auth\.api\.signOut/],
  [{ nuxt: "4", "nuxt-auth-utils": "0.5" }, ":3000/logout", ":3000/", /clearUserSession/],
  // It sends its baseURL, which has no slash at the end.
  [{ express: "5", "express-openid-connect": "3" }, ":3000/logout", ":3000", /idpLogout: true/],
  [{ express: "5", "openid-client": "6" }, ":3000/logout", ":3000/", /buildEndSessionUrl/],
  [{ express: "5", "passport-openidconnect": "0.1" }, ":3000/logout", ":3000/", /req\.logout/],
  [{ hono: "4", "@hono/oidc-auth": "1" }, ":3000/logout", ":3000/", /revokeSession\(c\)/],
  [{ fastify: "5", "@fastify/oauth2": "8" }, ":3000/logout", ":3000/", /clearCookie/],
  [{ vite: "8", "oidc-client-ts": "3" }, "", ":5173/", /signoutRedirect/],
])("the code for %j signs out at the provider too, and comes back to an address of the fixtures", async (...row) => {
  const [dependencies, at, returnsTo, code] = row;
  const cwd = project(dependencies);
  const { pieces, stderr } = await made(cwd);
  expect(pieces.map(({ text }) => text).join("\n")).toMatch(code);
  if (at !== "") expect(stderr).toContain(`To sign out, at the provider too: http://localhost${at}\n`);
  expect(readFileSync(join(cwd, "idp.fixtures.yaml"), "utf8")).toContain(
    `post_logout_redirect_uris:\n      - "http://localhost${returnsTo}"\n`,
  );
});

test("TypeScript is told that the variables are there", async () => {
  const cwd = project({ "openid-client": "6" });
  writeFileSync(join(cwd, "tsconfig.json"), "{}");
  expect((await made(cwd)).pieces[0]?.text).toContain("new URL(process.env.OIDC_ISSUER!),");
});

test.each([
  ["@auth/sveltekit", "src/auth"],
  ["better-auth", "src/lib/server/auth"],
  ["openid-client", null],
])(
  "SvelteKit with %s: variables come from its own module, since its checks do not know process",
  async (library, file) => {
    for (const [config, extension, value] of [
      ["tsconfig.json", "ts", "env.OIDC_CLIENT_ID!"],
      ["jsconfig.json", "js", 'env.OIDC_CLIENT_ID ?? ""'],
    ] as const) {
      const cwd = project({ "@sveltejs/kit": "2", [library]: "1" });
      writeFileSync(join(cwd, config), "{}");
      const { pieces } = await made(cwd, "--yes");
      if (file !== null) expect(readFileSync(join(cwd, `${file}.${extension}`), "utf8").trim()).toBe(pieces[0]?.text);
      expect(pieces[0]?.text).toMatch(/^import \{ env \} from "\$env\/dynamic\/private";$/m);
      expect(pieces[0]?.text).toContain(value);
      for (const { text } of pieces) expect(text).not.toContain("process");
    }
  },
);

test("code for the browser reads the variables that its framework lets through; where it lets none, it has the values", async () => {
  const cwd = project({ vite: "8", "oidc-client-ts": "3" });
  const { pieces } = await made(cwd);
  expect(pieces[0]?.text).toContain("  authority: import.meta.env.VITE_OIDC_ISSUER,\n");
  expect(readFileSync(join(cwd, ".env.local"), "utf8")).toContain("\nVITE_OIDC_CLIENT_ID=my-app\n");
  const angular = await made(project({ "@angular/core": "21", "oidc-client-ts": "3" }));
  expect(angular.env).toBeNull();
  expect(angular.pieces[0]?.text).toContain('  authority: "http://localhost:4370",\n');
});

test("Angular: the code has the server's values and takes its own address, so it suits every port", async () => {
  const cwd = project({ "@angular/core": "22", "angular-auth-oidc-client": "22" });
  const { pieces } = await made(cwd);
  expect(pieces.map(({ where }) => where)).toEqual([
    "into src/app/app.config.ts: provideHttpClient() and auth go among its providers",
    "at the top of src/app/app.ts",
    "into its class App",
    "into its template, src/app/app.html",
  ]);
  expect(pieces[0]?.text).toContain(
    '  redirectUrl: location.origin + "/",\n  postLogoutRedirectUri: location.origin + "/",\n',
  );
  const moved = await made(cwd, "--force", "--port", "5401");
  expect(moved.client["redirect_uris"]).toEqual(["http://localhost:5401/"]);
  expect(moved.pieces).toEqual(pieces);
});

test("code for a CommonJS server requires", async () => {
  const libraries = { express: "5", "express-openid-connect": "3" };
  const text = async (type: string): Promise<string> =>
    (await made(project(libraries, { type }))).pieces[0]?.text ?? "";
  expect(await text("commonjs")).toMatch(/^const \{ auth \} = require\("express-openid-connect"\);\n/);
  expect(await text("module")).toMatch(/^import \{ auth \} from "express-openid-connect";\n/);
});

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
