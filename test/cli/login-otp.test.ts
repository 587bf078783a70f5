import { expect, test } from "vitest";
import { callback } from "../helpers/client.ts";
import { idpHere } from "../helpers/command.ts";
import { answerOf, loginCommand } from "../helpers/login-command.ts";

/** `idp login --user … --approve` proves a one-time code by itself. */

const { idp, login, target } = await loginCommand();
await idp.call("seed", {
  users: [{ username: "erin", factors: ["otp"] }],
  clients: [{ client_id: "otp-app", client_secret: "otp-secret-of-the-app", redirect_uris: [callback] }],
  settings: { acr: { "urn:otp": ["otp"] } },
});
const signIn = () => login("--client otp-app --user erin --approve --acr urn:otp --json");

test("three sign-ins within a step use its three codes; a fourth waits for the next one", async () => {
  // The clock stands at the beginning of a step, so that three sign-ins are within it.
  const began = Math.floor(Date.now() / 30_000 - 2) * 30_000;
  const setClock = (seconds: number) => idp.call("clock.set", { to: new Date(began + seconds * 1000).toISOString() });
  await setClock(0);
  const codes = new Set<string | null>();
  for (let count = 0; count < 3; count += 1) {
    codes.add((await idp.call("users.otp", { username: "erin" })).code);
    const { code, stdout } = await signIn();
    const claims: unknown = expect.objectContaining({ acr: "urn:otp", amr: ["user", "otp"] });
    expect([code, answerOf(stdout).claims]).toEqual([0, claims]);
  }
  expect(codes.size).toBe(3);
  expect(codes).not.toContain(null);
  await idp.call("users.add", { username: "nora" });
  const otp = (...words: readonly string[]) => idpHere(["users", "otp", ...words, ...target, "--json"]);
  const none = await otp("erin");
  expect([none.code, JSON.parse(none.stdout)]).toEqual([6, expect.objectContaining({ code: null, expiresIn: null })]);
  expect(none.stderr).toContain("no one-time code of erin is left");
  expect(await otp("nora")).toMatchObject({ code: 6, stderr: expect.stringContaining("has no one-time codes") });
  await setClock(28);
  expect(await idp.call("users.otp", { username: "erin" })).toMatchObject({ code: null, availableIn: 2 });
  expect(await signIn()).toMatchObject({ code: 0, stderr: "" });
});
