import { describe, expect, test } from "vitest";
import { base64Of } from "../../src/core/records/keys/certificate.ts";
import { samlKeys } from "../../src/core/records/keys/saml-keys.ts";
import { startServer } from "../../src/serve/server.ts";
import { atEnd } from "../helpers/at-end.ts";
import { call, startWithTokens, tokenOf } from "../helpers/control-tokens.ts";
import { Browser } from "../helpers/browser.ts";
import { cpuTimeOf } from "../helpers/cpu-time.ts";

/** What a tester leaves in an issuer makes no small request of anybody expensive. Before the bounds, each took seconds of processor time. */

const server = await startWithTokens();
const qa = tokenOf("qa");
const app = { client_id: "app", client_secret: "secret-of-the-app", redirect_uris: ["http://localhost:3000/cb"] };

/** Adds an issuer of a tester. @returns its address */
async function issuerOf(name: string, fixtures: object): Promise<string> {
  const { status, text } = await call(server, qa, "POST", "/issuers", { name, fixtures });
  expect([status, status === 201 ? "" : text]).toEqual([201, ""]);
  return `${server.issuer.ctx.issuer}/i/${name}`;
}

const authorizeAt = (issuer: string, more: Readonly<Record<string, string>> = {}): string =>
  `${issuer}/api/v2/oauth/authorize?${new URLSearchParams({ response_type: "code", client_id: "app", redirect_uri: "http://localhost:3000/cb", ...more })}`;

/** Milliseconds of the cheapest of four: the first one compiles code, and another one may collect garbage. */
async function costOf(ask: () => Promise<unknown>): Promise<number> {
  const costs: number[] = [];
  for (let times = 0; times < 4; times += 1) costs.push(await cpuTimeOf(ask));
  return Math.min(...costs);
}

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `s${at}`);
const byName = (all: readonly string[], value: object): object => Object.fromEntries(all.map((name) => [name, value]));

test("a name of 30,000 combining marks, on the login page and in its search", async () => {
  const displayName = `a${"\u0344".repeat(15_000)}${"\u0316".repeat(15_000)}`;
  const issuer = await issuerOf("marks", { clients: [app], users: [{ username: "alice", displayName }] });
  const browser = new Browser(issuer);
  const { page, url } = await browser.open(authorizeAt(issuer));
  expect(page).toBe("login");
  for (const query of ["", "?q=alice", "?q=zz"])
    expect([query, (await costOf(() => browser.open(url + query))) < 500]).toEqual([query, true]);
});

describe("3,000 scopes, which a client may ask for", async () => {
  const all = names(3000);
  const issuer = await issuerOf("scopes", {
    clients: [{ ...app, scope: `${all.join(" ")} openid` }],
    scopes: byName(all, { claims: ["x"] }),
  });

  test.each([
    ["an unknown scope", { scope: "none" }],
    ["1,000 of them", { scope: all.slice(0, 1000).join(" ") }],
    [
      "1,000 claims",
      {
        scope: "openid",
        claims: JSON.stringify({ userinfo: Object.fromEntries(all.slice(0, 1000).map((one) => [one, null])) }),
      },
    ],
  ])("a request for %s", async (_what, more) => {
    const ask = () => fetch(authorizeAt(issuer, more), { redirect: "manual" });
    expect((await ask()).status).toBe(303);
    expect(await costOf(ask)).toBeLessThan(500);
  });

  test("a refusal proposes 200 of them at most", async () => {
    await fetch(authorizeAt(issuer, { scope: "none" }), { redirect: "manual" });
    const { json } = await call(server, qa, "GET", "/../../i/scopes/_idp/api/requests?endpoint=authorize");
    expect((json as readonly { fix: string }[]).at(-1)?.fix).toMatch(/ some of: openid offline_access s0 s1 .* s199$/);
  });
});

describe("addresses of a client", async () => {
  const long = (count: number): readonly string[] =>
    Array.from({ length: count }, (_, at) => `http://localhost:3000/${at}/${"c/".repeat(450)}`);

  test.each(["redirect_uris", "post_logout_redirect_uris"])("1,000 %s are the most", async (field) => {
    const uris = Array.from({ length: 1001 }, (_, at) => `http://localhost:3000/${at}`);
    const fixtures = { clients: [{ ...app, [field]: uris }] };
    const { status, text } = await call(server, qa, "POST", "/issuers", { name: "many", fixtures });
    expect([status, text]).toEqual([422, expect.stringContaining("has more than 1,000 addresses")]);
  });

  test("900 kB of them, and a refused request of the client", async () => {
    const issuer = await issuerOf("addresses", { clients: [{ ...app, redirect_uris: long(999) }] });
    const body = new URLSearchParams({ ...app, redirect_uris: "", grant_type: "authorization_code", code: "none" });
    const ask = () => fetch(`${issuer}/api/v2/oauth/token`, { method: "POST", body });
    expect((await ask()).status).toBe(400);
    expect(await costOf(ask)).toBeLessThan(150);
  });
});

