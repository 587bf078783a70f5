import { expect, test } from "vitest";
import { enroll, serve } from "../helpers/app.ts";
import { approve, Browser, type Visit } from "../helpers/browser.ts";
import { signIn } from "../helpers/client.ts";
import {
  authnRequest,
  certificatesOf,
  formats,
  newKey,
  postedBy,
  postRequest,
  redirectUrl,
  registerSp,
  rsaSha1,
  signedBy,
  signInBySaml,
  signXml,
  type Posted,
  type RequestChange,
  type Sp,
} from "../helpers/saml.ts";

/** Each refusal of an AuthnRequest: a page where nobody is proven, else a signed status at the registered address. */

const idp = await serve();
const sso = `${idp.issuer}/saml/sso`;
const [certificate = ""] = await certificatesOf(idp);
const open = (sp: Sp, change: RequestChange = {}, browser = new Browser(idp.issuer)): Promise<Visit> =>
  browser.open(redirectUrl(sso, authnRequest(idp, sp, change), "state"));

const isPage = ({ status, page, body }: Visit): void => {
  expect([status, page]).toEqual([400, "error"]);
  expect(body).not.toContain("SAMLResponse");
};

/** A status at the registered address. */
async function statusOf(sp: Sp, change: RequestChange, browser?: Browser): Promise<Posted> {
  const posted = postedBy(await open(sp, change, browser));
  expect(posted.action).toBe(sp.acs);
  expect(posted.relayState).toBe("state");
  expect(posted.response.document.getElementsByTagNameNS("*", "Assertion").length).toBe(0);
  expect(signedBy(posted.xml, certificate)).toEqual(["Response"]);
  expect(posted.response.statusMessage).toMatch(/SAML (?:Core|Bindings|Profiles) \d/);
  return posted;
}

const context = (classes: readonly string[], comparison = "exact"): RequestChange => ({
  inside: `<samlp:RequestedAuthnContext Comparison="${comparison}">${classes.map((one) => `<saml:AuthnContextClassRef>${one}</saml:AuthnContextClassRef>`).join("")}</samlp:RequestedAuthnContext>`,
});

test("an unknown entityID: the page shows it, the address, and the command that registers both", async () => {
  const visit = await open({ entityId: "http://localhost:9999/unknown-sp", acs: "http://localhost:9999/acs" });
  isPage(visit);
  for (const part of ["http://localhost:9999/unknown-sp", "http://localhost:9999/acs"])
    expect(visit.body).toContain(part);
  expect(visit.body.replaceAll(/<[^>]+>/g, "")).toContain(
    "clients add http://localhost:9999/unknown-sp --saml-acs http://localhost:9999/acs",
  );
});

test("words that are not plain stand beside the command", async () => {
  const visit = await open({ entityId: "http://localhost:9999/$(id)", acs: "http://localhost:9999/acs" });
  isPage(visit);
  const text = visit.body.replaceAll(/<[^>]+>/g, "");
  expect(text).toContain("clients add VALUE --saml-acs http://localhost:9999/acs");
  expect(text).toContain("VALUE is http://localhost:9999/$(id)");
});

test.each([
  "http://localhost:3000/acs/",
  "http://localhost:3000/acs?x=1",
  "HTTP://localhost:3000/acs",
  "http:localhost:3000/acs",
  "https://evil.test/acs",
])("an address that is not registered letter by letter: %s", async (acs) => {
  const sp = await registerSp(idp, { acs: ["http://localhost:3000/acs"] });
  const visit = await open({ ...sp, acs });
  isPage(visit);
  expect(visit.body.replaceAll(/<[^>]+>/g, "")).toContain(acs);
});

test("an index that nobody registered, a client of OpenID Connect, and no request at all", async () => {
  const sp = await registerSp(idp);
  isPage(await open(sp, { attributes: { AssertionConsumerServiceURL: null, AssertionConsumerServiceIndex: "9" } }));
  isPage(await open({ entityId: "demo-app", acs: "http://localhost:3000/callback" }));
  isPage(await new Browser(idp.issuer).open(sso));
  isPage(await open(sp, { issuer: null }));
});

