import { expect, test } from "vitest";
import { Browser } from "../helpers/browser.ts";
import { signIn } from "../helpers/client.ts";
import { idp, newFolder, startIdp } from "../helpers/cli.ts";

/** Commands of several processes at once, beside a server that signs users in. */

test("four commands change users and grants while users sign in: nothing is lost, also on disk", async () => {
  const cwd = newFolder();
  const server = await startIdp([], { cwd });
  const run = async (line: string): Promise<void> => {
    const { code, stderr } = await idp(line.split(" "), { cwd });
    expect(code, stderr).toBe(0);
  };
  const four = [1, 2, 3, 4].map(async (number) => {
    await run(`users add user-${number}`);
    await run(`issue grant --user user-${number} --client demo-app --scope openid`);
    await run(`users suspend user-${number}`);
  });
  const browsers = ["alice", "bob"].map(async (user) => {
    for (let times = 0; times < 5; times++) await signIn(server, { user, browser: new Browser(server.issuer) });
  });
  await Promise.all([...four, ...browsers]);
  server.child.kill("SIGKILL");
  await server.ended;
  const json = async (line: string) =>
    JSON.parse((await idp(line.split(" "), { cwd })).stdout) as Record<string, string>[];
  const users = (await json("users list --json")).filter(({ username }) => username?.startsWith("user-"));
  expect(users.map(({ status }) => status)).toEqual(Array(4).fill("suspended"));
  const grants = (await json("grants list --json")).map(({ user }) => user).sort();
  expect(grants).toEqual(["alice", "bob", "user-1", "user-2", "user-3", "user-4"]);
  expect(await json("sessions list --json")).toHaveLength(10);
});
