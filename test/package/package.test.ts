import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { borrow, installPacked, type Packed } from "../helpers/packed.ts";
import { repository } from "../helpers/readme.ts";
import { endShell, shell, startShell } from "../helpers/shell.ts";

/** What `npm pack` makes: installed in an empty folder, it is the whole program. Its types: types.test.ts. */

const folder = newFolder(afterAll);
const place = { cwd: folder };

let packed: Packed = { filename: "", files: [] };

beforeAll(async () => {
  packed = await installPacked(folder);
});

test("npm has no script to warn of when it installs it", () => {
  const { scripts } = JSON.parse(readFileSync(join(folder, "node_modules/dev-idp/package.json"), "utf8")) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  expect(Object.keys(scripts).filter((name) => /^(pre|post)?install$|^prepare$/.test(name))).toEqual([]);
  // In a clone, npm ci runs this one alone, too.
  expect(scripts).toHaveProperty("postprepare");
});

const namesBelow = (path: string): string[] =>
  readdirSync(join(repository, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(repository.length));

/** The tests of the integrations, and what they leave behind. */
const ofTests = /\/(tests|src\/test|build|target|__pycache__|[\w-]+\.egg-info)\/|_test\.go$/;

test("it holds what runs, and nothing else", () => {
  const files = packed.files.map(({ path }) => path);
  const isCommandLine = (path: string): boolean => path.startsWith("dist/cli/");
  const isTypes = (path: string): boolean => path.endsWith(".d.ts");
  const library = namesBelow("src").map((name) => name.replace(/^src\/(.*)\.ts$/, "dist/$1.js"));
  const expected = [
    ...[
      "package.json",
      "action.yml",
      "README.md",
      "CHANGELOG.md",
      "CONTRIBUTING.md",
      "SECURITY.md",
      "LICENSE",
      "llms.txt",
    ],
    ...["bin/idp.js", "bin/package.json"],
    ...["fixtures", "templates", "docs", "examples", "action", "skills"].flatMap(namesBelow),
    ...namesBelow("integrations").filter((path) => !ofTests.test(path)),
    // The library file by file, with the few files of src/client that it uses; the command line is bundled.
    ...library.filter((path) => !path.startsWith("dist/cli/") && existsSync(join(repository, path))),
  ];
  expect(files.filter((path) => !isTypes(path) && !isCommandLine(path)).sort()).toEqual(expected.sort());
  expect(expected).toEqual(
    expect.arrayContaining(["dist/index.js", "dist/http/app.js", "dist/core/protocol/tokens/revoke.js"]),
  );
  // The built files, without source maps and types: the command line is not imported.
  const built = namesBelow("dist/cli").filter((path) => !path.endsWith("/.modules.json"));
  expect(files.filter(isCommandLine).sort()).toEqual(built.sort());
  expect(built.filter((path) => !/\/([\w.-]+\.cjs|THIRD-PARTY\.txt)$/.test(path))).toEqual([]);
});

const withoutCode = (document: string): string =>
  readFileSync(join(repository, document), "utf8").replaceAll(/^```.*?^```/gms, "");

test("every link in its documents leads to one of its files", () => {
  const files = packed.files.map(({ path }) => path);
  const dead = files
    .filter((path) => path.endsWith(".md"))
    .flatMap((document) =>
      [...withoutCode(document).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)]
        .map(([, path = ""]) => join(dirname(document), path))
        .filter((path) => !files.some((file) => file === path || file.startsWith(`${path}/`)))
        .map((path) => `${document}: ${path}`),
    );
  expect(dead).toEqual([]);
});

test("each package whose code is in the command line's files is named with its version and license", () => {
  const madeOf = JSON.parse(readFileSync(join(repository, "dist/cli/.modules.json"), "utf8")) as Readonly<
    Record<string, readonly string[]>
  >;
  const paths = Object.values(madeOf)
    .flat()
    .flatMap((module) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(module)?.[0] ?? []);
  const notices = readFileSync(join(folder, "node_modules/dev-idp/dist/cli/THIRD-PARTY.txt"), "utf8").split(/^-{80}$/m);
  const packages = [...new Set(paths)];
  expect(packages.length).toBeGreaterThan(20);
  for (const path of packages) {
    const { name, version, license } = JSON.parse(readFileSync(join(repository, path, "package.json"), "utf8")) as {
      readonly name: string;
      readonly version: string;
      readonly license: string;
    };
    const notice = notices.find((text) => text.startsWith(`\n\n${name} ${version}: ${license}\n`));
    expect(notice, path).toMatch(/copyright|permission|licen[cs]e/i);
  }
});

test("npx dev-idp start, from the empty folder", async () => {
  const child = startShell("npx dev-idp start --port auto --memory", place);
  onTestFinished(() => {
    endShell(child, "SIGTERM");
  });
  const output = await new Promise<string>((resolve, reject) => {
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (more: string) => {
      text += more;
      if (/^idp ready .+\n/m.test(text)) resolve(text);
    });
    child.on("close", () => {
      reject(new Error(text));
    });
  });
  const [, issuer = ""] = /^idp ready (\S+)/m.exec(output) ?? [];
  const answer = await fetch(`${issuer}/.well-known/openid-configuration`);
  expect(await answer.json()).toMatchObject({ issuer });
  // A page: the templates are there too.
  const page = await fetch(`${issuer}/account`, { headers: { accept: "text/html" } });
  expect(await page.text()).toContain('data-page="login"');
  expect(existsSync(join(folder, ".idp"))).toBe(false);
});