test("two addresses of a service provider with one index", async () => {
  const acs = ["/one", "/two"].map((path) => ({ url: `http://localhost:3000${path}`, index: 4 }));
  const client = { client_id: "urn:twice", saml: { acs } };
  await expect(idp.call("clients.add", client)).rejects.toThrow("gives two addresses the index 4");
  await expect(idp.call("seed", { clients: [client] })).rejects.toThrow("clients[0].saml.acs");
});

test("an encoding other than DEFLATE", async () => {
  const sp = await registerSp(idp);
  const urn = "urn:oasis:names:tc:SAML:2.0:bindings:URL-Encoding:";
  const at = (encoding: string) =>
    new Browser(idp.issuer).open(`${redirectUrl(sso, authnRequest(idp, sp))}&SAMLEncoding=${urn}${encoding}`);
  expect((await at("DEFLATE")).page).toBe("login");
  const visit = await at("ZSTD");
  isPage(visit);
  expect(visit.body).toContain("SAML Bindings 3.4.4");
});

test("what signs wrongly, not at all where it has to, or with SHA-1", async () => {
  const [own, other] = [newKey(), newKey()];
  const sp = await registerSp(idp, { certificates: [own.certificate], require_signed_requests: true });
  const browser = new Browser(idp.issuer);
  const at = (xml: string, signed?: Parameters<typeof redirectUrl>[3]) =>
    browser.open(redirectUrl(sso, xml, "s", signed));
  isPage(await at(authnRequest(idp, sp)));
  isPage(await at(authnRequest(idp, sp), other));
  isPage(await browser.open(redirectUrl(sso, authnRequest(idp, sp), "s", own).replace("RelayState=s", "RelayState=t")));
  isPage(await postRequest(browser, sso, authnRequest(idp, sp)));
  isPage(await postRequest(browser, sso, signXml(authnRequest(idp, sp), other)));
  isPage(
    await postRequest(browser, sso, signXml(authnRequest(idp, sp), own).replace("Version", 'ForceAuthn="1" Version')),
  );
  isPage(await at(authnRequest(idp, sp), { key: own.key, algorithm: rsaSha1 }));
  isPage(await postRequest(browser, sso, signXml(authnRequest(idp, sp), own, rsaSha1)));
  const old = await registerSp(idp, { certificates: [own.certificate], allow_sha1: true });
  expect((await at(authnRequest(idp, old), { key: own.key, algorithm: rsaSha1 })).page).toBe("login");
  expect((await browser.open(redirectUrl(sso, authnRequest(idp, old)))).page).toBe("login");
});

test("a signature that nobody can check is accepted, and the ledger says so", async () => {
  const own = newKey();
  const sp = await registerSp(idp);
  const browser = new Browser(idp.issuer);
  const visit = await browser.open(redirectUrl(sso, authnRequest(idp, sp), "s", own));
  expect(visit.page).toBe("login");
  expect((await postRequest(browser, sso, signXml(authnRequest(idp, sp), own))).page).toBe("login");
  const records = await idp.call("requests.list", { client: sp.entityId });
  expect(records.filter(({ outcome }) => outcome.includes("not checked"))).toHaveLength(2);
});

