import { expect, test } from "vitest";
import { peopleInChromium } from "../helpers/person-in-chromium.ts";

/**
 * The device page in a real browser, scripts off, and the page that signs out.
 * @module-tag browser
 */

const newPerson = peopleInChromium();

test("by keyboard alone: a device is connected, then the person signs out", async () => {
  const { idp, page, place, tabTo, enter } = await newPerson();
  const answer = await fetch(`${idp.issuer}/api/v2/oauth/device_authorization`, {
    method: "POST",
    body: new URLSearchParams({ client_id: "tv", scope: "openid email" }),
  });
  const { user_code } = (await answer.json()) as { user_code: string };
  await page.goto(`${idp.issuer}/device`);
  await tabTo("login-as-bob");
  await enter();
  await tabTo("device-code");
  await page.keyboard.type(user_code.toLowerCase().replace("-", " "));
  await enter();
  expect(await place()).toBe("device confirm");
  expect(await page.getByTestId("device-shown-code").textContent()).toBe(user_code);
  await tabTo("device-allow");
  await enter();
  expect(await place()).toBe("device done");
  expect(await idp.call("grants.list", {})).toMatchObject([{ user: "bob", client: "tv", scope: "openid email" }]);

  await page.goto(`${idp.issuer}/api/v2/oauth/logout`);
  expect(await place()).toBe("logout default");
  await tabTo("logout-confirm");
  await enter();
  expect(await place()).toBe("signed-out done");
});
