import { connect } from "node:net";
import { expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { pick } from "../helpers/client.ts";

/** localhost and 127.0.0.1 are two names, and http and https two schemes: the log says what an app that mixes them will miss. */

const discovery = "/.well-known/openid-configuration";

test("discovery read at a name that the issuer does not have is told once per client", async () => {
  const notes: string[] = [];
  const idp = await serve({ log: (note) => notes.push(note) });
  const read = async (origin: string, agent: string): Promise<void> => {
    await fetch(origin + discovery, { headers: { "user-agent": agent } });
  };
  await read(idp.issuer, "right/1");
  const other = `http://127.0.0.1:${idp.port}`;
  for (const agent of ["lib/1", "lib/1", "lib/2"]) await read(other, agent);
  expect(notes).toEqual(
    ["lib/1", "lib/2"].map(
      (agent) =>
        `${agent} read discovery at ${other}, but the issuer is ${idp.issuer}: a library that was given the former refuses it. Give it ${idp.issuer}`,
    ),
  );
  for (let n = 0; n < 200; n += 1) await read(other, `many/${n}`);
  expect(notes).toHaveLength(100);
});

test("with --backchannel dynamic other names are meant, and not told", async () => {
  const notes: string[] = [];
  const idp = await serve({ backchannel: "dynamic", log: (note) => notes.push(note) });
  await fetch(`http://127.0.0.1:${idp.port}${discovery}`);
  expect(notes).toEqual([]);
});

test("https sent to the http port is told once per sender", async () => {
  const notes: string[] = [];
  const idp = await serve({ log: (note) => notes.push(note) });
  for (let n = 0; n < 3; n += 1) await fetch(`https://127.0.0.1:${idp.port}/`).catch(() => undefined);
  await expect.poll(() => notes.length).toBeGreaterThan(0);
  expect(notes).toEqual([
    `127.0.0.1 sent https to a port that serves http: give the app ${idp.issuer}, or start with --https`,
  ]);
});

test("any other request that cannot be read is not called https", async () => {
  const notes: string[] = [];
  const idp = await serve({ log: (note) => notes.push(note) });
  const answer = await new Promise<string>((resolve, reject) => {
    const socket = connect(idp.port, "127.0.0.1", () => socket.write("\u0016nonsense\r\n\r\n"));
    let text = "";
    socket.setEncoding("utf8").on("data", (more: string) => (text += more));
    socket.on("close", () => resolve(text)).on("error", reject);
  });
  expect(answer).toContain("400 Bad Request");
  expect(notes).toEqual([]);
});

test("an issuer of localhost that is opened at 127.0.0.1 says that passkeys do not work there", async () => {
  const idp = await serve();
  const users = [{ username: "pia", factors: ["passkey" as const] }];
  await idp.call("seed", { users, settings: { acr: { phr: ["passkey"] } } });
  const openAt = async (origin: string) => {
    const browser = new Browser(origin);
    return pick(browser, await browser.open("/account"), "pia");
  };
  const said = "This page is at another address, so no passkey can be used here.";
  expect((await openAt(idp.issuer)).body).not.toContain(said);
  const there = await openAt(`http://127.0.0.1:${idp.port}`);
  expect(there.page).toBe("account");
  expect(there.body).toContain(said);
  expect(there.body).not.toContain("account-passkey-add");
});
