import { expect, test } from "vitest";
import { renderEnded } from "../../src/http/pages.ts";
import { createRenderer } from "../../src/http/render.ts";
import type { EndedView } from "../../src/http/views.ts";
import { hooked, wordsOf } from "../helpers/html.ts";

const renderer = createRenderer();

const ended = async (view: Pick<EndedView, "step" | "state"> & Partial<EndedView>): Promise<string> =>
  (await renderEnded(renderer, { lang: "en", base: "", client: null, href: null, ...view })).html;

const demoApp = { id: "demo-app", name: "Demo App" };

test("leads back to the app where it is known", async () => {
  const href = "http://localhost:3000/";
  const html = await ended({ step: "login", state: "expired", client: demoApp, href });
  expect(hooked(html, "login-again").attributes["href"]).toBe(href);
  expect(html).toContain("Go to Demo App");
});

test("names the app to go back to where there is no address of it", async () => {
  const html = await ended({ step: "consent", state: "expired", client: demoApp });
  expect(wordsOf(html).replace(/\s+/g, " ")).toContain("Go back to Demo App and start again from there.");
  expect(html).not.toContain("consent-again");
});

test("names localhost and 127.0.0.1 as the likely cause of a missing cookie, and leads to the right address", async () => {
  const href = "http://localhost:4370/interaction/f7Q2/login";
  const html = await ended({ step: "login", state: "no-cookie", href });
  expect(wordsOf(html)).toMatch(/“localhost” and “127\.0\.0\.1” are two different places/);
  expect(hooked(html, "login-again").attributes["href"]).toBe(href);
});

test("sends nobody back who has answered already", async () => {
  const html = await ended({ step: "consent", state: "finished" });
  expect(html).toContain("You have answered already");
  expect(html).not.toContain("start again");
  expect(html).not.toContain("Error:");
});
