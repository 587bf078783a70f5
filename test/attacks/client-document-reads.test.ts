import { describe, expect, test } from "vitest";
import { underAttack } from "../helpers/attack.ts";
import { testClock } from "../helpers/clock.ts";
import { authorizeUrl, post } from "../helpers/client.ts";
import { documentServer, redirectUri } from "../helpers/document-server.ts";
import { documentSignIns } from "../helpers/document-sign-in.ts";

/** What a `client_id` makes this server read: what goes with a read, how long it is remembered, and how many one peer causes. */

const documents = await documentServer();
const { base } = documents;
const clock = testClock();
const open = await underAttack({
  now: clock.now,
  settings: { client_metadata_documents: true, client_metadata_loopback: true },
});
const { attempt, again } = documentSignIns(clock, [documents]);

test("nothing of the request goes with the read, and nothing in the document is read", async () => {
  const more = {
    logo_uri: `${base}/logo.png`,
    client_uri: `${base}/`,
    policy_uri: `${base}/policy`,
    tos_uri: `${base}/tos`,
  };
  const url = documents.publish("/modest.json", {
    ...more,
    backchannel_logout_uri: `${base}/logout`,
    skip_consent: true,
  });
  const { status, reads } = await attempt(open, url);
  expect([status, reads]).toEqual([303, ["/modest.json"]]);
  const { cookie, authorization, referer, accept } = documents.headers();
  expect([cookie, authorization, referer, accept]).toEqual([undefined, undefined, undefined, "application/json"]);
  const kept = await open.call("clients.show", { client_id: url });
  expect([kept["backchannel_logout_uri"], kept["skip_consent"]]).toEqual([undefined, undefined]);
});

describe("reads", () => {
  test.each([
    ["max-age", { "cache-control": "public, max-age=600" }, 599, 601],
    ["max-age less the age", { "cache-control": "max-age=600", age: "500" }, 99, 101],
    ["Expires", { date: "Thu, 01 Jan 2026 00:00:00 GMT", expires: "Thu, 01 Jan 2026 00:10:00 GMT" }, 599, 601],
    ["a day at most", { "cache-control": "max-age=9999999" }, 86_399, 86_401],
  ])("are remembered as the document says: %s", async (what, headers, within, after) => {
    const url = documents.publish(`/cached-${what.replaceAll(" ", "-")}.json`, {}, headers);
    expect((await attempt(open, url)).reads).toHaveLength(1);
    clock.pass(within);
    expect((await again(open, url)).reads).toEqual([]);
    clock.pass(after - within);
    expect((await again(open, url)).reads).toHaveLength(1);
  });

  test.each([
    [{}],
    [{ "cache-control": "no-store, max-age=600" }],
    [{ "cache-control": "no-cache" }],
    [{ expires: "0" }],
  ])("are not remembered with %j", async (headers) => {
    const url = documents.publish("/fresh.json", {}, headers);
    expect((await attempt(open, url)).reads).toHaveLength(1);
    expect((await again(open, url)).reads).toHaveLength(1);
  });

  test("a refusal is remembered for 60 s, whatever the answer says", async () => {
    const url = documents.answer("/broken", (_req, res) =>
      res.writeHead(500, { "cache-control": "max-age=600" }).end(),
    );
    expect((await attempt(open, url)).reads).toHaveLength(1);
    clock.pass(59);
    const refused = await again(open, url);
    expect([refused.reads, refused.error]).toEqual([[], expect.stringContaining("answered 500")]);
    clock.pass(2);
    expect((await again(open, url)).reads).toHaveLength(1);
  });

  test("one peer causes ten in a minute, at all endpoints together", async () => {
    clock.pass(61);
    const url = (count: number) => documents.publish(`/many-${count}.json`);
    for (let count = 0; count < 9; count++) expect((await again(open, url(count))).status).toBe(303);
    const par = (client_id: string) =>
      post(
        open,
        "/api/v2/oauth/par",
        {},
        {
          headers: { origin: "http://localhost:3000", "content-type": "application/x-www-form-urlencoded" },
          body: new URLSearchParams({ client_id }),
        },
      );
    expect((await par(url(9))).status).toBe(400);
    const before = documents.reads.length;
    expect((await par(url(10))).status).toBe(429);
    expect((await again(open, url(11))).status).toBe(429);
    expect(documents.reads).toHaveLength(before);
    clock.pass(61);
    expect((await again(open, url(11))).status).toBe(303);
  });

  test("another issuer of the process does not give it ten more", async () => {
    clock.pass(61);
    const url = (count: number) => documents.publish(`/spread-${count}.json`);
    for (let count = 0; count < 10; count++) expect((await again(open, url(count))).status).toBe(303);
    const other = await open.issuers.add("spread", { fixtures: { settings: { client_metadata_loopback: true } } });
    const asked = authorizeUrl(other, { client_id: url(10), redirect_uri: redirectUri });
    expect((await fetch(asked, { redirect: "manual" })).status).toBe(429);
    await open.issuers.remove("spread");
    clock.pass(61);
  });

  test("requests at the same moment share one", async () => {
    clock.pass(61);
    const url = documents.publish("/shared.json", {}, { "cache-control": "max-age=60" });
    const before = documents.reads.length;
    const all = await Promise.all(
      Array.from({ length: 30 }, () =>
        fetch(authorizeUrl(open, { client_id: url, redirect_uri: redirectUri }), { redirect: "manual" }),
      ),
    );
    expect(new Set(all.map(({ status }) => status))).toEqual(new Set([303]));
    expect(documents.reads).toHaveLength(before + 1);
  });
});
