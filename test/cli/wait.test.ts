import { join } from "node:path";
import { expect, test } from "vitest";
import { idp, newFolder, startIdp } from "../helpers/cli.ts";
import { beginHere, idpHere } from "../helpers/command.ts";

/** `idp wait`, in a script that starts a server in the background. */

test("a server that starts later is waited for, and needs no admin token when it is named", async () => {
  const cwd = newFolder();
  const waiting = idp(["wait", "--timeout", "30", "--json"], { cwd });
  const { issuer } = await startIdp([], { cwd });
  const { code, stdout, stderr } = await waiting;
  expect({ code, stderr, answer: JSON.parse(stdout) as unknown }).toEqual({
    code: 0,
    stderr: "",
    answer: { ready: true, url: issuer, issuer },
  });
  expect(await idp(["wait", "--timeout", "0", "--url", issuer], { cwd: newFolder() })).toEqual({
    code: 0,
    stdout: `ready   ${issuer}\n`,
    stderr: "",
  });
});

test.each([[], ["--url", "http://localhost:1"]])("exit 5 where the time ran out %s %s", async (...more) => {
  const { code, stdout, stderr } = await idp(["wait", "--timeout", "0", "--json", ...more], { cwd: newFolder() });
  expect({ code, stdout }).toEqual({ code: 5, stdout: "" });
  expect(JSON.parse(stderr)).toMatchObject({
    error: { code: "no_server", hint: expect.stringContaining("idp start") },
  });
});

test("what it waits for is printed once, unless there is nothing to wait for", async () => {
  const cwd = newFolder();
  const words = ["wait", "--data", join(cwd, ".idp")];
  const waiting = beginHere(words);
  await waiting.told(/Waiting/);
  const { issuer } = await startIdp([], { cwd });
  const stdout = `ready   ${issuer}\n`;
  const stderr = `Waiting up to 30 s for a server on ${join(cwd, ".idp")}…\n`;
  expect(await waiting.ended).toEqual({ code: 0, stdout, stderr });
  expect(await idpHere(words)).toEqual({ code: 0, stdout, stderr: "" });
});
