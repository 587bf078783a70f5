import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { borrow, installPacked } from "../helpers/packed.ts";
import { repository } from "../helpers/readme.ts";
import { shell } from "../helpers/shell.ts";

/** The types of the package that `npm pack` makes, as TypeScript finds them in an app. */

const folder = newFolder(afterAll);
const place = { cwd: folder };

beforeAll(async () => {
  await installPacked(folder);
});

/** Compiles programs, by the names of their files, in strict mode. */
const compile = (programs: Readonly<Record<string, string>>, options: Readonly<Record<string, unknown>>) => {
  borrow(folder, "@types/node", "undici-types");
  for (const [file, text] of Object.entries(programs)) writeFileSync(join(folder, file), text);
  const compilerOptions = { target: "es2023", strict: true, lib: ["es2023"], types: ["node"], ...options };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: Object.keys(programs) }));
  return shell(`'${join(repository, "node_modules/.bin/tsc")}'`, place);
};

const program = `import { signIn, type SignInPage } from "dev-idp/playwright";
import { createIdp, OperationError, type FixtureUser, type Idp } from "dev-idp";
const erin: FixtureUser = { username: "erin" };
const idp: Idp = await createIdp({ port: 0, fixtures: { users: [erin], clients: [{ client_id: "shop", redirect_uris: ["http://localhost:3000/callback"] }] } });
const { access_token }: { access_token: string } = await idp.issueTokens({ user: "erin", client: "shop", scope: "openid" });
const parts: 3 = access_token.split(".").length as 3;
// @ts-expect-error -- a user has to be named
void (() => idp.issueTokens({ client: "shop" }));
// @ts-expect-error -- there is no such operation
void (() => idp.call("users.suspnd", { username: "erin" }));
// @ts-expect-error -- a status of its own
const frank: FixtureUser = { username: "frank", status: "gone" };
const constant = { clients: [{ client_id: "job", client_secret: "job-secret", grant_types: ["client_credentials"] }] } as const;
void (() => createIdp({ fixtures: constant }));
void (() => createIdp({ fixtures: [constant, { users: [erin] }] }));
const why = await idp.call("users.show", { username: "nobody" }).catch((error: unknown) => error);
console.log(parts, frank.username, why instanceof OperationError && why.code);
await idp.close();
export const go = (page: SignInPage): Promise<void> => signIn(page, { user: "alice" });
`;

test("types without those of other packages, which are looked into too", async () => {
  expect(await compile({ "app.ts": program }, { module: "node16" })).toMatchObject({ code: 0, stdout: "" });
  expect(await shell("node app.js", place)).toEqual({ code: 0, stdout: "3 frank not_found\n", stderr: "" });
});

test("types as a bundler looks for them, of dev-idp/vitest and of dev-idp/playwright with a page of Playwright too", async () => {
  borrow(folder, "vitest", "playwright-core", "playwright", "@playwright/test");
  const tests = `import type { Page } from "playwright-core";
import { test as base } from "@playwright/test";
import { idpFixtures, signIn, type IdpTestFixtures, type IdpWorkerFixtures } from "dev-idp/playwright";
import { idpTest } from "dev-idp/vitest";
const inBrowser = base.extend<IdpTestFixtures, IdpWorkerFixtures>(
  idpFixtures({ issuer: "http://localhost:4370", adminToken: process.env["IDP_ADMIN_TOKEN"] }),
);
inBrowser("one", async ({ idp }) => {
  const revoked: readonly unknown[] = (await idp.revoke({ user: "alice", client: "demo-app" })).revoked;
  console.log(revoked);
});
const test = idpTest({ settings: { login: "password" } });
test("one", async ({ idp }) => {
  const status: "active" | "revoked" = (await idp.issueGrant({ user: "alice", client: "demo-app" })).status;
  console.log(status);
  // @ts-expect-error -- there is no such member
  idp.issuerz;
});
export const go = (page: Page) => signIn(page, { user: "alice", approve: false });
// @ts-expect-error -- a user has to be named
export const wrong = (page: Page) => signIn(page, { approve: true });
`;
  const options = {
    module: "esnext",
    moduleResolution: "bundler",
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    // Types of vitest and Playwright need those of browsers.
    skipLibCheck: true,
  };
  const compiled = await compile({ "app.ts": program, "tests.ts": tests }, options);
  expect(compiled).toMatchObject({ code: 0, stdout: "" });
});
