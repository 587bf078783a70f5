import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { repository } from "../helpers/readme.ts";
import { endShell, shell, startShell } from "../helpers/shell.ts";

/** What `npm pack` makes: installed in an empty folder, it is the whole program. */

const folder = newFolder(afterAll);
const place = { cwd: folder };

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string; readonly mode: number }[];
}
let packed: Packed = { filename: "", files: [] };

beforeAll(async () => {
  const pack = await shell(`npm pack --json --ignore-scripts --pack-destination '${folder}'`, { cwd: repository });
  expect(pack.code, pack.stderr).toBe(0);
  [packed = packed] = JSON.parse(pack.stdout) as readonly Packed[];
  writeFileSync(join(folder, "package.json"), JSON.stringify({ name: "an-app", private: true, type: "module" }));
  const flags = "--prefer-offline --no-audit --no-fund --ignore-scripts";
  const install = await shell(`npm install ${flags} ./${packed.filename}`, place);
  expect(install.code, install.stderr).toBe(0);
}, 120_000);

const namesBelow = (path: string): string[] =>
  readdirSync(join(repository, path), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(repository.length));

test("it holds what runs, and nothing else", () => {
  const expected = [
    ...["package.json", "README.md", "CHANGELOG.md", "LICENSE", "bin/idp.js"],
    ...[...namesBelow("fixtures"), ...namesBelow("templates")],
    ...namesBelow("src").map((name) => name.replace(/^src\/(.*)\.ts$/, "dist/$1.js")),
  ];
  const files = packed.files.map(({ path }) => path);
  const types = (path: string): boolean => path.endsWith(".d.ts");
  expect(files.filter((path) => !types(path)).sort()).toEqual(expected.sort());
  // Types are those of the library; nobody imports the command line.
  expect(files.filter((path) => types(path) && path.startsWith("dist/cli/"))).toEqual([]);
});

test("npx idp start, from the empty folder", async () => {
  const child = startShell("npx idp start --port auto --memory", place);
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

test("npx idp token decode", async () => {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const token = `${part({ alg: "HS256" })}.${part({ sub: "alice", exp: 1 })}.c2ln`;
  const { code, stdout } = await shell(`npx idp token decode ${token} --json`, place);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ header: { alg: "HS256" }, payload: { sub: "alice" }, verified: false });
});

test('import { createIdp } from "idp", with types and without those of other packages', async () => {
  writeFileSync(
    join(folder, "app.ts"),
    `import { createIdp, type Idp } from "idp";
const idp: Idp = await createIdp({ port: 0, fixtures: { users: [{ username: "erin" }], clients: [{ client_id: "shop", redirect_uris: ["http://localhost:3000/callback"] }] } });
const { access_token }: { access_token: string } = await idp.issueTokens({ user: "erin", client: "shop", scope: "openid" });
const parts: 3 = access_token.split(".").length as 3;
// @ts-expect-error -- a user has to be named
void (() => idp.issueTokens({ client: "shop" }));
console.log(parts);
await idp.close();
`,
  );
  const compilerOptions = {
    target: "es2023",
    module: "nodenext",
    strict: true,
    lib: ["es2023"],
    types: ["node"],
    typeRoots: [join(repository, "node_modules", "@types")],
  };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["app.ts"] }));
  expect(await shell(`'${join(repository, "node_modules/.bin/tsc")}'`, place)).toMatchObject({ code: 0, stdout: "" });
  expect(await shell("node app.js", place)).toEqual({ code: 0, stdout: "3\n", stderr: "" });
});
