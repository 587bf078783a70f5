import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { newFolder } from "../helpers/cli.ts";
import { idpIn, startHere } from "../helpers/command.ts";
import { onTerminal } from "../helpers/terminal.ts";

test("idp open prints the address of a page; off a terminal it opens nothing", async () => {
  const cwd = newFolder();
  const { issuer } = await startHere([], { cwd });
  expect(await idpIn(cwd, ["open", "account"])).toEqual({ code: 0, stdout: `${issuer}/account\n`, stderr: "" });
  const { stdout } = await idpIn(cwd, ["open", "discovery", "--json"]);
  const { url } = JSON.parse(stdout) as { url: string };
  expect(url).toBe(`${issuer}/.well-known/openid-configuration`);
  expect(await (await fetch(url)).json()).toMatchObject({ issuer });
  const elsewhere = await idpIn(newFolder(), ["open", "device", "--url", issuer]);
  expect(elsewhere).toEqual({ code: 0, stdout: `${issuer}/device\n`, stderr: "" });
});

test("idp open gives the inspector, each time with another key that opens it", async () => {
  const cwd = newFolder();
  const { issuer } = await startHere([], { cwd });
  const first = (await idpIn(cwd, ["open"])).stdout.trim();
  const second = (await idpIn(cwd, ["open", "inspector"])).stdout.trim();
  expect(first).not.toBe(second);
  for (const url of [first, second]) {
    expect(url.slice(issuer.length)).toMatch(/^\/_idp\/[\w-]{22}\/\?key=[\w-]{43}$/);
    expect((await fetch(url, { redirect: "manual" })).status).toBe(303);
  }
  expect(await idpIn(newFolder(), ["open", "--url", issuer])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("needs its admin token"),
  });
});

test("idp open FLOW leads to that sign-in; what the ledger does not hold: exit 3", async () => {
  const cwd = newFolder();
  const { issuer } = await startHere([], { cwd });
  const refused = await fetch(`${issuer}/api/v2/oauth/authorize?client_id=nobody`, {
    headers: { accept: "text/html" },
  });
  const [, flow = ""] = /idp open (f\d+)/.exec(await refused.text()) ?? [];
  const { stdout } = await idpIn(cwd, ["open", flow]);
  const { status, headers } = await fetch(stdout.trim(), { redirect: "manual" });
  expect([status, headers.get("location")]).toEqual([303, `${new URL(stdout).pathname}sign-ins/${flow}`]);
  expect(await idpIn(cwd, ["open", "f999"])).toMatchObject({
    code: 3,
    stdout: "",
    stderr: 'Error: the ledger holds no sign-in "f999"\n  It holds only the latest requests. To see them: idp open\n',
  });
  expect(await idpIn(cwd, ["open", "acount"])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Did you mean account?") as string,
  });
});

test(
  "on a terminal without a browser, the address is there once, whole, and opens the inspector",
  { tags: ["script"] },
  async () => {
    const cwd = newFolder();
    const { issuer } = await startHere([], { cwd });
    const { ended, screen } = onTerminal("open", cwd, { BROWSER: "false" });
    expect(await ended).toBe(0);
    const [address = "", ...rest] = screen().trim().split("\r\n");
    expect(address.slice(issuer.length)).toMatch(/^\/_idp\/[\w-]{22}\/\?key=[\w-]{43}$/);
    expect(rest).toEqual(["No browser could be opened: open the address above yourself."]);
    expect((await fetch(address, { redirect: "manual" })).status).toBe(303);
  },
);

test("on a terminal too, an address that goes into a file opens no browser", { tags: ["script"] }, async () => {
  const cwd = newFolder();
  const { issuer } = await startHere([], { cwd });
  const { ended, screen } = onTerminal("open discovery > address", cwd);
  expect(await ended).toBe(0);
  expect(screen()).toBe("");
  expect(readFileSync(join(cwd, "address"), "utf8")).toBe(`${issuer}/.well-known/openid-configuration\n`);
});

test("below an issuer that ends in a slash there is one slash", async () => {
  const cwd = newFolder();
  const { output } = await startHere(["--issuer", "http://localhost:4370/"], { cwd });
  expect(output.stdout).not.toContain("4370//");
  expect(output.stdout).toContain("http://localhost:4370/account\n");
  expect(await idpIn(cwd, ["open", "account"])).toMatchObject({ code: 0, stdout: "http://localhost:4370/account\n" });
  expect((await idpIn(cwd, ["open"])).stdout).toMatch(/^http:\/\/localhost:4370\/_idp\/[\w-]{22}\/\?key=/);
});

test("idp open without a server: exit 5; an unknown page: exit 2", async () => {
  const cwd = newFolder();
  expect(await idpIn(cwd, ["open"], "", { IDP_PORT: "auto" })).toMatchObject({
    code: 5,
    stdout: "",
    stderr: "Error: no server runs on .idp\n  To start a server: idp start\n",
  });
  expect(await idpIn(cwd, ["open", "--url", "http://localhost:1"])).toMatchObject({
    code: 5,
    stderr: expect.stringContaining("nothing answers at http://localhost:1"),
  });
  expect(await idpIn(cwd, ["open", "nothing"])).toMatchObject({ code: 2 });
});

test("the log's line of a refusal ends with its command, and last opens the sign-in that was refused last", async () => {
  const cwd = newFolder();
  const { issuer, output, printed } = await startHere([], { cwd });
  expect((await idpIn(cwd, ["open", "last"])).code).toBe(3);
  const refused =
    "/api/v2/oauth/authorize?client_id=demo-app&response_type=code&scope=openid&redirect_uri=http%3A%2F%2Flocalhost%3A9%2F";
  expect((await fetch(issuer + refused)).status).toBe(400);
  await printed("idp open f");
  const [, flow = ""] = /GET +authorize +400.*\n?.*idp open (f\d+)/.exec(output.stdout) ?? [];
  const opened = await idpIn(cwd, ["open", "last"]);
  expect(opened).toMatchObject({ code: 0 });
  expect(opened.stdout).toContain(`flow=${flow}`);
  // What succeeded since is no refusal.
  expect((await fetch(`${issuer}/.well-known/openid-configuration`)).status).toBe(200);
  expect((await idpIn(cwd, ["open", "last"])).stdout).toContain(`flow=${flow}`);
});
