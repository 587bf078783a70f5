import { expect, test } from "vitest";
import type { RequestEvent } from "../../src/index.ts";
import { serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl } from "../helpers/client.ts";
import { wordsOf } from "../helpers/html.ts";

test.each(["suspend", "ban"] as const)(
  "login: auto: of a user after %s: page and log say why, and how to go on",
  async (act) => {
    const events: RequestEvent[] = [];
    const idp = await serve({ settings: { login: "auto:alice" }, onRequest: (event) => events.push(event) });
    const browser = new Browser(idp.issuer);
    const url = authorizeUrl(idp, {});
    await idp.call(`users.${act}`, { username: "alice" });
    const page = await browser.open(url);
    const status = act === "ban" ? "banned" : "suspended";
    expect([page.page, page.status]).toEqual(["login", 200]);
    expect(wordsOf(page.body)).toMatch(new RegExp(`alice.*${status}.*idp users restore alice`, "s"));
    expect(events.find(({ endpoint }) => endpoint === "login")).toMatchObject({
      user: "alice",
      error: `login is auto:alice, but alice is ${status}`,
      fix: "idp users restore alice",
    });
    await idp.call("users.restore", { username: "alice" });
    expect((await browser.open(url)).page).toBe("consent");
  },
);
