import { expect, test } from "vitest";
import { atEnd } from "../helpers/at-end.ts";
import { call, startWithTokens, tokenOf } from "../helpers/control-tokens.ts";
import { cpuTimeOf } from "../helpers/cpu-time.ts";

/** Expectations of a reader that wait: each looks at every request of others, also after the reader has gone. */

const wait = { endpoint: "token", within: "90s" } as const;

async function started() {
  const server = await startWithTokens();
  const gone = new AbortController();
  atEnd(() => {
    gone.abort();
  });
  const { issuer } = server.issuer.ctx;
  return {
    server,
    ask: (name: string, more: object = {}) =>
      fetch(`${issuer}/_idp/api/expect`, {
        ...{ method: "POST", signal: gone.signal, body: JSON.stringify({ ...wait, ...more }) },
        headers: { authorization: `Bearer ${tokenOf(name)}`, "content-type": "application/json" },
      }),
    request: () =>
      fetch(`${issuer}/api/v2/oauth/token`, { method: "POST", body: new URLSearchParams({ grant_type: "x" }) }),
  };
}

test.each<readonly [string, object]>([
  ["no request matches", { client: "nobody" }],
  ["every request matches", { at_least: 1_000_000, since: "2020-01-01T00:00:00Z", param: { grant_type: "x" } }],
])("40 that a reader lets wait delay no request of others, where %s", async (_what, more) => {
  const { ask, request } = await started();
  for (let at = 0; at < 500; at += 1) await (await request()).text();
  const refused: number[] = [];
  for (let at = 0; at < 40; at += 1)
    ask("eyes", more).then(
      ({ status }) => refused.push(status),
      () => undefined,
    );
  await expect.poll(() => refused.length, { timeout: 20_000 }).toBe(8);
  expect(new Set(refused)).toEqual(new Set([409]));
  // The least of some: what was read before may be collected meanwhile.
  const times: number[] = [];
  for (let at = 0; at < 5; at += 1) times.push(await cpuTimeOf(request));
  expect(Math.min(...times)).toBeLessThan(40);
});

test("32 of a token wait at a time, and others of other tokens; an admin has no limit", async () => {
  const { server, ask, request } = await started();
  const names = [...Array.from({ length: 40 }, () => "lead"), "qa", ...Array.from({ length: 33 }, () => "eyes")];
  const asked = names.map((name) => ask(name));
  const first = await Promise.race(asked);
  expect(await first.json()).toMatchObject({ error: "conflict" });
  // One that need not wait is answered.
  const { status } = await call(server, tokenOf("eyes"), "POST", "/expect", { endpoint: "token" });
  expect(status).toBe(200);
  await request();
  const refused = (await Promise.all(asked)).flatMap((one, at) => (one.status === 200 ? [] : [names[at]]));
  expect(refused).toEqual(["eyes"]);
});

test("no expectation has more than 20 parameters, each of which is compared with those of every request", async () => {
  const { server } = await started();
  const param = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`p${at}`, "x"]));
  const refused = await call(server, tokenOf("eyes"), "POST", "/expect", { endpoint: "token", param });
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("more than 20 parameters")]);
});
