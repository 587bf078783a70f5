import { describe, expect, test } from "vitest";
import { newKey } from "../helpers/saml.ts";
import { made, realm } from "../helpers/made-fixtures.ts";

/** What service providers of SAML in a file of Keycloak become. */

describe("Keycloak: service providers of SAML", () => {
  const certificate = newKey().certificate.replaceAll(/-----[^-]+-----|\s/g, "");
  const acs = "http://localhost:3000/saml/acs";
  const spOf = async (attributes: object, fields: object = {}, users: readonly object[] = []) => {
    const sp = { clientId: "urn:app", protocol: "saml", attributes, ...fields };
    const { clients, leftOut } = await made(
      "keycloak",
      realm({ clients: [sp], users: [{ username: "erin" }, ...users] }),
    );
    return { client: clients[0], leftOut };
  };
  const samlMapper = (protocolMapper: string, config: object) => ({
    ...{ name: "m", protocol: "saml", protocolMapper: `saml-${protocolMapper}-mapper` },
    config,
  });

  test("as the admin console makes one", async () => {
    const { client, leftOut } = await spOf(
      {
        saml_assertion_consumer_url_post: acs,
        saml_single_logout_service_url_redirect: "http://localhost:3000/saml/slo",
        "saml.server.signature": "true",
        "saml.assertion.signature": "true",
        "saml.client.signature": "true",
        "saml.signing.certificate": certificate,
        "saml.signature.algorithm": "RSA_SHA256",
        "saml.force.post.binding": "true",
        "saml.authnstatement": "true",
        saml_name_id_format: "email",
        saml_signature_canonicalization_method: "http://www.w3.org/2001/10/xml-exc-c14n#",
        "saml.assertion.lifespan": "120",
        saml_idp_initiated_sso_url_name: "app",
      },
      {
        name: "App",
        redirectUris: [acs, "http://localhost:3000/saml/other"],
        secret: "unused",
        fullScopeAllowed: true,
      },
    );
    expect(client).toEqual({
      ...{ client_id: "urn:app", client_name: "App" },
      saml: {
        acs: [acs, "http://localhost:3000/saml/other"],
        slo: "http://localhost:3000/saml/slo",
        certificates: [certificate],
        ...{ require_signed_requests: true, sign: "both", nameid: "email", assertion_ttl: 120 },
      },
    });
    expect(leftOut).toEqual([]);
  });

  test.each<readonly [string, object, object]>([
    ["the document alone is signed", {}, { sign: "response" }],
    [
      "the assertion alone",
      { "saml.server.signature": "false", "saml.assertion.signature": "true" },
      { sign: "assertion" },
    ],
    ["no name of the address: no sign-in begins here", {}, { unsolicited: false }],
    ["the usual NameID is the username", {}, { nameid: "username" }],
    ["persistent", { saml_name_id_format: "persistent" }, { nameid: "persistent" }],
    [
      "encrypted, in the way of Keycloak",
      { "saml.encrypt": "true", "saml.encryption.certificate": certificate },
      { encrypt: "cbc", certificates: [certificate] },
    ],
    [
      "encrypted with GCM",
      {
        ...{ "saml.encrypt": "true", "saml.encryption.certificate": certificate },
        "saml.encryption.algorithm": "http://www.w3.org/2009/xmlenc11#aes256-gcm",
      },
      { encrypt: true },
    ],
  ])("%s", async (_, attributes, saml) => {
    const { client, leftOut } = await spOf({ saml_assertion_consumer_url_post: acs, ...attributes });
    expect(client).toMatchObject({ saml });
    expect(leftOut).toEqual([]);
  });

  test("without an address of its own: the master address, then the redirect URIs below the root URL", async () => {
    const { client } = await spOf({}, { adminUrl: acs, rootUrl: "http://localhost:3000", redirectUris: ["/second"] });
    expect(client).toMatchObject({ saml: { acs: [acs, "http://localhost:3000/second"] } });
  });

  test.each<readonly [string, object, object, RegExp]>([
    ["a wildcard", {}, { redirectUris: ["http://localhost:3000/*"] }, /wildcard/],
    ["no address at all", { saml_assertion_consumer_url_post: "" }, {}, /none of its addresses/],
    ["nothing signed", { "saml.server.signature": "false" }, {}, /always signed/],
    ["signed requests without a certificate", { "saml.client.signature": "true" }, {}, /needs a certificate/],
    ["a text that is not a certificate", { "saml.signing.certificate": "AAAA" }, {}, /not a certificate/],
    ["SHA-1", { "saml.signature.algorithm": "RSA_SHA1" }, {}, /RSA-SHA256/],
    ["Artifact", { "saml.artifact.binding": "true" }, {}, /not supported/],
    ["logout by HTTP-POST", { saml_single_logout_service_url_post: "http://localhost:3000/slo" }, {}, /HTTP-Redirect/],
    ["an unknown attribute", { "saml.new": "x" }, {}, /saml\.new.*not carried over/],
  ])("is noted: %s", async (_, attributes, fields, says) => {
    const { client, leftOut } = await spOf({ saml_assertion_consumer_url_post: acs, ...attributes }, fields);
    expect(client).toMatchObject({ saml: { acs: [acs] } });
    expect(leftOut).toContainEqual(expect.stringMatching(says));
  });

  test("mappers are attributes, with the claims that their values are in", async () => {
    const protocolMappers = [
      samlMapper("user-property", { "user.attribute": "email", "attribute.name": "mail" }),
      samlMapper("user-property", { "user.attribute": "lastName", "attribute.name": "urn:oid:2.5.4.4" }),
      samlMapper("user-attribute", { "user.attribute": "department", "attribute.name": "dept" }),
      samlMapper("group-membership", { "attribute.name": "member" }),
      samlMapper("role-list", { "attribute.name": "Role" }),
    ];
    const user = { username: "ann", lastName: "Lee", attributes: { department: ["law"] }, groups: ["/a"] };
    const { client, leftOut } = await spOf({ saml_assertion_consumer_url_post: acs }, { protocolMappers }, [user]);
    expect(client).toMatchObject({
      saml: {
        attributes: {
          ...{ mail: "email", "urn:oid:2.5.4.4": "family_name", dept: "department" },
          member: { claim: "groups", repeat: true },
          Role: { claim: "realm_access.roles", repeat: true },
        },
      },
    });
    expect(leftOut).toEqual([expect.stringMatching(/mapper "m" \(saml-role-list-mapper\).*those of clients/)]);
  });

  test("name formats, friendly names, and mappers of its client scopes are carried over; what is not has a line", async () => {
    const role = samlMapper("role-list", { single: "true", "attribute.name": "Role", "attribute.nameformat": "Basic" });
    const uri = "urn:oasis:names:tc:SAML:2.0:attrname-format:uri";
    const protocolMappers = [
      samlMapper("user-property", {
        ...{ "user.attribute": "email", "attribute.name": "urn:oid:1.2" },
        ...{ "attribute.nameformat": uri, "friendly.name": "email" },
      }),
      samlMapper("user-attribute", {
        ...{ "user.attribute": "costCenter", "attribute.name": "cost.center", "attribute.nameformat": "Unspecified" },
      }),
      samlMapper("hardcode-attribute", { "attribute.name": "duration", "attribute.value": "28800" }),
    ];
    const attributes = {
      saml_assertion_consumer_url_post: acs,
      saml_idp_initiated_sso_url_name: "app",
      saml_idp_initiated_sso_relay_state: "https://app.example.com/start",
    };
    const sp = { clientId: "urn:app", protocol: "saml", attributes, protocolMappers };
    const scope = { name: "role_list", protocol: "saml", protocolMappers: [role] };
    for (const from of [{}, { defaultClientScopes: ["role_list"] }]) {
      const { clients, leftOut } = await made(
        "keycloak",
        realm({
          clients: [{ ...sp, ...from }],
          clientScopes: [scope],
          defaultDefaultClientScopes: ["role_list"],
          users: [{ username: "erin" }],
        }),
      );
      expect(clients[0]).toMatchObject({
        saml: {
          attributes: {
            "urn:oid:1.2": { claim: "email", name_format: "uri", friendly_name: "email" },
            "cost.center": { claim: "costCenter", name_format: "unspecified" },
            Role: { claim: "realm_access.roles", name_format: "basic" },
          },
        },
      });
      for (const loss of [
        /hardcode-attribute-mapper/,
        /saml_idp_initiated_sso_relay_state.*\/saml\/start/,
        /those of clients/,
      ])
        expect(leftOut).toContainEqual(expect.stringMatching(loss));
    }
  });

  test("one that is disabled is left out", async () => {
    const { leftOut } = await spOf({ saml_assertion_consumer_url_post: acs }, { enabled: false });
    expect(leftOut).toEqual([expect.stringMatching(/is disabled/)]);
  });
});
