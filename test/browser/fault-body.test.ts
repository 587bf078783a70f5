import { expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { sharedChromium } from "../helpers/chromium.ts";

/**
 * The body of a fault in a real browser, which has a session and the cookie of the inspector.
 * @module-tag browser
 */

const browser = await sharedChromium();

test("a body with a script does not run it, and is of no origin", async () => {
  const idp = await serve();
  const page = await browser.newPage();
  const { url } = await idp.call("inspector.open", {});
  await page.goto(url);
  const [place = ""] = url.split("?");
  const body = `<p id="read">nothing</p><script>
    fetch(${JSON.stringify(place)}).then((answer) => answer.text()).then((text) => { read.textContent = text; });
    read.textContent = "it runs";
  </script>`;
  const policy = { "Content-Security-Policy": "script-src 'unsafe-inline'; connect-src 'self'" };
  for (const header of [policy, undefined]) {
    await idp.faults
      .add({ endpoint: "jwks", status: 200, body, content_type: "text/html", always: true, ...(header && { header }) })
      .catch(() => null);
    await page.goto(`${idp.issuer}/api/v2/oauth/jwks`, { waitUntil: "networkidle" });
    if (header === undefined) {
      expect(await page.textContent("#read")).toBe("nothing");
      expect(await page.evaluate("self.origin")).toBe("null");
    }
    expect(await page.content()).not.toContain("Sign-ins");
    await idp.faults.clear();
  }
});
