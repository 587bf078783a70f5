import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { commandTree, idpIn, startHere } from "../helpers/command.ts";

/** Who leaves out an argument, a required flag or the value of a flag is told what belongs there, and a command that has it. */

/** The words of a command on a line. */
const wordsOf = (line: string): readonly string[] =>
  (line.match(/'[^']*'|\S+/g) ?? []).map((word) => word.replaceAll("'", "")).slice(1);

const lacking = [...(await commandTree())].flatMap(
  ([
    path,
    {
      registeredArguments: [first],
      options,
    },
  ]) => (first?.required === true || options.some(({ mandatory }) => mandatory) ? [path] : []),
);

test("there are commands with a required argument or flag", () => {
  expect(lacking).toEqual(expect.arrayContaining(["clock advance", "import", "check client"]));
});

describe.each(lacking)("idp %s", (path) => {
  test("says what is missing, and gives a command that can be typed", async () => {
    const cwd = newFolder();
    const { code, stderr } = await idpIn(cwd, path.split(" "));
    const [message = "", example = "", help, ...more] = stderr.trimEnd().split("\n");
    expect([code, help, more]).toEqual([2, `  See: idp ${path} --help`, []]);
    expect(message).toMatch(new RegExp(`^Error: idp ${path} needs (an? [a-zA-Z ]+|--\\w+): .{4}`));
    const command = /^ {2}(?:For example|To list them): (idp .+)$/.exec(example)?.[1] ?? "";
    expect(command).not.toBe("");
    if (command.includes("-- npm")) return;
    // Without a server and without data most of them cannot do their work, but each is a command that there is.
    expect((await idpIn(cwd, wordsOf(command))).code).not.toBe(2);
  });
});

test.each([
  ["start --port", "--port needs a value: a port, or auto for a free one (default: 4370)", /^idp start --port auto/],
  ["env --write", /^--write needs a value: write to a file; /, /^idp env --write .env.local$/],
  ["init --from", /^--from needs a value: one of keycloak, auth0, /, /^idp init --from keycloak /],
  ["exec --fault", /^--fault needs a value: make a response wrong/, null],
  ["users list --color", "--color needs a value: one of auto, always, never", null],
  ["users edit --display-name", /^--display-name needs a value: /, /^idp users edit USERNAME --display-name /],
])("idp %s: a flag without its value", async (words, message, command) => {
  const { code, stderr } = await idpIn(newFolder(), ["--json", ...words.split(" ")]);
  const { error } = JSON.parse(stderr) as { readonly error: { readonly message: string; readonly hint: string } };
  const path = words.split(" --")[0] ?? "";
  const [first, last] = command === null ? [undefined, error.hint] : error.hint.split("\n");
  expect({ code, message: error.message, last }).toEqual({
    code: path === "exec" ? 125 : 2,
    message: typeof message === "string" ? message : expect.stringMatching(message),
    last: `See: idp ${path} --help`,
  });
  if (command !== null) expect(first?.replace("For example: ", "")).toMatch(command);
});

test("the command names what the data has, for the data and the program that were typed", async () => {
  const cwd = newFolder();
  const file = join(cwd, "own.yaml");
  writeFileSync(
    file,
    "users: [{ username: gulsen }]\nclients: [{ client_id: shop, redirect_uris: ['http://localhost:3000/cb'] }]\n",
  );
  await startHere(["--data", "d", "--fixtures", file], { cwd });
  const done = (words: string) => idpIn(cwd, [...words.split(" "), "--data", "d", "--quiet"]);
  const example = async (words: string, env?: Record<string, string>) =>
    /^ {2}(?:For example|To list them): (.+)$/m.exec(
      (await idpIn(cwd, [...words.split(" "), "--data", "d"], "", env)).stderr,
    )?.[1];
  expect(await example("snapshots restore")).toBe("idp snapshots list --data d");
  for (const words of ["snapshots save first", "faults add token --drop", "issuers add tenant"]) {
    expect(await done(words)).toMatchObject({ code: 0 });
  }
  expect(await example("snapshots restore")).toBe("idp snapshots restore first --data d");
  expect(await example("issuers show")).toBe("idp issuers show tenant --data d");
  expect(await example("faults remove", { npm_command: "exec" })).toMatch(/^npx dev-idp faults remove \S+ --data d$/);
  // The kid of an RS256 key cannot be told from a secret, so no message shows it. That of an HS256 key may begin with a hyphen.
  expect(await done("keys rotate --alg RS256")).toMatchObject({ code: 0 });
  expect(await example("keys remove")).toBe("idp keys list --data d");
  for (let time = 0; time < 5; time++) expect(await done("keys rotate")).toMatchObject({ code: 0 });
  const removesKey = (await example("keys remove")) ?? "";
  expect(removesKey).toMatch(/^idp keys remove \S+ --data d$/);
  expect(await idpIn(cwd, wordsOf(removesKey))).toMatchObject({ code: 0 });
  const { stderr } = await idpIn(cwd, ["users", "edit", "--data", "d", "--display-name"]);
  expect(stderr).toContain("idp users edit gulsen --display-name 'Alice Adams' --data d\n");
});

test.each(["client", "sp", "leaver"])("check %s with an address alone: it is the one to begin at", async (what) => {
  const page = ["--signed-in", "http://localhost:3000/me"];
  const { code, stderr } = await idpIn(newFolder(), [
    "check",
    what,
    "http://localhost:3000/login",
    ...page,
    "--",
    "npm",
    "start",
  ]);
  expect({ code, stderr }).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("http://localhost:3000/login is an address: name it with --start") as string,
  });
  expect(stderr).toContain(
    `Type: idp check ${what} --signed-in http://localhost:3000/me --start http://localhost:3000/login -- npm start`,
  );
});
