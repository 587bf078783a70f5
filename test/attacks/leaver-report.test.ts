import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpIn } from "../helpers/command.ts";
import { hostileApp } from "../helpers/hostile-app.ts";
import { appClient } from "../helpers/plain-app.ts";
import { scimServer } from "../helpers/scim-server.ts";

/** An app under `idp check leaver` that repeats the token of its SCIM server, and the key that it gave a user. */

const directory = await scimServer();
const { app, idp, turn } = await hostileApp(({ url }) => ({
  fixtures: {
    users: [
      { username: "alice", email: "alice@example.com" },
      { username: "bob", email: "bob@example.com" },
    ],
    clients: [{ ...appClient(url), scim: { url: directory.url, token: directory.token } }],
  },
}));
const cwd = newFolder(afterAll);
const key = "a-key-of-the-app-for-one-user";

/** Somebody's words in which the key begins before their 300th character, where they are cut. */
const detail = (authorization: string): string => `refused ${authorization} and ${key} `.padEnd(290, "x ") + key;

test("neither is on the terminal, in JSON or in a report", async () => {
  directory.hook = ({ method, authorization = "" }) =>
    method === "PATCH" ? { status: 400, body: { detail: detail(authorization) } } : null;
  turn({
    answers: (path) =>
      path === "/key" ? { status: 200, body: JSON.stringify({ key }) } : path === "/api" ? { status: 200 } : null,
  });
  const words = ["check", "leaver", "--start", `${app.url}/login`, "--signed-in", `${app.url}/me`, "--client", "web"];
  const more = ["--signal", "scim", "--within", "1s", "--api", `${app.url}/api`, "--credential", `${app.url}/key`];
  const told: string[] = [];
  for (const flags of [["--report", "r.xml"], ["--report", "r.md"], ["--json"]]) {
    const env = { IDP_ADMIN_TOKEN: idp.adminToken, IDP_URL: idp.issuer };
    const { stdout, stderr } = await idpIn(cwd, [...words, ...more, ...flags], "", env);
    told.push(stdout, stderr, flags[0] === "--report" ? readFileSync(join(cwd, flags[1] ?? ""), "utf8") : "");
  }
  expect(told.join("\n")).toContain("refused Bearer");
  for (const secret of [directory.token, key.slice(0, 8)])
    expect(told.filter((text) => text.includes(secret))).toEqual([]);
});
