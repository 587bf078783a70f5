import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { callServer } from "../../src/serve/remote.ts";
import { serve } from "../helpers/app.ts";

/** Commands that may take long wait for a server as long as it is there, and hear how far it is. */

test("an import says how many records are done, until all are", async () => {
  const idp = await serve();
  await idp.call("seed", { users: Array.from({ length: 1500 }, (_, at) => ({ username: `u${at}` })) });
  const text = JSON.stringify(await idp.call("export", {}));
  const heard: (readonly [number, number])[] = [];
  const server = { url: idp.issuer, adminToken: idp.adminToken };
  const { users } = await callServer(server, "import", { source: { name: "state.json", text } }, (done, total) =>
    heard.push([done, total]),
  );
  expect(users).toBeGreaterThan(1500);
  expect(heard.length).toBeGreaterThan(0);
  expect(heard.map(([done]) => done)).toEqual([...heard].map(([done]) => done).sort((a, b) => a - b));
  expect(heard.every(([done, total]) => done <= total && total > 1500)).toBe(true);
});

test("a push is waited for as long as the server answers something, however long it takes itself", async () => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    asked.push(path);
    response.setHeader("content-type", "application/json");
    if (path === "/_idp/health") response.end(JSON.stringify({ status: "ok", issuer: "http://localhost:4370" }));
    // The push ends once the command has asked whether the server is still there.
    const isDone = path === "/_idp/health" && asked.length > 1;
    if (isDone) waiting.forEach((end) => end());
    else if (path !== "/_idp/health") waiting.push(() => response.end("[]"));
  }).listen(0, "127.0.0.1");
  const waiting: (() => void)[] = [];
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  expect(await callServer({ url, adminToken: "the-admin-token" }, "scim.push", {})).toEqual([]);
  expect(asked).toContain("/_idp/health");
});
