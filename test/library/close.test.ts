import { rmSync, writeFileSync, mkdirSync } from "node:fs";
import { request, Agent } from "node:http";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createIdp, type Idp } from "../../src/index.ts";
import { atEnd } from "../helpers/at-end.ts";
import { newFolder } from "../helpers/cli.ts";
import { newProject, shell } from "../helpers/shell.ts";

/** `close` leaves nothing open, even with requests under way. */

/** A connection on which `text` was sent. @returns what it receives until it ends */
async function connection(
  idp: Idp,
  text: string,
): Promise<{ readonly socket: Socket; readonly ended: Promise<string> }> {
  const socket = connect(idp.port, "127.0.0.1");
  atEnd(() => socket.destroy());
  let received = "";
  socket.setEncoding("utf8").on("data", (more: string) => (received += more));
  const ended = new Promise<string>((resolve) => {
    socket
      .on("error", () => undefined)
      .on("close", () => {
        resolve(received);
      });
  });
  await new Promise<void>((resolve) => {
    socket.on("connect", () => {
      socket.write(text, () => {
        resolve();
      });
    });
  });
  return { socket, ended };
}

const takesConnections = (idp: Idp): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(idp.port, "127.0.0.1");
    socket
      .on("connect", () => {
        socket.destroy();
        resolve(true);
      })
      .on("error", () => {
        resolve(false);
      });
  });

const formHead =
  "POST /api/v2/oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n";

/** Well before a deadline of the server's own: requests that are waited for get 5 s, and idle connections 5 s of Node. */
const soon = async (closing: Promise<void>): Promise<number> => {
  const startedAt = performance.now();
  await closing;
  return performance.now() - startedAt;
};

/** A request whose body never ends. Its server closes while the other tests run. */
const endless = await createIdp({ port: 0 });
const cutOff = await connection(endless, `${formHead}Content-Length: 9\r\n\r\n`);
await (await fetch(`${endless.issuer}/_idp/health`)).text();
const endlessClosing = soon(endless.close());

describe("idle connections end at once", () => {
  test.each([
    ["one on which nothing was asked yet, as browsers open them", ""],
    ["half the head of a request", "GET /_idp/health HTTP/1.1\r\nHost: lo"],
  ])("%s", async (_what, text) => {
    const idp = await createIdp({ port: 0 });
    const { ended } = await connection(idp, text);
    // Another request is answered only after the server has seen this one.
    await (await fetch(`${idp.issuer}/_idp/health`)).text();
    expect(await soon(idp.close())).toBeLessThan(4000);
    await ended;
  });
});

test("a request under way is answered, and its connection ends with it", async () => {
  const idp = await createIdp({ port: 0 });
  const body = "grant_type=client_credentials&client_id=demo-service&client_secret=demo-service-secret";
  const { socket, ended } = await connection(
    idp,
    `${formHead}Content-Length: ${body.length}\r\n\r\n${body.slice(0, 20)}`,
  );
  await (await fetch(`${idp.issuer}/_idp/health`)).text();
  const closing = idp.close();
  while (await takesConnections(idp));
  socket.write(body.slice(20));
  await closing;
  const answer = await ended;
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
  expect(answer).toContain('"access_token"');
});

test("closing twice, at once and later, is closing once", async () => {
  const idp = await createIdp({ port: 0, data: newFolder() });
  await Promise.all([idp.close(), idp.close(), idp.closed]);
  await idp.close();
  await expect(fetch(`${idp.issuer}/_idp/health`)).rejects.toThrow();
});

test("a start that fails leaves its port free, also where somebody is asking already", async () => {
  const first = await createIdp({ port: 0 });
  const { port } = first;
  await first.close();
  const asking = new Agent({ keepAlive: true });
  onTestFinished(() => {
    asking.destroy();
  });
  const asked = new Promise((resolve) => {
    const ask = (): void => {
      request({ host: "127.0.0.1", port, path: "/_idp/health", agent: asking }, resolve)
        .on("error", (error) => {
          if ("code" in error && error.code === "ECONNREFUSED") setImmediate(ask);
          else resolve(error);
        })
        .end();
    };
    ask();
  });
  const users = Array.from({ length: 20_000 }, (_, at) => ({ username: at === 19_999 ? "wrong one" : `user${at}` }));
  await expect(createIdp({ port, fixtures: { users } })).rejects.toMatchObject({ code: "invalid" });
  await asked;
  const second = await createIdp({ port });
  await second.close();
});

