import { request } from "node:http";
import { expect, test } from "vitest";
import { newFolder, startIdp } from "../helpers/cli.ts";

test("Ctrl+C with a request under way: it is answered, exit 0, and no stack trace", async () => {
  const { issuer, child, ended, output } = await startIdp([], { cwd: newFolder() });
  const body = "grant_type=client_credentials&client_id=demo-service&client_secret=demo-service-secret";
  const sent = request(`${issuer}/api/v2/oauth/token`, {
    method: "POST",
    headers: {
      "content-type": "application/x-www-form-urlencoded",
      "content-length": body.length,
      expect: "100-continue",
    },
  });
  const status = new Promise<number | undefined>((resolve, reject) => {
    sent.once("response", (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.once("error", reject);
  });
  // The server has the head of the request, and waits for its body.
  await new Promise((resolve) => {
    sent.once("continue", resolve);
    sent.flushHeaders();
  });
  child.kill("SIGINT");
  child.kill("SIGINT");
  sent.end(body);
  expect(await status).toBe(200);
  expect(await ended).toEqual({ code: 0, signal: null });
  expect(output.stderr).toBe("");
});
