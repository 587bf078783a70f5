import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { made, project } from "../helpers/init.ts";

/** The code of `idp init` suits the framework, the router and the language of the project. That it signs users in: test/flow. */

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
