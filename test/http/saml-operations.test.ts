import { expect, test } from "vitest";
import { enroll, serve } from "../helpers/app.ts";
import {
  certificatesOf,
  readResponse,
  redirectUrl,
  authnRequest,
  registerSp,
  signedBy,
  signInBySaml,
} from "../helpers/saml.ts";

/** SAML at the operator's command: responses without a browser, messages verified, the key, and what the ledger keeps. */

const idp = await serve();
const [certificate = ""] = await certificatesOf(idp);

test("issue saml gives what the browser would post", async () => {
  const sp = await registerSp(idp);
  const issued = await idp.call("issue.saml", {
    user: "alice",
    client: sp.entityId,
    in_response_to: "_r1",
    relay_state: "s",
  });
  expect(issued).toMatchObject({ acs: sp.acs, RelayState: "s", expires_in: 300 });
  const xml = Buffer.from(issued.SAMLResponse, "base64").toString();
  expect(signedBy(xml, certificate)).toEqual(["Assertion"]);
  expect(readResponse(xml)).toMatchObject({
    statuses: ["Success"],
    inResponseTo: "_r1",
    nameId: { value: "alice@example.com" },
  });
  const plain = await idp.call("issue.saml", { user: "alice", client: sp.entityId });
  expect(plain).toMatchObject({ acs: sp.acs, RelayState: null, expires_in: 300 });
});

test("issue saml refuses what the browser would be refused", async () => {
  const sp = await registerSp(idp);
  const user = await enroll(idp, { email: null });
  const issue = (change: object) => idp.call("issue.saml", { user: "alice", client: sp.entityId, ...change });
  await expect(issue({ user: "carol" })).rejects.toThrow("suspended");
  await expect(issue({ client: "demo-app" })).rejects.toThrow("not a service provider");
  await expect(issue({ client: "nobody" })).rejects.toThrow("nobody");
  await expect(issue({ acs: "http://localhost:1/other" })).rejects.toThrow("not registered");
  await expect(issue({ user })).rejects.toThrow("e-mail");
  await expect(issue({ acr: "unknown" })).rejects.toThrow("unknown");
});

const checksOf = async (token: string, audience?: string) => {
  const { valid, checks } = await idp.call("token.verify", { token, ...(audience !== undefined && { audience }) });
  return {
    valid,
    failed: checks.filter(({ ok }) => !ok).map(({ name }) => name),
    names: checks.map(({ name }) => name),
  };
};

test("token verify reads a response in every form, and makes every check", async () => {
  const sp = await registerSp(idp);
  const { SAMLResponse } = await idp.call("issue.saml", { user: "alice", client: sp.entityId });
  const xml = Buffer.from(SAMLResponse, "base64").toString();
  for (const form of [SAMLResponse, xml, `SAMLResponse=${encodeURIComponent(SAMLResponse)}&RelayState=x`]) {
    expect(await checksOf(form, sp.entityId)).toEqual({
      valid: true,
      failed: [],
      names: ["signature", "signed-part", "issuer", "audience", "recipient", "time", "in-response-to"],
    });
  }
  expect((await checksOf(SAMLResponse, "http://localhost:1/other")).failed).toEqual(["audience"]);
});

test.each<readonly [string, readonly string[]]>([
  ["audience-wrong", ["audience", "recipient"]],
  ["recipient-wrong", ["recipient"]],
  ["conditions-past", ["time"]],
  ["conditions-future", ["time"]],
  ["issuer-wrong", ["issuer"]],
  ["unsigned", ["signature", "signed-part"]],
  ["content-changed", ["signature", "signed-part"]],
  ["key-other", ["signature", "signed-part"]],
  ["key-embedded", ["signature", "signed-part"]],
  ["digest-comment", ["signature", "signed-part"]],
  ["xsw-3", ["signed-part"]],
  ["assertion-last", ["signed-part"]],
])("token verify notices %s", async (flaw, failed) => {
  const sp = await registerSp(idp);
  const forges = flaw.startsWith("xsw") || flaw === "assertion-last";
  await idp.call("faults.add", {
    endpoint: "saml_sso",
    flaw: flaw as "unsigned",
    client: sp.entityId,
    ...(forges && { forge: "alice" }),
  });
  const { xml } = await signInBySaml(idp, sp, { user: "bob" });
  expect((await checksOf(xml)).failed).toEqual(failed);
});

test("token verify reads a request, also in an address", async () => {
  const sp = await registerSp(idp);
  const request = authnRequest(idp, sp);
  expect(await checksOf(redirectUrl(`${idp.issuer}/saml/sso`, request))).toMatchObject({
    valid: false,
    failed: ["signature", "signed-part"],
  });
});

test("the ledger keeps decoded messages: NameIDs and signatures are fingerprints", async () => {
  const sp = await registerSp(idp, { sign: "both" });
  const { xml, requestId } = await signInBySaml(idp, sp, { relayState: "a secret state" });
  const records = await idp.call("requests.list", { client: sp.entityId });
  const text = JSON.stringify(records);
  expect(text).toContain(requestId);
  const signatures = [...xml.matchAll(/<ds:SignatureValue>([^<]+)</g)].map(([, value = ""]) => value);
  expect(signatures).toHaveLength(2);
  for (const hidden of [...signatures, "a secret state", Buffer.from(xml).toString("base64").slice(0, 60)])
    expect(text).not.toContain(hidden);
  const message = (
    records.at(-1)?.response?.["parameters"] as { SAMLResponse: { message: string; fingerprint: string } }
  ).SAMLResponse;
  expect(message.message).toMatch(/<saml:NameID Format="[^"]+">#[\w-]{10}<\/saml:NameID>/);
  expect(message.message).toContain("<saml:Audience>");
  const flows = new Set(records.map(({ flow }) => flow));
  expect(flows.size).toBe(1);
  expect(
    await idp.call("expect", {
      endpoint: "saml_sso",
      client: sp.entityId,
      times: 1,
      param: { RelayState: "a secret state" },
    } as never),
  ).toMatchObject({ met: true });
});

test("keys rotate --saml signs with a new key; the metadata lists the new one, then the old one", async () => {
  const sp = await registerSp(idp);
  const before = await certificatesOf(idp);
  const others = (await idp.call("keys.list", {})).filter(({ use }) => use === "sig").map(({ kid }) => kid);
  const keys = await idp.call("keys.rotate", { saml: true });
  expect(
    keys
      .filter(({ use }) => use === "saml")
      .map(({ status }) => status)
      .sort(),
  ).toEqual(["retired", "signing"]);
  expect(keys.filter(({ use }) => use === "sig").map(({ kid }) => kid)).toEqual(others);
  const after = await certificatesOf(idp);
  expect(after.slice(1)).toEqual(before);
  const { xml } = await signInBySaml(idp, sp);
  expect(signedBy(xml, after[0] ?? "")).toEqual(["Assertion"]);
  const jwks = (await (await fetch(`${idp.issuer}/api/v2/oauth/jwks`)).json()) as { keys: { kid: string }[] };
  const ofSaml = keys.filter(({ use }) => use === "saml").map(({ kid }) => kid);
  expect(jwks.keys.filter(({ kid }) => ofSaml.includes(kid))).toEqual([]);
});