test("100 keys that were rotated, as the certificates that Google's libraries read", async () => {
  const google = await startServer({ port: 0, fixtures: [{ settings: { endpoints: "google" } }] });
  atEnd(() => google.close());
  const { ctx } = google.issuer;
  await ctx.keys.jwks();
  await ctx.store.transaction((tx) => {
    const key = [...tx.all("keys")].find(({ alg }) => alg === "RS256");
    if (key === undefined) throw new Error("there is no key");
    const [retiredAt, expiresAt] = [ctx.now(), ctx.now() + 86_400_000];
    for (let at = 0; at < 100; at += 1) tx.put("keys", { ...key, kid: `old${at}`, retiredAt, expiresAt });
  });
  const ask = () => fetch(`${ctx.issuer}/oauth2/v1/certs`).then((answer) => answer.json() as Promise<object>);
  expect(Object.keys(await ask())).toContain("old99");
  expect(await costOf(ask)).toBeLessThan(60);
});

test("a client that asks for 15,000 values of acr by default, of 9,500 that there are", async () => {
  const values = (count: number, letter: string) => Array.from({ length: count }, (_, at) => `${letter}${at}`);
  const issuer = await issuerOf("acr", {
    clients: [{ ...app, default_acr_values: values(15_000, "b"), skip_consent: true }],
    users: [{ username: "alice" }],
    settings: { login: "auto:alice", acr: byName(values(9500, "a"), ["pwd"]) },
  });
  const ask = () => fetch(authorizeAt(issuer), { redirect: "manual" });
  expect((await ask()).headers.get("location")).toContain("code=");
  expect(await costOf(ask)).toBeLessThan(400);
});

test("the account page of a user with 2,500 apps shows the 100 that were allowed last", async () => {
  const apps = Array.from({ length: 2500 }, (_, at) => ({ ...app, client_id: `app${at}` }));
  const scope = "openid profile email details social address phone offline_access";
  const issuer = await issuerOf("account", {
    clients: apps,
    users: [{ username: "alice" }],
    grants: apps.map(({ client_id: client }) => ({ user: "alice", client, scope })),
    settings: { login: "auto:alice" },
  });
  const browser = new Browser(issuer);
  const open = () => browser.open(`${issuer}/account`);
  const { page, body } = await open();
  expect(page).toBe("account");
  expect(body.match(/ id="account-app-app\d+"/g)).toHaveLength(100);
  expect(body).toContain("account-app-app2499");
  expect(body.replaceAll(/<[^>]*>/g, "")).toContain("Older apps not shown: 2400");
  expect(await costOf(open)).toBeLessThan(90);
});

test("a search among 4,000 users with long names", async () => {
  const users = Array.from({ length: 4000 }, (_, at) => ({ username: `u${at}`, displayName: "\u00e9".repeat(80) }));
  const issuer = await issuerOf("search", { clients: [app], users });
  const browser = new Browser(issuer);
  const { url } = await browser.open(authorizeAt(issuer));
  expect(await costOf(() => browser.open(`${url}?q=zz`))).toBeLessThan(70);
});

test("20 service providers with 30 kB of metadata, in the metadata of the server", async () => {
  const [{ certificate }] = await samlKeys(server.issuer.ctx);
  const services = Array.from(
    { length: 220 },
    (_, at) =>
      `<md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="https://sp.example/${at}" index="${at}"/>`,
  ).join("");
  const metadataOf = (id: string): string =>
    `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${id}">
    <md:SPSSODescriptor AuthnRequestsSigned="true" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
    <md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${base64Of(certificate)}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
    ${services}</md:SPSSODescriptor></md:EntityDescriptor>`;
  const ids = Array.from({ length: 20 }, (_, at) => `https://sp.example/${at}`);
  const issuer = await issuerOf("saml", {
    clients: ids.map((id) => ({ client_id: id, saml: { metadata: metadataOf(id) } })),
  });
  const ask = () => fetch(`${issuer}/saml/metadata`).then((answer) => answer.text());
  expect(await ask()).toContain('WantAuthnRequestsSigned="true"');
  expect(await costOf(ask)).toBeLessThan(40);
});
