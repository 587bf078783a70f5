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
    ask: (name: string) =>
      fetch(`${issuer}/_idp/api/expect`, {
        ...{ method: "POST", signal: gone.signal, body: JSON.stringify({ ...wait, client: "nobody" }) },
        headers: { authorization: `Bearer ${tokenOf(name)}`, "content-type": "application/json" },
      }),
    request: () => fetch(`${issuer}/api/v2/oauth/token`, { method: "POST", body: new URLSearchParams() }),
  };
}

test("200 that a reader lets wait delay no request of others", async () => {
  const { ask, request } = await started();
  for (let at = 0; at < 500; at += 1) await (await request()).text();
  const asked = Array.from({ length: 200 }, () => ask("eyes"));
  const refused = await Promise.race(asked);
  expect(refused.status).toBe(409);
  // The others have been looked at once these are refused.
  const [, , , , , ...more] = await Promise.all(asked.slice(32));
  expect(more.every(({ status }) => status === 409)).toBe(true);
  await request();
  for (const one of asked) one.catch(() => undefined);
  expect(await cpuTimeOf(request)).toBeLessThan(40);
});

test("32 of a token wait at a time, and others of other tokens; an admin has no limit", async () => {
  const { server, ask } = await started();
  const all = [...Array.from({ length: 33 }, () => "eyes"), "qa", ...Array.from({ length: 40 }, () => "lead")];
  const asked = all.map((name) => ask(name).catch(() => null));
  const first = await Promise.race(asked);
  expect(await first?.json()).toMatchObject({ error: "conflict" });
  // One that need not wait is answered.
  const { status } = await call(server, tokenOf("eyes"), "POST", "/expect", { endpoint: "token" });
  expect(status).toBe(200);
});

test("no expectation has more than 20 parameters, each of which is compared with those of every request", async () => {
  const { server } = await started();
  const param = Object.fromEntries(Array.from({ length: 21 }, (_, at) => [`p${at}`, "x"]));
  const refused = await call(server, tokenOf("eyes"), "POST", "/expect", { endpoint: "token", param });
  expect([refused.status, refused.text]).toEqual([422, expect.stringContaining("more than 20 parameters")]);
});
