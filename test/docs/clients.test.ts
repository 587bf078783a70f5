import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { repository } from "../helpers/readme.ts";

/** docs/clients.md names the clients that the flow tests run, in the versions that are installed. */

const read = (path: string): string => readFileSync(join(repository, path), "utf8");
const { packages } = JSON.parse(read("package-lock.json")) as {
  readonly packages: Readonly<Record<string, { readonly version: string }>>;
};
const rows = [...read("docs/clients.md").matchAll(/^\| (\S+) +\| ([\d.]+) +\|.*\| `([\w/-]+)` +\|$/gm)].map(
  ([, name = "", version = "", file = ""]) => ({ name, version, file }),
);
/** Installed by pip, by Go and by the system, where they are. */
const ofOthers = ["Authlib", "PyJWT", "mod_auth_openidc", "omniauth_openid_connect", "python3-saml", "crewjam/saml"];

test("each version is the one in package-lock.json", () => {
  const ofNode = rows.filter(({ name }) => !ofOthers.includes(name));
  expect(ofNode.length).toBe(rows.length - ofOthers.length);
  for (const { name, version } of ofNode) expect(packages[`node_modules/${name}`]?.version, name).toBe(version);
});

test("each client has a test that imports it", () => {
  for (const { name, file } of rows) {
    const path = `test/flow/${file}.test.ts`;
    expect(existsSync(join(repository, path)), path).toBe(true);
    expect(read(path), path).toContain(name);
  }
});

test("each test of a client is in the table", () => {
  const named = new Set(rows.map(({ file }) => file));
  const files = ["browser", "clients"].flatMap((folder) =>
    readdirSync(join(repository, "test/flow", folder))
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => `${folder}/${name.replace(".test.ts", "")}`),
  );
  expect(files.filter((name) => !named.has(name))).toEqual([]);
});
