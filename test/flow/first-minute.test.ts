import { expect, onTestFinished, test } from "vitest";
import { approve, Browser, type Visit } from "../helpers/browser.ts";
import { newFolder } from "../helpers/cli.ts";
import { freePort } from "../helpers/port.ts";
import { blocks, repository } from "../helpers/readme.ts";
import { endShell, shell, startShell } from "../helpers/shell.ts";

/** The README's first minute as printed there. Only the port is another one, and the data are elsewhere. */

const section = "The first minute";

test("start, sign in, exchange, UserInfo, revoke, 403, and sign in again", { tags: ["curl"] }, async () => {
  const [logins = "", exchangeLine = "", userInfoLine = "", revokeLine = ""] = blocks(section, "sh");
  const [address = ""] = blocks(section, "text");
  const [userInfo = "", refusal = ""] = blocks(section, "json");
  const [setUp = ""] = blocks("", "sh");

  const port = await freePort();
  const place = { cwd: repository, env: { IDP_PORT: port, IDP_DATA: newFolder() } };
  const here = (line: string): string => line.replaceAll("4370", port);
  const run = async (line: string): Promise<string> => {
    const { code, stdout, stderr } = await shell(here(line), place);
    expect(code, stderr).toBe(0);
    return stdout;
  };
  const exchange = async ({ left }: Visit) => {
    const answer = await run(exchangeLine.replace("PASTE_THE_CODE", left?.searchParams.get("code") ?? ""));
    return JSON.parse(answer) as Readonly<Record<"access_token" | "refresh_token" | "id_token", string>>;
  };
  const askUserInfo = async (accessToken: string) => {
    const [, body = "", status] =
      /^(.*)\n(\d{3})\n$/s.exec(await run(userInfoLine.replace("PASTE_THE_ACCESS_TOKEN", accessToken))) ?? [];
    return { status, body: JSON.parse(body) as unknown };
  };

  // The first lines of the README, without the installation that this test itself runs on.
  expect(setUp).toMatch(/^npm ci && npm start\b/);
  await startInBackground("npm start", place);

  const [, withoutBrowser = ""] = logins.split("\n");
  expect(await run(withoutBrowser)).toContain("Signed in as alice (Alice Adams)");

  const browser = new Browser(here("http://localhost:4370"));
  const login = await browser.open(here(address));
  expect(login).toMatchObject({ page: "login" });
  const back = await approve(browser, login, "alice");
  expect(back.left?.href).toMatch(/^http:\/\/localhost:3000\/callback\?code=[^&]+&state=some-state&iss=/);

  const tokens = await exchange(back);
  expect(tokens).toEqual(
    expect.objectContaining({
      access_token: expect.any(String),
      refresh_token: expect.any(String),
      id_token: expect.any(String),
    }),
  );
  expect(await askUserInfo(tokens.access_token)).toEqual({ status: "200", body: JSON.parse(userInfo) });

  await run(revokeLine);
  expect(await askUserInfo(tokens.access_token)).toEqual({ status: "403", body: JSON.parse(refusal) });

  const again = await browser.open(here(address));
  expect(again).toMatchObject({ page: "consent" });
  const renewed = await exchange(await browser.press(again, "consent-allow"));
  expect((await askUserInfo(renewed.access_token)).status).toBe("200");
  expect((await askUserInfo(tokens.access_token)).status).toBe("403");
});

/** Resolves once the server says that it is ready. */
function startInBackground(line: string, place: Parameters<typeof startShell>[1]): Promise<void> {
  const child = startShell(line, place);
  const ended = new Promise<void>((resolve) => child.on("close", resolve));
  onTestFinished(async () => {
    endShell(child, "SIGTERM");
    await ended;
  });
  let output = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (output += text));
  return new Promise((resolve, reject) => {
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (/^idp ready /m.test(output)) resolve();
    });
    void ended.then(() => {
      reject(new Error(`${line} ended: ${output}`));
    });
  });
}
