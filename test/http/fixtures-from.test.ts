import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";
import { expect, test } from "vitest";
import { problemText } from "../../src/core/base/errors.ts";
import { readFrom } from "../../src/migrate/tools.ts";
import { fixtureText } from "../../src/migrate/draft.ts";
import type { FixtureClient } from "../../src/core/protocol/client-metadata/schema.ts";
import type { FixtureUser } from "../../src/core/records/users/schema.ts";
import { serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl, exchange, jwtPart, pkce, signIn } from "../helpers/client.ts";

/**
 * Users of another tool's file sign in: each from the picker, and with their password where the file has it. What each tool's files become:
 * core/fixtures-from.test.ts.
 */

test("a realm of Keycloak", async () => {
  const name = "keycloak-realm.json";
  const file = readFileSync(fileURLToPath(new URL(`../fixtures-from/${name}`, import.meta.url)), "utf8");
  const { draft, leftOut } = await readFrom("keycloak", [{ name, text: file }]);
  const loginClient = { client_id: "cli", redirect_uris: ["http://127.0.0.1:*/callback"] };
  const text = fixtureText(draft, leftOut.map(problemText), { command: "", schema: null, loginClient });
  const idp = await serve({ fixtures: [{ name: "idp.fixtures.yaml", text }] });
  const { users, clients } = load(text) as { users: readonly FixtureUser[]; clients: readonly [FixtureClient] };
  const { verifier, challenge } = pkce();
  const redirect_uri = "http://127.0.0.1:5000/callback";
  const asked = { client_id: "cli", redirect_uri, code_challenge: challenge, code_challenge_method: "S256" };
  const proof = { client_id: "cli", client_secret: null, redirect_uri, code_verifier: verifier };
  for (const { username, id, password, status } of users) {
    if (status === "suspended") {
      await expect(signIn(idp, { ...asked, user: username })).rejects.toThrow("suspended");
      continue;
    }
    const { json } = await exchange(idp, (await signIn(idp, { ...asked, user: username })).code, proof);
    if (id !== undefined) expect(jwtPart(json.id_token, 1)["sub"]).toBe(id);
    expect(jwtPart(json.access_token, 0)["alg"]).toBe("RS256");
    if (password === undefined) continue;
    const browser = new Browser(idp.issuer);
    const page = await browser.open(authorizeUrl(idp, asked));
    expect((await browser.press(page, "login-submit", { username, password })).left).not.toBeNull();
  }
  const kinds = users.map(({ password, status }) => status ?? (password === undefined ? "picked" : "password"));
  expect(new Set(kinds)).toEqual(new Set(["suspended", "picked", "password"]));
  const [{ client_id, client_secret = "", scope = "", redirect_uris: [uri = ""] = [] }] = clients;
  const own = { ...asked, client_id, redirect_uri: uri, scope };
  const { code } = await signIn(idp, { ...own, user: users[0]?.username ?? "" });
  const { json } = await exchange(idp, code, { ...proof, client_id, client_secret, redirect_uri: uri });
  expect(jwtPart(json.access_token, 1)["client_id"]).toBe(client_id);
});
