import { request as httpRequest } from "node:http";
import { expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { openInspector, textOf } from "../helpers/inspector.ts";

/** The list of all sign-ins in the inspector, and what is on each of its pages. */

const idp = await serve();
const { browser, at } = await openInspector(idp);
const app = await register(idp, { client_id: "shop" });

test("a moved clock and faults are on every page; faults and sign-ins have different letters", async () => {
  const own = await serve();
  const inside = await openInspector(own);
  const pages = ["", "users", "clients", "grants", "tokens", "testing", "fixtures"];
  for (const page of pages) expect((await inside.browser.open(inside.at(page))).body).not.toContain("inspector-banner");
  await own.clock.advance("2h30m");
  const { id } = await own.call("faults.add", { endpoint: "token", status: 503, always: true });
  expect(id).toMatch(/^x\d+$/);
  for (const page of pages) {
    const shown = textOf(await inside.browser.open(inside.at(page)));
    expect(shown).toContain("The clock is 2 hours 30 minutes ahead. Active faults: 1.");
  }
});

test("without a sign-in, the command that makes one", async () => {
  await idp.call("requests.clear", {});
  const empty = await browser.open(at());
  expect([empty.state, textOf(empty).includes("idp login")]).toEqual(["empty", true]);
});

test("a thousand entries, and neither the inspector nor the control API is among them", async () => {
  for (let at = 0; at < 1000; at += 50) {
    await Promise.all(Array.from({ length: 50 }, () => fetch(app.url({ prompt: "none" }), { redirect: "manual" })));
  }
  const { body } = await browser.open(at());
  expect(body.match(/ id="row-flow-/g)).toHaveLength(100);
  expect((await idp.call("requests.list", {})).filter(({ path }) => path.startsWith("/_idp/"))).toEqual([]);
});

test("the stream says of which sign-in a request is, and ends with the server", async () => {
  const own = await serve();
  const inside = await openInspector(own);
  const cookie = [...inside.browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const heard = new Promise<string>((resolve, reject) => {
    let text = "";
    httpRequest(inside.at("stream"), { headers: { cookie } }, (response) => {
      response.on("data", (chunk: Buffer) => {
        if (text === "") void fetch(`${own.issuer}/api/v2/oauth/authorize`);
        text += chunk.toString();
        if (text.includes("data:")) void own.close();
      });
      response.on("end", () => resolve(text));
      response.on("error", reject);
    }).end();
  });
  expect(await heard).toMatch(/^data: f[a-z]*\d+$/m);
  expect((await fetch(at("stream"))).status).toBe(403);
});
