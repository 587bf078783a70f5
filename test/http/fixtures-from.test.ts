import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";
import { expect, test } from "vitest";
import type { ToolName } from "../../src/migrate/tool-names.ts";
import { problemText } from "../../src/core/errors.ts";
import { readFrom } from "../../src/migrate/tools.ts";
import { fixtureText } from "../../src/migrate/write.ts";
import type { FixtureClient } from "../../src/core/client-metadata/schema.ts";
import type { FixtureUser } from "../../src/core/users/schema.ts";
import { serve } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl, exchange, jwtPart, pkce, post, signIn } from "../helpers/client.ts";
import { foreignFiles } from "../helpers/foreign-files.ts";

/** Users of other tools' files sign in: each from the picker, and with their password where the file has it. */

const read = (name: string) => ({
  name,
  text: readFileSync(fileURLToPath(new URL(`../fixtures-from/${name}`, import.meta.url)), "utf8"),
});

test.each<[ToolName, ...string[]]>(foreignFiles)("%s %s", async (tool, ...names) => {
  const { draft, leftOut } = await readFrom(tool, names.map(read));
  const loginClient = { client_id: "cli", redirect_uris: ["http://127.0.0.1:*/callback"] };
  const text = fixtureText(draft, leftOut.map(problemText), {
    command: "",
    schema: null,
    loginClient: { ...loginClient },
  });
  const idp = await serve({ fixtures: [{ name: "idp.fixtures.yaml", text }] });
  const { users, clients } = load(text) as { users: readonly FixtureUser[]; clients: readonly FixtureClient[] };
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
  // The first client that users sign in to does so, too.
  const client = clients.find(({ redirect_uris, client_id }) => redirect_uris !== undefined && client_id !== "cli");
  const person = users.find(({ status }) => status !== "suspended");
  if (client === undefined || person === undefined) return;
  const { client_id, client_secret = null, redirect_uris: [uri = ""] = [] } = client;
  const own = { ...asked, client_id, redirect_uri: uri, ...(client.scope !== undefined && { scope: client.scope }) };
  const { code } = await signIn(idp, { ...own, user: person.username });
  const isBasic = client.token_endpoint_auth_method === "client_secret_basic";
  const inBody = { ...proof, client_id, client_secret: isBasic ? null : client_secret, redirect_uri: uri };
  const basic = { authorization: `Basic ${btoa(`${client_id}:${client_secret ?? ""}`)}` };
  const body = { grant_type: "authorization_code", code, ...inBody };
  const { json } = await post(idp, "/api/v2/oauth/token", body, {
    headers: { "content-type": "application/json", ...(isBasic && basic) },
  });
  expect(jwtPart(json.access_token, 1)["client_id"]).toBe(client_id);
});