test("an error of the folder is reported in words, and everything else is still closed", async () => {
  const data = newFolder();
  const idp = await createIdp({ port: 0, data });
  rmSync(join(data, "lock.json"));
  mkdirSync(join(data, "lock.json"));
  await expect(idp.close()).rejects.toMatchObject({
    name: "DataFileError",
    message: expect.stringContaining("lock.json cannot be read"),
  });
  await idp.closed;
  await expect(fetch(`${idp.issuer}/_idp/health`)).rejects.toThrow();
});

test("data of another server is a conflict, as on the command line, and stays that server's", async () => {
  const data = newFolder();
  const idp = await createIdp({ port: 0, data });
  await expect(createIdp({ port: 0, data })).rejects.toMatchObject({
    name: "LockedError",
    code: "conflict",
    holder: { pid: process.pid },
  });
  expect((await fetch(`${idp.issuer}/_idp/health`)).status).toBe(200);
  await idp.close();
});

test("a folder that went away while it ran is no error", async () => {
  const data = newFolder();
  const idp = await createIdp({ port: 0, data });
  rmSync(data, { recursive: true });
  await idp.close();
});

test("a program that closes what it made ends by itself", async () => {
  const { cwd, env } = newProject();
  writeFileSync(
    join(cwd, "app.mjs"),
    `import { Agent, get } from "node:http";
import { connect } from "node:net";
import { createIdp } from "dev-idp";
const agent = new Agent({ keepAlive: true });
for (const data of [undefined, "data"]) {
  const idp = await createIdp({ port: 0, ...(data && { data }) });
  await (await fetch(idp.issuer + "/_idp/health")).json();
  await new Promise((resolve) => get({ port: idp.port, host: "127.0.0.1", path: "/_idp/health", agent }, (answer) => answer.resume().on("end", resolve)));
  const silent = connect(idp.port, "127.0.0.1");
  await new Promise((resolve) => silent.on("connect", resolve).on("error", () => {}));
  await idp.issueTokens({ user: "alice", client: "demo-app", scope: "openid" });
  const last = fetch(idp.issuer + "/api/v2/oauth/jwks").then((answer) => answer.json(), () => null);
  const startedAt = performance.now();
  await Promise.all([idp.close(), idp.close()]);
  const took = performance.now() - startedAt;
  // Connections that stay open are waited for, 5 s at least.
  console.log(took < 4000 ? "closed" : "closed after " + took + " ms");
  await last;
}
`,
  );
  expect(await shell("timeout 20 node app.mjs", { cwd, env })).toEqual({
    code: 0,
    stdout: "closed\nclosed\n",
    stderr: "",
  });
});

test("every method is refused after close", async () => {
  const idp = await createIdp({ port: 0 });
  const tokens = await idp.issueTokens({ user: "alice", client: "demo-app" });
  expect(tokens).toHaveProperty("access_token");
  await idp.close();
  const given = { user: "alice", client: "demo-app" };
  const refused = {
    name: "OperationError",
    code: "no_server",
    message: expect.stringContaining("this idp is closed") as string,
  };
  await expect(idp.issueTokens(given)).rejects.toMatchObject(refused);
  await expect(idp.issueGrant(given)).rejects.toMatchObject(refused);
  await expect(idp.issueCode(given)).rejects.toMatchObject(refused);
  await expect(idp.revoke(given)).rejects.toMatchObject(refused);
  await expect(idp.reset()).rejects.toMatchObject(refused);
  await expect(idp.call("users.list", {})).rejects.toMatchObject(refused);
  await expect(idp.changeFixtures([{ value: {} }])).rejects.toMatchObject(refused);
  await idp.close();
});

test("a body that never ends is not waited for beyond five seconds", async () => {
  expect(await endlessClosing).toBeLessThan(9000);
  await cutOff.ended;
});