test("npx dev-idp token decode", async () => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const token = `${part({ alg: "HS256" })}.${part({ sub: "alice", exp: 1 })}.c2ln`;
  const { code, stdout } = await shell(`npx dev-idp token decode ${token} --json`, place);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ header: { alg: "HS256" }, payload: { sub: "alice" }, verified: false });
});

test("from a CommonJS program: require, where Node.js has it for such packages, and import()", async () => {
  writeFileSync(
    join(folder, "app.cjs"),
    `const { createIdp } = require("dev-idp");
const { signIn } = require("dev-idp/playwright");
const { version } = require("dev-idp/package.json");
(async () => {
  const imported = await import("dev-idp");
  const idp = await createIdp({ port: 0 });
  await idp.close();
  console.log(imported.createIdp === createIdp, typeof signIn, version);
})();
`,
  );
  const { version } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as {
    readonly version: string;
  };
  expect(await shell("node --no-warnings app.cjs", place)).toEqual({
    code: 0,
    stdout: `true function ${version}\n`,
    stderr: "",
  });
});

test("dev-idp/vitest runs where vitest is installed, and says what is missing where it is not", async () => {
  borrow(folder, "vitest");
  writeFileSync(
    join(folder, "sign-in.test.js"),
    `import { idpTest } from "dev-idp/vitest";
const test = idpTest();
test("an idp", async ({ expect, idp }) => { expect((await fetch(idp.issuer + "/_idp/health")).status).toBe(200); });
`,
  );
  const ended = await shell("timeout 60 node node_modules/vitest/vitest.mjs run", place);
  expect(ended, ended.stdout + ended.stderr).toMatchObject({ code: 0 });
  expect(ended.stdout).toMatch(/1 passed/);
  rmSync(join(folder, "node_modules", "vitest"));
  expect(await shell("node -e 'import(\"dev-idp/vitest\")'", place)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining("Cannot find package 'vitest'"),
  });
});

/** An app that has a server from `idp exec`: openid-client, with the pages answered as JSON. */
const app = `import * as client from "openid-client";
const { OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, OIDC_REDIRECT_URI } = process.env;
const config = await client.discovery(new URL(OIDC_ISSUER), OIDC_CLIENT_ID, OIDC_CLIENT_SECRET, undefined, {
  execute: [client.allowInsecureRequests],
});
const pkceCodeVerifier = client.randomPKCECodeVerifier();
const [expectedState, expectedNonce] = [client.randomState(), client.randomNonce()];
let url = client.buildAuthorizationUrl(config, {
  redirect_uri: OIDC_REDIRECT_URI,
  scope: "openid profile email",
  state: expectedState,
  nonce: expectedNonce,
  code_challenge: await client.calculatePKCECodeChallenge(pkceCodeVerifier),
  code_challenge_method: "S256",
});

const cookies = new Map();
async function visit(address, form) {
  const headers = {
    accept: "application/json",
    origin: OIDC_ISSUER,
    cookie: [...cookies].map((pair) => pair.join("=")).join("; "),
  };
  const body = form && new URLSearchParams(form);
  const answer = await fetch(address, { method: form ? "POST" : "GET", headers, body, redirect: "manual" });
  for (const line of answer.headers.getSetCookie()) cookies.set(...line.split(";")[0].split("="));
  const next = answer.headers.get("location");
  return next === null ? { page: await answer.json() } : { next: new URL(next, address) };
}

let form;
while (!url.href.startsWith(OIDC_REDIRECT_URI)) {
  const { page, next } = await visit(url, form);
  form = undefined;
  if (next) url = next;
  else if (page.page === "login") form = [["csrf", page.csrf], ["username", "alice"], ["password", "alice"]];
  else if (page.page === "consent") form = [["csrf", page.csrf], ["decision", "allow"], ["scope", "profile"], ["scope", "email"]];
  else throw new Error(page.page + " " + page.state);
}
const tokens = await client.authorizationCodeGrant(config, url, { pkceCodeVerifier, expectedState, expectedNonce });
const user = await client.fetchUserInfo(config, tokens.access_token, tokens.claims().sub);
console.log("signed in", user.user.username, tokens.claims().email);
`;

// It takes a few seconds, of which npx is the most; the bound is for a machine that is busy with something else.
const atMost = 40_000;

test(
  "npx dev-idp init, then npx dev-idp exec: openid-client signs a user in, no question asked, in seconds; idp login too",
  { timeout: 3 * atMost },
  async () => {
    const here = mkdtempSync(join(folder, "empty-"));
    mkdirSync(join(here, "node_modules", ".bin"), { recursive: true });
    for (const name of ["openid-client", "oauth4webapi", "jose"]) {
      symlinkSync(join(repository, "node_modules", name), join(here, "node_modules", name));
    }
    writeFileSync(join(here, "app.mjs"), app);
    const began = performance.now();
    const line = "npx dev-idp init --no-input --type confidential && npx dev-idp exec --quiet -- node app.mjs";
    const { code, stdout, stderr } = await shell(line, { cwd: here });
    expect(code, stderr).toBe(0);
    expect(stdout).toMatch(/^Created idp.fixtures.yaml\n[\s\S]*\nsigned in alice alice@example\.com\n$/);
    expect(performance.now() - began).toBeLessThan(atMost);
    expect(readdirSync(here).sort()).toEqual([".env.local", "app.mjs", "idp.fixtures.yaml", "node_modules"]);
    const login = await shell("npx dev-idp exec --quiet -- npx dev-idp login --user alice --approve", { cwd: here });
    expect(login).toMatchObject({ code: 0, stdout: expect.stringContaining("Signed in as alice") });
  },
);
