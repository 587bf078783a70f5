import { expect, test } from "vitest";
import { listenForCallback } from "../../src/client/callback-listener.ts";

test("the browser waits for the result, which is shown as text whatever it holds", async () => {
  const listener = await listenForCallback(0);
  const browser = fetch(`${listener.redirectUri}?code=c0de&state=st4te`);
  expect((await listener.received(5)).get("code")).toBe("c0de");
  await listener.answer({ title: "Done & gone", sentence: "See.", rows: [["<b>name", '"<script>alert(1)</script>']] });
  const html = await (await browser).text();
  listener.close();
  expect(html).toContain("<h1>Done &amp; gone</h1>");
  expect(html).toContain("<dt>&lt;b&gt;name</dt><dd>&quot;&lt;script&gt;alert(1)&lt;/script&gt;</dd>");
  expect(html).not.toMatch(/<script|c0de|st4te/);
});