const refusals: readonly (readonly [string, RequestChange, readonly string[]])[] = [
  ["another Destination", { attributes: { Destination: "http://localhost:1/saml/sso" } }, ["Requester"]],
  [
    "another ProtocolBinding",
    { attributes: { ProtocolBinding: "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Artifact" } },
    ["Requester", "UnsupportedBinding"],
  ],
  ["IsPassive and nobody signed in", { attributes: { IsPassive: "true" } }, ["Responder", "NoPassive"]],
  [
    "a NameID format that nobody has",
    { inside: '<samlp:NameIDPolicy Format="urn:oasis:names:tc:SAML:2.0:nameid-format:kerberos"/>' },
    ["Requester", "InvalidNameIDPolicy"],
  ],
  ["an unknown Comparison", context(["urn:oasis:names:tc:SAML:2.0:ac:classes:Password"], "Exact"), ["Requester"]],
  ["a class that no sign-in reaches", context(["https://refeds.org/profile/mfa"]), ["Responder", "NoAuthnContext"]],
  [
    "a class that is better than all",
    context(["urn:oasis:names:tc:SAML:2.0:ac:classes:Password"], "better"),
    ["Responder", "NoAuthnContext"],
  ],
  ["another version", { attributes: { Version: "1.1" } }, ["VersionMismatch"]],
];

test.each(refusals)("%s: a status at the registered address, by each binding", async (_, change, statuses) => {
  const sp = await registerSp(idp);
  expect((await statusOf(sp, change)).response.statuses).toEqual(statuses);
  const { browser } = await signIn(idp);
  const isPassive = change.attributes?.["IsPassive"] !== undefined;
  const byPost = postedBy(await postRequest(browser, sso, authnRequest(idp, sp, change), "state"));
  // This browser has a session, so no page is needed.
  expect([byPost.action, byPost.response.statuses]).toEqual([sp.acs, isPassive ? ["Success"] : statuses]);
});

test.each(refusals)("%s, with an address that is not registered: the page", async (_, change) => {
  const sp = await registerSp(idp);
  const evil = { ...sp, acs: "https://evil.test/acs" };
  isPage(await open(evil, change));
  isPage(await postRequest(new Browser(idp.issuer), sso, authnRequest(idp, evil, change)));
});

test.each(refusals)("%s, with a wrong signature: the page", async (_, change) => {
  const sp = await registerSp(idp, { certificates: [newKey().certificate] });
  isPage(await new Browser(idp.issuer).open(redirectUrl(sso, authnRequest(idp, sp, change), "state", newKey())));
});

test("the page of a wrong or missing signature shows the entityID and the address of the request", async () => {
  const [own, browser] = [newKey(), new Browser(idp.issuer)];
  const sp = await registerSp(idp, { certificates: [own.certificate], require_signed_requests: true });
  const xml = authnRequest(idp, sp);
  for (const visit of [
    await browser.open(redirectUrl(sso, xml)),
    await browser.open(redirectUrl(sso, xml, "state", newKey())),
    await browser.open(redirectUrl(sso, xml, "state", { key: own.key, algorithm: rsaSha1 })),
    await postRequest(browser, sso, signXml(xml, newKey())),
  ]) {
    isPage(visit);
    const text = visit.body.replaceAll(/<[^>]+>/g, "");
    for (const part of [sp.entityId, sp.acs]) expect(text).toContain(part);
  }
});

test("what cannot be read: the page, by each binding", async () => {
  const browser = new Browser(idp.issuer);
  for (const message of [
    "%%%",
    "AAAA",
    Buffer.from("<not").toString("base64"),
    Buffer.from("<a/>").toString("base64"),
  ]) {
    isPage(await browser.open(`${sso}?SAMLRequest=${encodeURIComponent(message)}`));
    isPage(await browser.open(sso, { method: "POST", body: new URLSearchParams({ SAMLRequest: message }) }));
  }
});

test("IsPassive with a session is answered without a page", async () => {
  const sp = await registerSp(idp);
  const { browser } = await signIn(idp);
  const { response } = postedBy(await open(sp, { attributes: { IsPassive: "1" } }, browser));
  expect(response.statuses).toEqual(["Success"]);
});

