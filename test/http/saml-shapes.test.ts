import { expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { certificatesOf, formats, registerSp, signedBy, signInBySaml } from "../helpers/saml.ts";

/** Assertions as vendors send them. */

const claims = { groups: ["staff", "admins"], given_name: "Ann", family_name: "Lee", name: "Ann Lee" };
const idp = await serve({
  fixtures: [{ users: [{ username: "ann", email: "ann@example.test", claims }] }],
});
const [certificate = ""] = await certificatesOf(idp);
const { id } = await idp.call("users.show", { username: "ann" });
const xmlsoap = "http://schemas.xmlsoap.org/ws/2005/05/identity/claims/";
const values = [["ann@example.test"], ["Ann Lee"], ["Ann"], ["Lee"], ["staff", "admins"]] as const;

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
      "http://schemas.microsoft.com/identity/claims/objectidentifier": [id],
      "http://schemas.microsoft.com/identity/claims/tenantid": [expect.any(String)],
    },
  },
  google: {
    signed: ["Assertion"],
    format: formats.email,
    attributes: asNamed("email", "name", "firstName", "lastName", "groups"),
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
  if (row.format !== formats.transient) expect(response.nameId?.value).toBe("ann@example.test");
  expect(response.attributes).toEqual(row.attributes);
});

test("fields win over the shape, which has no attributes then", async () => {
  const sp = await registerSp(idp, {
    ...{ shape: "okta", sign: "response", nameid: "persistent", attributes: { mail: "email", teams: "groups" } },
  });
  const { xml, response } = await signInBySaml(idp, sp, { user: "ann" });
  expect(signedBy(xml, certificate)).toEqual(["Response"]);
  expect(response.nameId).toEqual({ value: id, format: formats.persistent });
  expect(response.attributes).toEqual({ mail: ["ann@example.test"], teams: ["staff", "admins"] });
});
