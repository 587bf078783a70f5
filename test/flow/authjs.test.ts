import { ExpressAuth, type ExpressAuthConfig } from "@auth/express";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { approve, Browser, type Visit } from "../helpers/browser.ts";
import { idp as command, newFolder } from "../helpers/cli.ts";
import { blocks } from "../helpers/readme.ts";
import { relyingPartySecret, startIdpFor, startRelyingParty } from "../helpers/relying-party.ts";

/** The callbacks of the guide. */
const [callbacks = ""] = blocks("The session of Auth.js lacks roles", "js");
const folder = newFolder(afterAll);
const file = join(folder, "config.mjs");
writeFileSync(file, `export default {\n${callbacks}\n};`);
const { default: ofGuide } = (await import(pathToFileURL(file).href)) as {
  readonly default: Pick<ExpressAuthConfig, "callbacks">;
};

/** Auth.js, unmodified, with an OpenID Connect provider that is described by its issuer alone. */

const { app, url } = await startRelyingParty();
const idp = await startIdpFor([`${url}/auth/callback/idp`]);

app.use(
  "/auth",
  ExpressAuth({
    secret: "a long secret of the application's own",
    trustHost: true,
    ...ofGuide,
    logger: { error: () => undefined },
    providers: [
      { id: "idp", name: "idp", type: "oidc", issuer: idp.issuer, clientId: "app", clientSecret: relyingPartySecret },
    ],
  }),
);

async function signIn(browser: Browser): Promise<Visit> {
  const { csrfToken } = JSON.parse((await browser.open(`${url}/auth/csrf`)).body) as { readonly csrfToken: string };
  const body = new URLSearchParams({ csrfToken, callbackUrl: `${url}/auth/session` });
  return browser.open(`${url}/auth/signin/idp`, { method: "POST", body, headers: { origin: url } });
}

test("alice signs in", async () => {
  const browser = new Browser(idp.issuer, url);
  const session = await approve(browser, await signIn(browser));
  expect(session.url).toBe(`${url}/auth/session`);
  expect(JSON.parse(session.body)).toMatchObject({ user: { name: "Alice Adams", email: "alice@example.com" } });
});

test("a user who denies is not signed in", async () => {
  const browser = new Browser(idp.issuer, url);
  const consent = await browser.press(await signIn(browser), "login-as-bob");
  await browser.press(consent, "consent-deny");
  expect(JSON.parse((await browser.open(`${url}/auth/session`)).body)).toBeNull();
});

test("roles are in the session, with the callbacks of docs/cookbook.md", async () => {
  const edited = await command(["users", "edit", "alice", "--add-claim", 'roles=["admin"]'], { cwd: idp.cwd });
  expect(edited.code, edited.stderr).toBe(0);
  const browser = new Browser(idp.issuer, url);
  const session = await approve(browser, await signIn(browser));
  expect(JSON.parse(session.body)).toMatchObject({ user: { name: "Alice Adams", roles: ["admin"] } });
});
