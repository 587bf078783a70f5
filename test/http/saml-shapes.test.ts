import { decodeJwt } from "jose";
import { expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { pushedApp } from "../helpers/pushed-app.ts";
import { certificatesOf, formats, registerSp, signedBy, signInBySaml } from "../helpers/saml.ts";

/** Assertions as vendors send them. */

const claims = {
  ...{ groups: ["staff", "admins"], given_name: "Ann", family_name: "Lee", name: "Ann Lee" },
  ...{ roles: ["viewer"], realm_access: { roles: ["editor", "viewer"] }, department: "" },
};
const idp = await serve({
  fixtures: [{ users: [{ username: "ann", email: "ann@example.com", claims }] }],
});
const [certificate = ""] = await certificatesOf(idp);
const { id } = await idp.call("users.show", { username: "ann" });
const xmlsoap = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/";
const microsoft = "http://schemas.microsoft.com/identity/claims/";
const guid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const values = [["ann@example.com"], ["Ann Lee"], ["Ann"], ["Lee"], ["staff", "admins"]] as const;

const asNamed = (...names: readonly string[]): Readonly<Record<string, readonly string[]>> =>
  Object.fromEntries(names.map((name, at) => [name, values[at] ?? []]));

const rows = {
  standard: {
    signed: ["Assertion"],
    format: formats.email,
    attributes: asNamed("email", "name", "given_name", "family_name", "groups"),
  },
  okta: {
    signed: ["Response", "Assertion"],
    format: formats.unspecified,
    attributes: asNamed("email", "displayName", "firstName", "lastName", "groups"),
  },
  entra: {
    signed: ["Assertion"],
    format: formats.email,
    attributes: {
      ...asNamed(
        ...["emailaddress", "name", "givenname", "surname"].map((name) => xmlsoap + name),
        "http://schemas.microsoft.com/ws/2008/06/identity/claims/groups",
      ),
      // The user principal name.
      [`${xmlsoap}name`]: ["ann@example.com"],
      [`${microsoft}objectidentifier`]: [id],
      [`${microsoft}tenantid`]: [guid],
      [`${microsoft}displayname`]: ["Ann Lee"],
      [`${microsoft}identityprovider`]: [
        expect.stringMatching(/^https:\/\/sts\.windows\.net\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\/$/),
      ],
      "http://schemas.microsoft.com/claims/authnmethodsreferences": [
        "http://schemas.microsoft.com/ws/2008/06/identity/authenticationmethod/password",
      ],
    },
  },
  google: {
    signed: ["Assertion"],
    format: formats.email,
    attributes: asNamed("email", "name", "firstName", "lastName", "groups"),
  },
  keycloak: {
    signed: ["Response"],
    format: formats.unspecified,
    // The helper keeps the last attribute of a name.
    attributes: { Role: ["editor"] },
  },
  shibboleth: {
    signed: ["Response"],
    format: formats.transient,
    attributes: {
      ...asNamed(
        ...[
          "0.9.2342.19200300.100.1.3",
          "2.16.840.1.113730.3.1.241",
          "2.5.4.42",
          "2.5.4.4",
          "1.3.6.1.4.1.5923.1.5.1.1",
        ].map((oid) => `urn:oid:${oid}`),
      ),
      "urn:oid:1.3.6.1.4.1.5923.1.1.1.6": ["ann@localhost"],
    },
  },
} as const;

test.each(Object.entries(rows))("%s: what is signed, the NameID and the attributes", async (shape, row) => {
  const sp = await registerSp(idp, { shape: shape as keyof typeof rows });
  const { xml, response } = await signInBySaml(idp, sp, { user: "ann" });
  expect(signedBy(xml, certificate)).toEqual(row.signed);
  expect(response.nameId?.format).toBe(row.format);
  if (row.format !== formats.transient)
    expect(response.nameId?.value).toBe(shape === "keycloak" ? "ann" : "ann@example.com");
  expect(response.attributes).toEqual(row.attributes);
});

test("fields win over the shape, which has no attributes then", async () => {
  const sp = await registerSp(idp, {
    ...{ shape: "okta", sign: "response", nameid: "persistent", attributes: { mail: "email", teams: "groups" } },
  });
  const { xml, response } = await signInBySaml(idp, sp, { user: "ann" });
  expect(signedBy(xml, certificate)).toEqual(["Response"]);
  expect(response.nameId).toEqual({ value: expect.stringMatching(/^[\w-]{43}$/), format: formats.persistent });
  expect(response.attributes).toEqual({ mail: ["ann@example.com"], teams: ["staff", "admins"] });
});

/** The attributes of an assertion as they are written. */
const written = (xml: string): readonly string[] =>
  xml.match(/<saml:Attribute [^>]*(?:\/>|>.*?<\/saml:Attribute>)/gs) ?? [];

test("keycloak: an attribute for each role of the realm and of the user, signed by metadata's wish", async () => {
  const sp = await registerSp(idp, { shape: "keycloak" });
  const { xml } = await signInBySaml(idp, sp, { user: "ann" });
  const basic = "urn:oasis:names:tc:SAML:2.0:attrname-format:basic";
  expect(written(xml)).toEqual(
    ["viewer", "editor"].map(
      (role) =>
        `<saml:Attribute Name="Role" NameFormat="${basic}"><saml:AttributeValue>${role}</saml:AttributeValue></saml:Attribute>`,
    ),
  );
  const wanting = { entityId: "http://localhost:3999/metadata", acs: "http://localhost:3999/acs" };
  const metadata = `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${wanting.entityId}"><md:SPSSODescriptor WantAssertionsSigned="true" protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${wanting.acs}" index="0"/></md:SPSSODescriptor></md:EntityDescriptor>`;
  await idp.call("seed", { clients: [{ client_id: wanting.entityId, saml: { metadata, shape: "keycloak" } }] });
  const both = await signInBySaml(idp, wanting, { user: "ann" });
  expect(signedBy(both.xml, certificate)).toEqual(["Response", "Assertion"]);
});

test("google: what the user does not have is sent without a value, and without a NameFormat", async () => {
  await idp.call("seed", { users: [{ username: "bare", email: "bare@example.com" }] });
  const sp = await registerSp(idp, { shape: "google" });
  const { xml } = await signInBySaml(idp, sp, { user: "bare" });
  expect(written(xml).slice(4)).toEqual(['<saml:Attribute Name="groups"/>']);
});

test("an entry of attributes has a name format, a friendly name, and an element for each value", async () => {
  const uri = "urn:oasis:names:tc:SAML:2.0:attrname-format:uri";
  const sp = await registerSp(idp, {
    shape: "standard",
    attributes: {
      "urn:oid:2.5.4.42": { claim: "given_name", name_format: "uri", friendly_name: "givenName" },
      Role: { claim: "realm_access.roles", repeat: true, name_format: uri },
      department: "department",
    },
  });
  const { xml } = await signInBySaml(idp, sp, { user: "ann" });
  const value = (text: string): string =>
    `${text === "" ? "<saml:AttributeValue/>" : `<saml:AttributeValue>${text}</saml:AttributeValue>`}</saml:Attribute>`;
  expect(written(xml)).toEqual([
    `<saml:Attribute Name="urn:oid:2.5.4.42" NameFormat="${uri}" FriendlyName="givenName">${value("Ann")}`,
    `<saml:Attribute Name="Role" NameFormat="${uri}">${value("editor")}`,
    `<saml:Attribute Name="Role" NameFormat="${uri}">${value("viewer")}`,
    // An empty text is an empty value (SAML Core 2.7.3.1.1).
    `<saml:Attribute Name="department" NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:basic">${value("")}`,
  ]);
});

test.each([
  [{ claim: "email", name_format: "Basic" }, 'must be basic, uri, unspecified or a URI, not "Basic"'],
  [{ name_format: "uri" }, "claim"],
  [{ claim: "email", friendlyName: "mail" }, "friendlyName"],
])("an entry that cannot be one is refused: %j", async (entry, message) => {
  const client = { client_id: "http://localhost:3998/metadata", saml: { acs: ["http://localhost:3998/acs"] } };
  const given = { ...client, saml: { ...client.saml, attributes: { mail: entry } } };
  await expect(idp.call("seed", { clients: [given as never] })).rejects.toThrow(message);
});

test("one user has one name in SAML, in ID tokens and at SCIM servers", async () => {
  const { app, idp: other, push } = await pushedApp();
  await push();
  const sp = await registerSp(other, { nameid: "username" });
  for (const [user, given, family] of [
    ["alice", "Alice B.", "Adams"],
    // The claims win.
    ["bob", "Robert", "Jones"],
    // A single word is both.
    ["carol", "carol", "carol"],
  ] as const) {
    if (user === "carol") await other.call("users.restore", { username: user });
    await push();
    const { xml } = await signInBySaml(other, sp, { user });
    const valueOf = (name: string): string | undefined =>
      new RegExp(`Name="${name}"[^>]*><saml:AttributeValue[^>]*>([^<]*)<`).exec(xml)?.[1];
    expect([valueOf("given_name"), valueOf("family_name")]).toEqual([given, family]);
    const { id_token } = await other.issueTokens({ user, client: "app", scope: "openid profile" });
    expect(decodeJwt(id_token)).toMatchObject({ given_name: given, family_name: family });
    const sent = [...app.users.values()].find(({ displayName }) => String(displayName).toLowerCase().startsWith(user));
    expect(sent?.["name"]).toEqual({ givenName: given, familyName: family });
  }
});
