import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { fieldsOfFixtures, fieldsPage } from "../../src/core/admin/fixtures/fields.ts";
import { fixtureSchema } from "../../src/core/admin/fixtures/schema.ts";

const shipped = new URL("../../fixtures/idp.fixtures.schema.json", import.meta.url);

it("the JSON Schema that ships is the one of the checks (npx vitest run fixtures-schema -u writes it)", async () => {
  await expect(`${JSON.stringify(fixtureSchema(), null, 2)}\n`).toMatchFileSnapshot(fileURLToPath(shipped));
});

it("the field reference agrees with the schema, and every field has a description (-u writes the page)", async () => {
  await expect(fieldsPage()).toMatchFileSnapshot(fileURLToPath(new URL("../../docs/fields.md", import.meta.url)));
  const all = Object.values(fieldsOfFixtures()).flat();
  expect(all.filter(({ description }) => description === "")).toEqual([]);
  const settings = Object.fromEntries(
    (fieldsOfFixtures()["settings"] ?? []).map((field) => [field.name, field.default]),
  );
  expect(settings).toMatchObject({ code_ttl: "60", login: "picker", refresh_rotation: "on" });
  expect(Object.entries(settings).filter(([, standard]) => standard === "")).toEqual([]);
});

it("the field reference has every section of a fixture file", () => {
  const sections = Object.keys(fixtureSchema()["properties"] as object).filter((name) => name !== "$schema");
  expect(Object.keys(fieldsOfFixtures())).toEqual(sections);
  expect(Object.values(fieldsOfFixtures()).filter((fields) => fields.length === 0)).toEqual([]);
});

it("the JSON Schema knows every field of a fixture", () => {
  const schema = JSON.parse(readFileSync(shipped, "utf8")) as {
    properties: Record<string, { items?: { properties: object; patternProperties?: object }; properties?: object }>;
  };
  const { users, clients, settings } = schema.properties;
  expect(Object.keys(users?.items?.properties ?? {})).toEqual(
    (
      "username id displayName email emailVerified password status avatar about note language theme createdAt website location " +
      "birthDate phone socialLinks claims factors otp_secret federated"
    ).split(" "),
  );
  expect(Object.keys(clients?.items?.properties ?? {})).toEqual(
    expect.arrayContaining(["client_id", "jwks", "post_logout_redirect_uris", "require_pkce", "userinfo_format"]),
  );
  expect(Object.keys(clients?.items?.patternProperties ?? {})).toHaveLength(5);
  expect(Object.keys(settings?.properties ?? {})).toEqual(
    "code_ttl access_token_ttl refresh_token_ttl session_ttl refresh_rotation refresh_grace refresh_requires_offline_access access_token_alg access_token_typ dpop_nonce userinfo_format id_token_claims login consent acr factors http_redirect_hosts any_loopback_port registration_loopback mcp client_metadata_documents client_metadata_loopback try_it brand ledger endpoints trusted_issuers id_jag_reuse".split(
      " ",
    ),
  );
});
