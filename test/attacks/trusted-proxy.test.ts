import { describe, expect, test } from "vitest";
import { addressBehind, trustedProxies } from "../../src/net/trusted-proxies.ts";
import { serve } from "../helpers/app.ts";
import { post, paths } from "../helpers/client.ts";

/** X-Forwarded-For: who may say where a request comes from. */

describe("the address that counts", () => {
  const trusts = trustedProxies(["10.0.0.0/8", "fd00::/8", "192.0.2.7"]);
  test.each([
    ["from anywhere else, the header is ignored", "203.0.113.5", "198.51.100.1", "203.0.113.5"],
    ["from a proxy, the last address", "10.1.2.3", "198.51.100.1, 198.51.100.2", "198.51.100.2"],
    ["proxies in between are skipped", "10.1.2.3", "198.51.100.1, 10.9.9.9, 192.0.2.7", "198.51.100.1"],
    ["what a client sent before does not count", "10.1.2.3", "1.1.1.1, 198.51.100.2", "198.51.100.2"],
    ["no header: the proxy", "10.1.2.3", undefined, "10.1.2.3"],
    ["an empty one: the proxy", "10.1.2.3", "", "10.1.2.3"],
    ["no address: the proxy", "10.1.2.3", "198.51.100.1, unknown", "10.1.2.3"],
    ["with a port: the proxy", "10.1.2.3", "198.51.100.1:4711", "10.1.2.3"],
    ["only proxies: the proxy", "10.1.2.3", "10.0.0.1, 10.0.0.2", "10.1.2.3"],
    ["IPv4 on a socket of IPv6", "::ffff:10.1.2.3", "::ffff:198.51.100.1", "198.51.100.1"],
    ["IPv6", "fd00::1", "2001:db8::7", "2001:db8::7"],
    ["a network is no prefix of text", "100.1.2.3", "198.51.100.1", "100.1.2.3"],
  ])("%s", (_name, peer, forwarded, counted) => {
    expect(addressBehind(trusts, peer, forwarded)).toBe(counted);
  });
});

/** Guesses a client secret until it is refused for guessing too often. @returns how many guesses were answered before */
async function guesses(idp: Awaited<ReturnType<typeof serve>>, forwarded: (n: number) => string): Promise<number> {
  for (let n = 0; n < 400; n += 1) {
    const { status } = await fetch(idp.issuer + paths.token, {
      method: "POST",
      headers: { "content-type": "application/x-www-form-urlencoded", "x-forwarded-for": forwarded(n) },
      body: new URLSearchParams({
        ...{ grant_type: "client_credentials", client_id: "demo-service", client_secret: `guess ${n}` },
      }),
    });
    if (status === 429) return n;
  }
  return 400;
}

test("without a trusted proxy, another address in the header is no way around the limits", async () => {
  const idp = await serve();
  expect(await guesses(idp, (n) => `198.51.100.${n}`)).toBeLessThan(400);
});

test("behind a trusted proxy, each sender has limits of its own, and forged ones in front do not help", async () => {
  const idp = await serve({ trustedProxies: ["127.0.0.0/8", "::1"] });
  expect(await guesses(idp, (n) => `1.1.1.${n}, 198.51.100.1`)).toBeLessThan(400);
  const { status } = await post(idp, paths.token, {
    ...{ grant_type: "client_credentials", client_id: "demo-service", client_secret: "demo-service-secret" },
  });
  expect(status).toBe(200);
});

test.each(["0.0.0.0/0", "::/0", "10.0.0.0/33", "10.0.0/8", "proxy.test", "10.0.0.0/8/8", "10.0.0.0/-1"])(
  "%s is no network of proxies",
  async (given) => {
    await expect(serve({ trustedProxies: [given] })).rejects.toMatchObject({ code: "usage" });
  },
);
