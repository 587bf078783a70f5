import { describe, expect, test } from "vitest";
import { Browser } from "../helpers/browser.ts";
import { answerOf, failedOf, idTokenChecks, loginCommand } from "../helpers/login-command.ts";

/** `idp login` by the device flow and with client credentials. */

const { begin, idp, login } = await loginCommand();

describe("the device flow", () => {
  test("without a person: approved and denied", async () => {
    const good = await login("--flow device --user bob --approve --json");
    expect(good.code).toBe(0);
    expect(answerOf(good.stdout)).toMatchObject({ valid: true, flow: "device", claims: { aud: "idp-cli" } });
    expect(answerOf(good.stdout).checks.map(({ name }) => name)).toEqual([
      ...["discovery", "device", "token"],
      ...idTokenChecks.filter((name) => name !== "id_token.nonce"),
      ...["userinfo", "userinfo.sub"],
    ]);
    const bad = await login("--flow device --user bob --deny --json");
    expect([bad.code, failedOf(bad.stdout)]).toEqual([6, ["token"]]);
    expect(bad.stderr).toContain("login denied");
  });

  test("a person types the code, or opens the address that has it", async () => {
    const { told, ended } = begin("--flow device --timeout 60");
    const [, code = ""] = await told(/Enter {2}([A-Z]{4}-[A-Z]{4}) {2}at this address.*\n {2}http\S+\/device\n/);
    const [, address = ""] = await told(/\n {2}(http\S+\?user_code=\S+)\n/);
    expect(address).toBe(`${idp.issuer}/device?user_code=${code}`);
    const browser = new Browser(idp.issuer);
    const confirm = await browser.press(await browser.open(address), "login-as-alice");
    await browser.press(confirm, "device-allow");
    const { code: exit, stdout } = await ended;
    expect(exit, stdout).toBe(0);
    expect(stdout).toContain("Signed in as alice (Alice Adams)\n");
  });

  test("a timeout", async () => {
    const { code, stdout } = await login("--flow device --timeout 1 --json");
    expect([code, failedOf(stdout)]).toEqual([6, ["token"]]);
    expect(stdout).toContain("nobody entered the code in time");
  });

  test("a client without the grant type", async () => {
    const { code, stdout } = await login("--flow device --client demo-spa --json");
    expect([code, failedOf(stdout)]).toEqual([6, ["device"]]);
    expect(stdout).toContain("unauthorized_client");
  });
});

describe("client credentials", () => {
  test("a token for the client itself", async () => {
    const { code, stdout } = await login("--flow client-credentials --client demo-service --json");
    expect(code).toBe(0);
    expect(answerOf(stdout)).toMatchObject({ valid: true, claims: null, userinfo: null });
    expect(answerOf(stdout).checks.map(({ name }) => name)).toEqual(["discovery", "token"]);
  });

  test("a public client is refused by the server", async () => {
    const { code, stdout } = await login("--flow client-credentials --json");
    expect([code, failedOf(stdout)]).toEqual([6, ["token"]]);
  });
});
