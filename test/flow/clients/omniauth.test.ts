import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { approve, Browser, type Visit } from "../../helpers/browser.ts";
import { idp, newFolder, startIdp } from "../../helpers/cli.ts";
import { freePort } from "../../helpers/port.ts";

/** OmniAuth with omniauth_openid_connect in a Rails app, `omniauth.rb`, whose initializer is what `idp env --for omniauth` prints. */

/** Rails with that initializer, as soon as it answers. */
async function startRails(port: string, initializer: string): Promise<void> {
  const folder = newFolder();
  mkdirSync(join(folder, "config", "initializers"), { recursive: true });
  writeFileSync(join(folder, "config", "initializers", "omniauth.rb"), initializer);
  const child = spawn("ruby", [join(import.meta.dirname, "omniauth.rb"), folder, port], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  let complaints = "";
  child.stderr.on("data", (text: Buffer) => (complaints += text.toString()));
  onTestFinished(async () => {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    if (child.exitCode !== null) return;
    child.kill("SIGTERM");
    await ended;
  });
  const asked = () =>
    fetch(`http://localhost:${port}/`).then(
      ({ status }) => status,
      () => (child.exitCode === null ? 0 : complaints),
    );
  // Rails takes its time where other tests run beside it.
  await expect.poll(asked, { timeout: 90_000 }).toBe(200);
}

const bodyOf = ({ body }: Visit): unknown => JSON.parse(body);

test(
  "alice signs in with OmniAuth; a response that is not the app's own is refused",
  { tags: ["omniauth"] },
  async () => {
    const port = await freePort();
    const url = `http://localhost:${port}`;
    const cwd = newFolder();
    const clients = [
      { client_id: "app", client_secret: "it's the-secret", redirect_uris: [`${url}/auth/idp/callback`] },
    ];
    const users = [{ username: "alice", id: "alice-id", email: "alice@example.com" }];
    writeFileSync(join(cwd, "idp.fixtures.json"), JSON.stringify({ users, clients }));
    const { issuer } = await startIdp([], { cwd });
    const printed = await idp(["env", "--for", "omniauth"], { cwd });
    expect(printed, printed.stderr).toMatchObject({ code: 0 });
    await startRails(port, printed.stdout);
    const browser = new Browser(issuer, url);
    const begun = await browser.press(await browser.open(`${url}/`), "sign-in");
    const done = await approve(browser, begun);
    expect(bodyOf(done)).toEqual({ uid: "alice-id", email: "alice@example.com", nonce: true });
    const stranger = await new Browser(issuer, url).open(done.url);
    expect(bodyOf(stranger)).toEqual({ message: "csrf_detected" });
  },
);
