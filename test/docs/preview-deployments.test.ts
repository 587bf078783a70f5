import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { idpHere } from "../helpers/command.ts";
import { blocks } from "../helpers/readme.ts";

/** docs/preview-deployments.md: its fixtures are accepted, its commands run, and what it says of shared hosts is so. */

const folder = () => mkdtempSync(join(tmpdir(), "preview-"));

test("the commands of a deployment register its address and take it away", async () => {
  const data = join(folder(), "data");
  const lines = blocks("Register the address of each deployment", "sh");
  expect(lines).toHaveLength(2);
  const [fixtures = ""] = blocks("Where a pattern is right", "yaml");
  const at = ["--data", data];
  expect(await idpHere(["seed", fixtureFile(fixtures), ...at])).toMatchObject({ code: 0 });
  const urls: unknown[] = [];
  for (const line of lines) {
    const words = line.replaceAll('"', "").replace("$PREVIEW_URL", "https://app-7.example.com").split(" ").slice(1);
    expect(await idpHere([...words, ...at])).toMatchObject({ code: 0 });
    const { stdout } = await idpHere(["clients", "show", "shop", "--json", ...at]);
    urls.push((JSON.parse(stdout) as { redirect_uris: unknown }).redirect_uris);
  }
  const local = "http://localhost:3000/callback";
  expect(urls).toEqual([[local, "https://app-7.example.com/callback"], [local]]);
});

function fixtureFile(text: string): string {
  const cwd = folder();
  mkdirSync(cwd, { recursive: true });
  const file = join(cwd, "idp.fixtures.yaml");
  writeFileSync(file, text);
  return file;
}

test("below a public suffix, a pattern needs text on both sides, and there is a remark", async () => {
  const [fixtures = ""] = blocks("Hosts that many people share", "yaml");
  const check = (text: string) => idpHere(["seed", "--check", fixtureFile(text)]);
  const { code, stderr } = await check(fixtures);
  expect(code).toBe(0);
  expect(stderr).toMatch(
    /Anybody can take a name below vercel\.app that matches https:\/\/shop-\*-acme\.vercel\.app\/callback of shop/,
  );
  for (const pattern of ["*.vercel.app", "shop-*.vercel.app"]) {
    const refused = await check(fixtures.replace("shop-*-acme.vercel.app", pattern));
    expect(refused.code).toBe(7);
    expect(refused.stderr).toContain("idp.fixtures.yaml:5:");
    expect(refused.stderr).toContain('anybody can take below "vercel.app"');
  }
  const own = await check(blocks("Where a pattern is right", "yaml")[0] ?? "");
  expect(own).toMatchObject({ code: 0 });
  expect(own.stderr).not.toContain("Anybody");
});
