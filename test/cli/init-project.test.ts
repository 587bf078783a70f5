import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";
import { made, project } from "../helpers/init.ts";

/** What `idp init` finds in a project, and the library, type and redirect URI that follow. */

test.each<[dependencies: Readonly<Record<string, string>>, library: string | null, type: string, uri: string]>([
  [{ vite: "^8.0.0" }, null, "public", "http://localhost:5173/callback"],
  [{ next: "16" }, null, "confidential", "http://localhost:3000/callback"],
  [{ next: "16", "next-auth": "4" }, "next-auth", "confidential", "http://localhost:3000/api/auth/callback/idp"],
  [{ vite: "8", "oidc-client-ts": "3" }, "oidc-client-ts", "public", "http://localhost:5173/callback"],
  [
    { vite: "8", "oidc-client-ts": "3", "react-oidc-context": "3" },
    "react-oidc-context",
    "public",
    "http://localhost:5173/callback",
  ],
  [{ koa: "3", "openid-client": "6" }, "openid-client", "confidential", "http://localhost:3000/callback"],
  [{ elysia: "1" }, null, "confidential", "http://localhost:3000/callback"],
  [{ "@react-router/dev": "7", vite: "8" }, null, "confidential", "http://localhost:5173/callback"],
  [{ "@remix-run/dev": "2", vite: "6" }, null, "confidential", "http://localhost:5173/callback"],
  [{ astro: "5", "@auth/core": "0.40" }, "authjs", "confidential", "http://localhost:4321/auth/callback/idp"],
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

test.each([
  [{ next: "^16.1.0", "next-auth": "^4.24.0" }, ["next 16", "next-auth 4"]],
  [{ koa: "3" }, ["koa 3"]],
  [{ "@react-router/dev": "7", vite: "8" }, ["@react-router/dev 7"]],
  [{ astro: "5", "@auth/core": "0.40" }, ["astro 5", "@auth/core 0"]],
])("framework and library of %j are named with their versions", async (dependencies, found) => {
  expect(await made(project(dependencies))).toMatchObject({ found });
});

test.each([
  ["go.mod", "require github.com/coreos/go-oidc/v3 v3.11.0", "go test ./...", "8080/login", "8080/logout"],
  ["requirements.txt", "authlib", "pytest", "5000/login", "5000/logout"],
  ["requirements.txt", "mozilla-django-oidc", "pytest", "8000/oidc/authenticate/", "signs out of the app alone"],
  [
    ...["pom.xml", "spring-boot-starter-oauth2-client", "mvn test", "8080/oauth2/authorization/idp"],
    "signs out of the app alone",
  ],
] as [string, string, string, string, string][])(
  "%s with %s: its own test command, where to sign in, and how to sign out or that the code does not",
  async (name, text, tests, signIn, signOut) => {
    const cwd = newFolder();
    writeFileSync(join(cwd, name), text);
    const { stderr } = await made(cwd);
    const said = stderr.replaceAll(/\s+/g, " ");
    expect(said).toContain(`idp exec -- ${tests}`);
    expect(said).toContain(`sign in at http://localhost:${signIn}`);
    expect(said).toContain(signOut);
  },
);

test("code is printed with its tabs", async () => {
  const cwd = newFolder();
  writeFileSync(join(cwd, "go.mod"), "require github.com/coreos/go-oidc/v3 v3.11.0");
  const { stdout } = await idpIn(cwd, ["init", "--no-input"]);
  expect(stdout).toContain("\n\tlog.Fatal(err)\n");
  expect(stdout).not.toContain("u0009");
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
