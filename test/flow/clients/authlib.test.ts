import { join } from "node:path";
import { expect, test } from "vitest";
import { approve, Browser } from "../../helpers/browser.ts";
import { startPython } from "../../helpers/python.ts";
import { relyingPartySecret, startIdpFor } from "../../helpers/relying-party.ts";

/** Authlib signs a user in, and PyJWT verifies the ID token: `sign_in.py`. */

interface Learned {
  readonly claims: Readonly<Record<string, unknown>>;
  readonly sub: string;
  readonly nonce: string;
  readonly access_tokens: readonly [string, string];
}

test("Authlib signs alice in and refreshes, and PyJWT accepts the ID token", { tags: ["authlib"] }, async () => {
  const callback = "http://localhost:3000/callback";
  const { issuer } = await startIdpFor([callback]);
  const script = join(import.meta.dirname, "sign_in.py");
  const python = startPython(script, [issuer, "app", relyingPartySecret, callback]);
  const browser = new Browser(issuer);
  const { left } = await approve(browser, await browser.open(await python.nextLine()));
  python.write(left?.href ?? "");
  const { claims, sub, nonce, access_tokens } = JSON.parse(await python.nextLine()) as Learned;
  expect(claims).toMatchObject({ iss: issuer, aud: "app", nonce, name: "Alice Adams", email: "alice@example.com" });
  expect(sub).toBe(claims["sub"]);
  expect(access_tokens[0]).not.toBe(access_tokens[1]);
  expect(await python.end()).toEqual([0, null]);
});
