import { describe, expect, test } from "vitest";
import { createIdp, type Idp } from "../../src/index.ts";
import { atEnd } from "../helpers/at-end.ts";
import { serve } from "../helpers/app.ts";
import { newDatabase } from "../helpers/postgres.ts";
import { testClock } from "../helpers/clock.ts";

/** Keys and sessions of the inspector: how many a token has, what each costs, and that they end with it. */

interface Inside {
  readonly path: string;
  readonly cookie: string;
}

/** The address at one instance. */
const here = ({ port }: Idp, url: string): string => `http://localhost:${port}${url.replace(/^http:\/\/[^/]*/, "")}`;

/** Opens the inspector, as the first page of a browser does. */
async function open(idp: Idp): Promise<Inside> {
  const { url } = await idp.call("inspector.open", {});
  const { headers } = await fetch(here(idp, url), { redirect: "manual" });
  return { path: new URL(url).pathname, cookie: (headers.getSetCookie()[0] ?? "").split(";")[0] ?? "" };
}

const statusOf = async (idp: Idp, { path, cookie }: Inside): Promise<number> =>
  (await fetch(here(idp, `${path}users`), { headers: { cookie } })).status;

async function startOn(store: string, options: { adminToken: string; now?: () => number }): Promise<Idp> {
  const idp = await createIdp({ port: 0, issuer: "http://localhost:4370", store, ...options });
  atEnd(() => idp.close());
  return idp;
}

const [first, second] = ["the-first-admin-token", "the-second-admin-token"];

describe("on a shared store", () => {
  test("a session ends with the admin token that opened it, at every instance", async () => {
    const store = await newDatabase();
    const [one, other] = [await startOn(store, { adminToken: first }), await startOn(store, { adminToken: first })];
    const inside = await open(one);
    expect([await statusOf(one, inside), await statusOf(other, inside)]).toEqual([200, 200]);
    const renewed = await startOn(store, { adminToken: second });
    expect(await statusOf(renewed, inside)).toBe(403);
  });

  test("sessions, the clock and faults end with the last instance that stops, and go on with another", async () => {
    const store = await newDatabase();
    const [one, other] = [await startOn(store, { adminToken: first }), await startOn(store, { adminToken: first })];
    const inside = await open(one);
    await one.clock.advance("31m");
    await one.faults.add({ endpoint: "jwks", status: 503, always: true });
    await one.close();
    expect(await statusOf(other, inside)).toBe(200);
    expect([(await other.clock.show()).offset, (await other.faults.list()).length]).toEqual([1860, 1]);
    await other.close();
    const later = await startOn(store, { adminToken: first });
    const { path } = await open(later);
    expect(path).not.toBe(inside.path);
    expect([await statusOf(later, inside), await statusOf(later, { ...inside, path })]).toEqual([404, 403]);
    expect([(await later.clock.show()).offset, await later.faults.list()]).toEqual([0, []]);
  });

  test("a session ends after twelve hours, whatever the clock of the server says", async () => {
    const clock = testClock();
    const idp = await startOn(await newDatabase(), { adminToken: first, now: clock.now });
    const inside = await open(idp);
    await idp.clock.advance("30d");
    clock.pass(12 * 3600 - 1);
    expect(await statusOf(idp, inside)).toBe(200);
    clock.pass(1);
    expect(await statusOf(idp, inside)).toBe(403);
  });
});

describe("a token has", () => {
  test("twenty keys: older ones end", async () => {
    const idp = await serve();
    const urls: string[] = [];
    for (let at = 0; at < 21; at += 1) urls.push((await idp.call("inspector.open", {})).url);
    const opened = await Promise.all(urls.map((url) => fetch(url, { redirect: "manual" })));
    expect(opened.map(({ status }) => status)).toEqual([403, ...Array<number>(20).fill(303)]);
  });

  test("a hundred sessions: older ones end", async () => {
    const idp = await serve();
    const sessions: Inside[] = [];
    for (let at = 0; at < 101; at += 1) sessions.push(await open(idp));
    expect(await Promise.all(sessions.slice(0, 3).map((one) => statusOf(idp, one)))).toEqual([403, 200, 200]);
    expect(await Promise.all(sessions.slice(-2).map((one) => statusOf(idp, one)))).toEqual([200, 200]);
  });
});