test("a user who cancels", async () => {
  const sp = await registerSp(idp);
  const browser = new Browser(idp.issuer);
  const { response, action, xml } = postedBy(await browser.press(await open(sp, {}, browser), "login-cancel"));
  expect([action, response.statuses]).toEqual([sp.acs, ["Responder", "AuthnFailed"]]);
  expect(signedBy(xml, certificate)).toEqual(["Response"]);
});

test("a user without the e-mail address that the NameID would be", async () => {
  const sp = await registerSp(idp);
  const user = await enroll(idp, { email: null });
  const browser = new Browser(idp.issuer);
  const visit = await approve(browser, await open(sp, {}, browser), user);
  expect(postedBy(visit).response.statuses).toEqual(["Requester", "InvalidNameIDPolicy"]);
  expect(
    postedBy(await open(sp, { inside: `<samlp:NameIDPolicy Format="${formats.persistent}"/>` }, browser)).response
      .statuses,
  ).toEqual(["Success"]);
});

test("a character that XML cannot have stops the sign-in and names the claim", async () => {
  const sp = await registerSp(idp, { attributes: { nick: "nickname" } });
  const user = await enroll(idp, { claims: { nickname: "a\u0001b" } });
  const browser = new Browser(idp.issuer);
  const { response } = postedBy(await approve(browser, await open(sp, {}, browser), user));
  expect(response.statuses).toEqual(["Responder", "AuthnFailed"]);
  expect(response.statusMessage).toContain('"nickname"');
});

test("RelayState of more than 8 kB is the page, of more than 80 bytes a remark", async () => {
  const sp = await registerSp(idp);
  const browser = new Browser(idp.issuer);
  isPage(await postRequest(browser, sso, authnRequest(idp, sp), "x".repeat(8193)));
  const { relayState } = await signInBySaml(idp, sp, { browser, relayState: "y".repeat(81) });
  expect(relayState).toBe("y".repeat(81));
  const records = await idp.call("requests.list", { client: sp.entityId });
  expect(records.some(({ outcome }) => outcome.includes("81 bytes"))).toBe(true);
});

test("a sign-in that begins here: an unknown service provider, and one that takes none", async () => {
  const browser = new Browser(idp.issuer);
  isPage(await browser.open("/saml/start?sp=http://localhost:9/none"));
  isPage(await browser.open("/saml/start"));
  const sp = await registerSp(idp, { unsolicited: false });
  const visit = await browser.open(`/saml/start?sp=${encodeURIComponent(sp.entityId)}`);
  expect([visit.status, visit.page]).toEqual([403, "error"]);
});

test("a suspended user gets no assertion, and signs in again after restore", async () => {
  const sp = await registerSp(idp);
  const user = await enroll(idp);
  const { browser } = await signInBySaml(idp, sp, { user });
  await idp.call("users.suspend", { username: user });
  expect((await open(sp, {}, browser)).page).toBe("login");
  await idp.call("users.restore", { username: user });
  expect((await signInBySaml(idp, sp, { user })).response.statuses).toEqual(["Success"]);
});

test("nothing of OpenID Connect can be used by a service provider", async () => {
  const sp = await registerSp(idp);
  const query = new URLSearchParams({
    client_id: sp.entityId,
    redirect_uri: sp.acs,
    response_type: "code",
    scope: "openid",
  });
  const visit = await new Browser(idp.issuer).open(`/api/v2/oauth/authorize?${query.toString()}`);
  expect([visit.status, visit.page]).toEqual([400, "error"]);
  const body = new URLSearchParams({ client_id: sp.entityId, grant_type: "client_credentials" });
  const token = await fetch(`${idp.issuer}/api/v2/oauth/token`, { method: "POST", body });
  expect(token.status).toBe(400);
  const device = await fetch(`${idp.issuer}/api/v2/oauth/device_authorization`, { method: "POST", body });
  expect(device.status).toBe(400);
  await expect(idp.call("issue.tokens", { user: "alice", client: sp.entityId, scope: "openid" })).rejects.toThrow(
    "may not use",
  );
});
