import { expect, test } from "vitest";
import { register, serve, type App } from "../helpers/app.ts";
import { Browser } from "../helpers/browser.ts";
import { jwtPart, paths, pick, post, type Answer, type Body } from "../helpers/client.ts";

/** The era of the issuer: each access and refresh token carries it, and it never falls. */

const idp = await serve();
const deviceGrant = "urn:ietf:params:oauth:grant-type:device_code";
const exchangeGrant = "urn:ietf:params:oauth:grant-type:token-exchange";
const app = await register(idp, {
  grant_types: ["authorization_code", "refresh_token", "client_credentials", deviceGrant, exchangeGrant],
});

const eraOf = (token: unknown): unknown => jwtPart(String(token), 1)["era"];
const erasOf = (tokens: Pick<Body, "access_token"> & { readonly refresh_token?: string }): unknown[] => [
  eraOf(tokens.access_token),
  eraOf(tokens.refresh_token),
];
const ask = (body: Record<string, string>, by: App = app): Promise<Answer> =>
  post(idp, paths.token, { ...by.credentials, ...body });

async function byDevice(): Promise<Body> {
  const { client_id, client_secret } = app.credentials;
  const body = new URLSearchParams({ client_id, client_secret: String(client_secret), scope: "openid" });
  const begun = await post(idp, "/api/v2/oauth/device_authorization", {}, { headers: {}, body });
  const { user_code, device_code } = begun.json as unknown as Record<string, string>;
  const browser = new Browser(idp.issuer);
  await pick(browser, await browser.open("/account"), "alice");
  await browser.press(await browser.open(`/device?user_code=${user_code}`), "device-allow");
  return (await ask({ grant_type: deviceGrant, device_code: String(device_code) })).json;
}

/** Imports the present data as an export that says this era; undefined: none. */
async function importEra(era: number | undefined): Promise<void> {
  const state = (await idp.call("export", {})) as { readonly meta: readonly { readonly id: string }[] };
  const meta = state.meta.filter(({ id }) => id !== "era");
  const document = { ...state, meta: era === undefined ? meta : [...meta, { id: "era", value: era }] };
  await idp.call("import", { ...document });
}

const flows: Record<string, () => Promise<unknown[]>> = {
  "a code": async () => erasOf(await app.tokens()),
  "a refresh": async () => erasOf((await app.refresh((await app.tokens()).refresh_token)).json),
  "a device": async () => erasOf(await byDevice()),
  "client credentials": async () => [eraOf((await ask({ grant_type: "client_credentials" })).json.access_token)],
  "an exchange": async () => {
    const token = (await app.tokens()).access_token;
    const subject_token_type = "urn:ietf:params:oauth:token-type:access_token";
    const answer = await ask({ grant_type: exchangeGrant, subject_token: token, subject_token_type });
    const claims = jwtPart(answer.json.access_token, 1) as { era: number; exchanged_from: { era: number }[] };
    return [claims.era, claims.exchanged_from[0]?.era];
  },
  "the command issue tokens": async () =>
    erasOf(await idp.issueTokens({ user: "alice", client: app.credentials.client_id })),
};

test.each(Object.entries(flows))("the tokens of %s contain it, from 1 on", async (_, flow) => {
  expect(new Set(await flow())).toEqual(new Set([1]));
});

test("an ID token does not contain it", async () => {
  expect(jwtPart((await app.tokens()).id_token, 1)).not.toHaveProperty("era");
});

test("an import may raise it, and neither an import nor a reset lowers it", async () => {
  await importEra(7);
  expect(erasOf(await app.tokens())).toEqual([7, 7]);
  await importEra(3);
  expect(erasOf(await app.tokens())).toEqual([7, 7]);
  await importEra(undefined);
  expect(erasOf(await app.tokens())).toEqual([7, 7]);
  await idp.reset();
  const again = await register(idp);
  expect(erasOf(await again.tokens())).toEqual([7, 7]);
});
