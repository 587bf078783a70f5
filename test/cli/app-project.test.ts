import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { appProject as projectOfApp } from "../../src/check/frame/process/app-project.ts";
import type { StartCommand } from "../../src/check/frame/process/app-process.ts";
import { projectOf } from "../../src/cli/commands/init/project.ts";
import { newFolder } from "../helpers/cli.ts";

/** The line to change is that of the app's own language and library, whatever else lies in its folder. */

function folderWith(files: Readonly<Record<string, string>>): string {
  const folder = newFolder();
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return folder;
}

const appProject = (command: StartCommand | null, cwd: string) => projectOfApp(command, { cwd, projectIn: projectOf });

const packageJson = JSON.stringify({ dependencies: { "@node-saml/passport-saml": "5", "openid-client": "6" } });
const both = { "package.json": packageJson, "requirements.txt": "Flask\nAuthlib\npython3-saml\n" };

test.each([
  ["python", ["python3", "app.py"]],
  ["a program of Python", ["/srv/venv/bin/gunicorn", "app:app"]],
  ["a shell that starts one", ["sh", "-c", "PORT=3000 flask run"]],
] as const satisfies readonly (readonly [string, StartCommand])[])(
  "an app that %s starts, beside a package.json",
  (_what, command) => {
    const { library, has, mentions } = appProject(command, folderWith(both));
    expect(library).toBe("authlib");
    expect([has("@node-saml/passport-saml"), mentions("python3-saml")]).toEqual([false, true]);
  },
);

test("an app of Node.js beside a requirements.txt", () => {
  const { library, has, mentions } = appProject(["npm", "start"], folderWith(both));
  expect(library).toBe("openid-client");
  expect([has("@node-saml/passport-saml"), mentions("python3-saml")]).toEqual([true, false]);
});

test("an app that runs already: its language is known where only one is there", () => {
  expect(appProject(null, folderWith({ "package.json": packageJson })).library).toBe("openid-client");
  expect(appProject(null, folderWith({ "requirements.txt": "authlib" })).library).toBe("authlib");
  const { library, has, mentions } = appProject(null, folderWith(both));
  expect([library, has("openid-client"), mentions("python3-saml")]).toEqual([null, false, false]);
});

test("an app in a language without fixes is told no library of another one", () => {
  const folder = folderWith({ "package.json": packageJson, Gemfile: "gem 'omniauth'" });
  expect(appProject(["bundle", "exec", "puma"], folder)).toMatchObject({ library: null });
  expect(appProject(["./server"], folder).has("openid-client")).toBe(false);
});
