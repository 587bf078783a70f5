import { expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { testClock } from "../helpers/clock.ts";
import { attackedInspector, inside } from "../helpers/attacked-inspector.ts";

/** The key that opens the inspector: once, for ten minutes, and for nobody who is not handed it. */

const { idp, events, origin, newKey, place, at, get } = await attackedInspector();

test("a key has 256 bits, sets a cookie for these pages alone, and leaves the address", async () => {
  const url = await newKey();
  const key = new URL(url).searchParams.get("key") ?? "";
  expect(Buffer.from(key, "base64url")).toHaveLength(32);
  const { response, cookies, body } = await get(url);
  expect([response.status, response.headers.get("location"), body]).toEqual([303, place, ""]);
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(response.headers.get("referrer-policy")).toBe("no-referrer");
  expect(cookies).toEqual([
    expect.stringMatching(/^idp_\d+_inspector=[\w-]{43}; Path=[\w/-]+; HttpOnly; SameSite=Strict$/) as string,
  ]);
  expect(/Path=([^;]+)/.exec(cookies.join())?.[1]).toBe(place);
  expect(cookies.join()).not.toContain(key);
});

test.each([
  ["a page of another site", "", { "sec-fetch-site": "cross-site", "sec-fetch-dest": "document" }],
  ["a page of another site, of which no more is said", "", { "sec-fetch-site": "cross-site" }],
  ["the file that idp open gives a browser", "&from=file", {}],
])(
  "a key behind %s: a page without the key goes on, because a redirect would not send the cookie",
  async (_, more, headers) => {
    const url = `${await newKey()}&flow=f1`;
    const { response, cookies, body } = await get(url + more, headers);
    expect([response.status, response.headers.get("location")]).toEqual([200, null]);
    expect(response.headers.get("refresh")).toBe(`0; url=${place}sign-ins/f1`);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("referrer-policy")).toBe("no-referrer");
    expect(body).not.toContain("key=");
    expect(body).not.toMatch(inside);
    const again = await get(url + more, headers);
    expect([again.response.status, again.cookies]).toEqual([403, []]);
    expect((await get(at("users"), { cookie: (cookies[0] ?? "").split(";")[0] ?? "" })).response.status).toBe(200);
  },
);

test("a key of the file: HEAD says whether it can still be used, sets no cookie, and does not use it up", async () => {
  const url = `${await newKey()}&from=file`;
  for (const _ of [1, 2]) {
    const { response, cookies } = await get(url, {}, "HEAD");
    expect([response.status, cookies]).toEqual([200, []]);
  }
  expect((await get(url.replace("key=", "key=x"), {}, "HEAD")).response.status).toBe(403);
  expect((await get(url)).response.status).toBe(200);
  expect((await get(url, {}, "HEAD")).response.status).toBe(403);
});

test("a key opens one session", async () => {
  const url = await newKey();
  expect((await get(url)).response.status).toBe(303);
  const again = await get(url);
  expect([again.response.status, again.cookies]).toEqual([403, []]);
  expect(again.body).toContain("This key opened the inspector before");
  expect(again.body).not.toMatch(inside);
});

test("a key opens one session, whoever of fifty is first", async () => {
  const url = await newKey();
  const all = await Promise.all(Array.from({ length: 50 }, () => get(url)));
  expect(all.filter(({ cookies }) => cookies.length > 0)).toHaveLength(1);
});

test("a key expires after ten minutes", async () => {
  const clock = testClock();
  const aging = await serve({ now: clock.now });
  const [late, early] = [await aging.call("inspector.open", {}), await aging.call("inspector.open", {})];
  clock.pass(599);
  expect((await get(early.url)).response.status).toBe(303);
  clock.pass(1);
  expect((await get(late.url)).response.status).toBe(403);
});

test.each<[name: string, headers: Record<string, string>, method?: string]>([
  ["a HEAD", {}, "HEAD"],
  ["a prefetch", { "sec-purpose": "prefetch" }],
  ["a prerender", { "sec-purpose": "prefetch;prerender" }],
  ["a prefetch of an older browser", { purpose: "prefetch" }],
  ["an image of a page of another port", { "sec-fetch-site": "same-site", "sec-fetch-dest": "image" }],
  ["a frame of a foreign page", { "sec-fetch-site": "cross-site", "sec-fetch-dest": "iframe" }],
])("a key is not used up by %s", async (_name, headers, method) => {
  const url = await newKey();
  const { response, cookies } = await get(url, headers, method);
  expect([response.status, cookies]).toEqual([403, []]);
  expect((await get(url)).response.status).toBe(303);
});

test.each(["f1", "r1", "x", "../users", "//evil.test", "f1?x=1", "f1/../../.."])(
  "a key leads to a sign-in or to the list, whatever flow %j says",
  async (flow) => {
    const { response } = await get(`${await newKey()}&flow=${encodeURIComponent(flow)}`);
    const page = /^[fr]\d+$/.test(flow) ? `sign-ins/${flow}` : "";
    expect([response.status, response.headers.get("location")]).toEqual([303, place + page]);
  },
);

test.each(["", "x", "A".repeat(43), "key=1&key=2", "%00", "%ff"])("a key %j is refused", async (key) => {
  const { response, cookies } = await get(at(`?key=${key}`));
  expect([response.status < 500, response.status >= 400, cookies]).toEqual([true, true, []]);
});

test("a key appears in no line of the request log, and on no page", async () => {
  const url = await newKey();
  const key = new URL(url).searchParams.get("key") ?? "";
  const closed = await get(url, { "sec-purpose": "prefetch" });
  const foreign = await get(`${url}&key=2`);
  await get(url);
  expect(closed.body + foreign.body).not.toContain(key);
  expect(events.length).toBeGreaterThan(0);
  expect(JSON.stringify(events)).not.toContain(key);
});

test("a planted cookie is not adopted: each key makes a new one", async () => {
  const planted = "B".repeat(43);
  const { cookies } = await get(await newKey(), { cookie: `idp_${idp.port}_inspector=${planted}` });
  expect(cookies.join()).not.toContain(planted);
  expect((await get(at("users"), { cookie: `idp_${idp.port}_inspector=${planted}` })).response.status).toBe(403);
});

test("a key needs the control API, and that needs the admin token", async () => {
  const { status } = await fetch(`${origin}/_idp/api/inspector/open`, { method: "POST" });
  expect(status).toBe(401);
});
