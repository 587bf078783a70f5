import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { idp, newFolder } from "../helpers/cli.ts";

/** `idp check … --total-timeout` ends a whole check. */

const listResponse = "urn:ietf:params:scim:api:messages:2.0:ListResponse";

/** Checks an app with a time limit of a second for the whole, and five minutes for each wait. */
async function check(app: RequestListener) {
  const server = createServer(app).listen(0, "127.0.0.1");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/scim/v2`;
  const words = ["check", "scim", "--url", url, "--token-env", "APP_TOKEN", "--timeout", "300", "--json"];
  const env = { APP_TOKEN: "the-token-of-the-app" };
  return idp([...words, "--total-timeout", "1"], { cwd: newFolder(), env });
}

test("what is left is not reached, and the report says so", async () => {
  const { code, stdout } = await check((request, response) => {
    // It never answers to a new user, and has none.
    if (request.method === "GET")
      response.end(JSON.stringify({ schemas: [listResponse], totalResults: 0, Resources: [] }));
  });
  const { passed, cases } = JSON.parse(stdout) as {
    passed: boolean;
    cases: readonly { verdict: string; did: string }[];
  };
  expect([code, passed]).toEqual([6, false]);
  expect(new Set(cases.map(({ verdict }) => verdict))).toEqual(new Set(["not-reached"]));
  expect(cases[0]?.did).toContain("--total-timeout");
});

test("an app that never answers is not waited for longer", async () => {
  const { code, stderr } = await check(() => undefined);
  expect([code, stderr]).toEqual([5, expect.stringContaining("within 1 s")]);
});
