import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { at, metadata, signIn, type Ended, type Setting } from "../helpers/checked-sign-in.ts";

/** What a provider's metadata has to be for a sign-in to begin. */

describe("discovery fails", () => {
  test.each<[string, Setting, RegExp]>([
    [
      "on another issuer",
      { bends: metadata({ issuer: "https://other.test" }) },
      /names issuer "https:\/\/other\.test"; it must be exactly/,
    ],
    ["on a slash too many", { issuer: (own) => `${own}/` }, /must be exactly "http:\/\/127\.0\.0\.1:\d+\/"/],
    [
      "without metadata",
      { bends: at("/.well-known/openid-configuration", { status: 404, body: {} }) },
      /there is no metadata/,
    ],
    [
      "on a page of HTML",
      { bends: at("/.well-known/openid-configuration", { type: "text/html", body: "<p>" }) },
      /answers 200 with text\/html instead of JSON/,
    ],
    [
      "on broken JSON",
      { bends: at("/.well-known/openid-configuration", { body: "{" }) },
      /is not the JSON it claims to be/,
    ],
    ["on a list", { bends: at("/.well-known/openid-configuration", { body: [] }) }, /JSON that is not an object/],
    ["on an error", { bends: at("/.well-known/openid-configuration", { status: 500, body: {} }) }, /answers 500/],
    [
      "on a redirect",
      { bends: at("/.well-known/openid-configuration", { status: 302, location: "https://x.test/" }) },
      /redirects are not followed/,
    ],
    [
      "on more than a megabyte",
      { bends: at("/.well-known/openid-configuration", { body: "x".repeat(1_100_000) }) },
      /more than 1 MB/,
    ],
    [
      "on an invalid address",
      { bends: metadata({ token_endpoint: "file:///etc/passwd" }) },
      /token_endpoint in the metadata is not an address/,
    ],
    [
      "on a wrong list",
      { bends: metadata({ id_token_signing_alg_values_supported: "ES256" }) },
      /is not a list of strings/,
    ],
    ["where nobody listens", { issuer: () => "http://127.0.0.1:1" }, /nothing listens at 127\.0\.0\.1:1/],
    [
      "where the name leads nowhere",
      { issuer: () => "http://nowhere.invalid" },
      /name of nowhere\.invalid cannot be resolved/,
    ],
    ["where https is not spoken", { issuer: (own) => own.replace("http:", "https:") }, /does not speak TLS/],
  ])("%s", async (_what, setting, why) => {
    const ended = await signIn(setting);
    expect(ended.failed).toEqual(["discovery"]);
    expect(ended.why).toMatch(why);
  });

  test("on bytes that are not HTTP, and on a connection that is cut", async () => {
    for (const [bytes, why] of [
      ["no HTTP at all\r\n\r\n", /does not speak HTTP/],
      ["", /closed the connection/],
      [
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{",
        /before its response was complete/,
      ],
    ] as const) {
      const server = createServer((socket) => {
        socket.on("error", () => undefined);
        socket.once("data", () => socket.end(bytes));
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      onTestFinished(() => void server.close());
      const { port } = server.address() as AddressInfo;
      const ended = await signIn({ issuer: () => `http://127.0.0.1:${port}` });
      expect(ended.failed).toEqual(["discovery"]);
      expect(ended.why).toMatch(why);
    }
  });
});

test("a provider that does not respond times out", async () => {
  const arrived = new Promise<void>((resolve) => {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.once("data", () => {
        resolve();
      });
    });
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      ended = signIn({ issuer: () => `http://127.0.0.1:${port}` });
    });
    onTestFinished(() => void server.close());
  });
  let ended: Promise<Ended> | undefined;
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  await arrived;
  vi.advanceTimersByTime(10_000);
  const { failed, why } = (await ended) ?? {};
  expect(failed).toEqual(["discovery"]);
  expect(why).toMatch(/sent no complete response within 10 s/);
});

test("metadata of RFC 8414 alone is enough, with the issuer's path after the well-known one", async () => {
  const none = { status: 404, body: {} };
  const known = "/.well-known/oauth-authorization-server/tenant";
  const ended = await signIn({
    issuer: (own) => `${own}/tenant`,
    bends: { "/tenant/.well-known/openid-configuration": none, [known]: { status: 500, body: {} } },
  });
  expect(ended.why).toContain(`${known} answers 500`);
});
