import { expect, test } from "vitest";
import { isAtLoopback, listen } from "../../src/check/frame/listener.ts";

/** The address that a message names, to see whether anybody fetches it. */

test("it answers and records at its own path alone, and is closed with the case", async () => {
  const listener = await listen((own) => JSON.stringify({ own }));
  const { url, seen } = listener;
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\da-f]{24}$/);
  expect(await (await fetch(url)).json()).toEqual({ own: url });
  // Somebody who tries ports is nobody who fetches what the message names.
  expect((await fetch(new URL("/", url))).status).toBe(404);
  await fetch(`${url}/dtd`, { method: "POST" });
  const { pathname } = new URL(url);
  expect(seen).toEqual([`GET ${pathname}`, `POST ${pathname}/dtd`]);
  await listener.close();
  await expect(fetch(url)).rejects.toThrow();
});

test.each([
  ["http://localhost:3000/orders", true],
  ["http://127.0.0.1:3000/", true],
  ["http://[::1]:3000/", true],
  ["http://192.168.1.5:3000/", false],
  ["http://nobody.invalid/", false],
])("whether whoever is at %s reaches this machine's loopback: %s", async (url, reaches) => {
  expect(await isAtLoopback(url)).toBe(reaches);
});
