import { generateKeyPairSync, X509Certificate } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, test } from "vitest";
import { selfSignedCertificate } from "../../src/core/records/keys/certificate.ts";
import { newFolder } from "../helpers/cli.ts";
import { documentOf, idpIn } from "../helpers/command.ts";
import { listenOn } from "../helpers/saml.ts";

/** The commands of SAML, on a folder without a server. */

const md = (entityId: string): string =>
  `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}"><md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="http://localhost:3000/acs" index="0"/></md:SPSSODescriptor></md:EntityDescriptor>`;

const sp = "http://localhost:3000/saml/metadata";

/** A folder of one test's own, with a user and a service provider. */
async function prepared() {
  const cwd = newFolder();
  const clients = [{ client_id: sp, saml: { metadata: "./sp.xml" } }];
  writeFileSync(join(cwd, "sp.xml"), md(sp));
  writeFileSync(
    join(cwd, "idp.fixtures.json"),
    JSON.stringify({ users: [{ username: "alice", email: "alice@example.com" }], clients }),
  );
  const run = (words: readonly string[], input = "") => idpIn(cwd, [...words, "--data", join(cwd, ".idp")], input);
  expect((await run(["seed"])).code).toBe(0);
  return { cwd, run };
}

test("clients add takes metadata from a file, from standard input and from an address, and an address to post to", async () => {
  const { cwd, run } = await prepared();
  writeFileSync(join(cwd, "other.xml"), md("urn:by-file"));
  expect((await run(["clients", "add", "--saml-metadata", join(cwd, "other.xml")])).code).toBe(0);
  expect((await run(["clients", "add", "--saml-metadata", "-"], md("urn:by-stdin"))).code).toBe(0);
  const server = createServer((_req, res) => res.end(md("urn:by-url")));
  const url = await listenOn(server);
  expect((await run(["clients", "add", "--saml-metadata", url])).code).toBe(0);
  server.close();
  expect((await run(["clients", "add", "urn:by-acs", "--saml-acs", "http://localhost:3000/one"])).code).toBe(0);
  expect((await run(["clients", "edit", "urn:by-acs", "--add-saml-acs", "http://localhost:3000/two"])).code).toBe(0);
  const shown = documentOf((await run(["clients", "show", "urn:by-acs", "--json"])).stdout);
  expect(shown).toMatchObject({ saml: { acs: ["http://localhost:3000/one", "http://localhost:3000/two"] } });
  expect(shown).not.toHaveProperty("client_secret");
  const rows = (await run(["clients", "list"])).stdout;
  expect(rows).toMatch(/^urn:by-acs +SAML +http:\/\/localhost:3000\/one http:\/\/localhost:3000\/two$/m);
  expect(rows).toMatch(/^urn:by-file +SAML +as its metadata says$/m);
});

test("a document of several entities is a usage error, and one that is no metadata a bad file", async () => {
  const { run } = await prepared();
  const several = `<md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata">${md("urn:a")}${md("urn:b")}</md:EntitiesDescriptor>`;
  expect((await run(["clients", "add", "--saml-metadata", "-"], several)).code).toBe(2);
  expect((await run(["clients", "add", "--saml-metadata", "-"], "<html/>")).code).toBe(7);
  const missing = await run(["clients", "add", "--saml-metadata", "missing.xml"]);
  expect([missing.code, missing.stderr]).toEqual([7, expect.stringContaining("cannot be read: there is no such file")]);
});

test("--set saml gives the other fields, or all of them", async () => {
  const { run } = await prepared();
  const acs = "http://localhost:3000/acs";
  const add = async (...words: readonly string[]) =>
    documentOf((await run(["clients", "add", ...words, "--json"])).stdout);
  expect(await add("urn:a", "--saml-acs", acs, "--set", 'saml={"shape":"okta"}')).toMatchObject({
    saml: { acs: [acs], shape: "okta" },
  });
  expect(await add("urn:b", "--set", `saml={"acs":["${acs}"]}`)).toMatchObject({ saml: { acs: [acs] } });
});

test("a wrong value is named by the flag that it was given with", async () => {
  const { run } = await prepared();
  const signs = md("urn:signs").replace("<md:SPSSODescriptor ", '<md:SPSSODescriptor AuthnRequestsSigned="true" ');
  const flagIn = async (words: readonly string[], input?: string) =>
    /^Error: (--set \S+|--\S+) /.exec((await run(words, input)).stderr)?.[1];
  expect(await flagIn(["clients", "add", "urn:a", "--saml-acs", "nowhere"])).toBe("--saml-acs");
  expect(await flagIn(["clients", "add", "--saml-metadata", "-"], signs)).toBe("--saml-metadata");
  expect(await flagIn(["clients", "edit", sp, "--add-saml-acs", "nowhere"])).toBe("--add-saml-acs");
  expect(await flagIn(["clients", "add", "urn:a", "--set", 'saml={"acs":["nowhere"]}'])).toBe("--set saml.acs[0]");
  expect((await run(["clients", "add", "web", "--redirect-uri", "http://localhost:3000/cb"])).code).toBe(0);
  expect(await flagIn(["clients", "edit", "web", "--add-redirect-uri", "nowhere"])).toBe("--add-redirect-uri");
  expect((await run(["clients", "edit", "web", "--set", 'scim={"url":"http://localhost:3000/scim"}'])).code).toBe(0);
  expect(await flagIn(["clients", "edit", "web", "--scim-token-stdin"], "é")).toBe("--scim-token-stdin");
});

test("XML that is not well-formed is refused in one sentence", async () => {
  const { run } = await prepared();
  const cut = await run(["token", "decode", "<samlp:Response"]);
  expect([cut.code, cut.stderr.split("\n")[0]]).toEqual([
    6,
    "Error: this is not a SAML message: it is not well-formed XML: line 1: the text ends within a tag",
  ]);
});

test("issue saml, token decode and token verify", async () => {
  const { run } = await prepared();
  const issued = await run(["issue", "saml", "--user", "alice", "--client", sp, "--json"]);
  const { SAMLResponse } = documentOf(issued.stdout) as { SAMLResponse: string };
  const xml = await run(["issue", "saml", "--user", "alice", "--client", sp, "--xml"]);
  expect(xml.stdout).toMatch(/^<samlp:Response /);
  const decoded = documentOf((await run(["token", "decode", SAMLResponse, "--json"])).stdout);
  expect(decoded).toMatchObject({
    message: "Response",
    assertions: [{ nameId: { value: "alice@example.com" } }],
    verified: false,
  });
  const verified = await run(["token", "verify", SAMLResponse, "--json"]);
  expect([verified.code, documentOf(verified.stdout)]).toMatchObject([0, { valid: true }]);
  const changed = xml.stdout.replace("alice@example.com</saml:NameID>", "bob@example.com</saml:NameID>");
  expect((await run(["token", "verify", "-"], changed)).code).toBe(6);
});

test("env gives the variables of a service provider, and revoke says that it has no grants", async () => {
  const { run } = await prepared();
  const { stdout } = await run(["env", "--client", sp, "--json"]);
  expect(Object.keys(documentOf(stdout) as object)).toEqual(
    expect.arrayContaining([
      "SAML_IDP_METADATA_URL",
      "SAML_IDP_ENTITY_ID",
      "SAML_IDP_SSO_URL",
      "SAML_IDP_CERT",
      "SAML_SP_ENTITY_ID",
      "SAML_ACS_URL",
    ]),
  );
  const revoked = await run(["revoke", "--user", "alice", "--client", sp]);
  expect(revoked.code).toBe(0);
  expect(revoked.stderr).toContain("service provider of SAML");
});

test("keys rotate --saml, and the column use", async () => {
  const { run } = await prepared();
  await run(["issue", "saml", "--user", "alice", "--client", sp]);
  const { stdout } = await run(["keys", "rotate", "--saml", "--json"]);
  const keys = documentOf(stdout) as { use: string; status: string }[];
  expect(
    keys
      .filter(({ use }) => use === "saml")
      .map(({ status }) => status)
      .sort(),
  ).toEqual(["retired", "signing"]);
});

/** Metadata with a certificate that has expired, and a day until which it was valid. */
const expiredMd = (entityId: string): string => {
  const { privateKey: key } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const day = 86_400_000;
  const times = { notBefore: Date.now() - 2 * day, notAfter: Date.now() - day };
  const der = selfSignedCertificate({ key, subject: "sp", names: [], ...times }).replaceAll(/-----[^-]+-----|\s/g, "");
  const described = `<md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${der}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`;
  return md(entityId)
    .replace("<md:EntityDescriptor ", '<md:EntityDescriptor validUntil="2018-07-21T14:48:13Z" ')
    .replace("<md:AssertionConsumerService", `${described}<md:AssertionConsumerService`);
};

test("clients add prints what to keep with the name of the file, clients show a summary, and the JSON the XML", async () => {
  const { cwd, run } = await prepared();
  writeFileSync(join(cwd, "old.xml"), expiredMd("urn:old"));
  const added = await run(["clients", "add", "--saml-metadata", "old.xml"]);
  expect(added.code).toBe(0);
  const printed = added.stdout + added.stderr;
  expect(printed).toMatch(/metadata: (?:\.\/)?old\.xml|"metadata": ?"(?:\.\/)?old\.xml"/);
  expect(printed).not.toContain("…");
  expect(printed).not.toContain("<md:");
  const shown = await run(["clients", "show", "urn:old"]);
  expect(shown.stdout).not.toContain("<md:");
  expect(shown.stdout).toContain("http://localhost:3000/acs");
  expect(shown.stdout.length).toBeLessThan(1000);
  expect((await run(["clients", "show", "urn:old", "--json"])).stdout).toContain("<md:EntityDescriptor");
});

test("metadata and a certificate that have expired are named by clients add, seed --check and doctor", async () => {
  const { cwd, run } = await prepared();
  const says = (printed: string): void => {
    expect(printed).toContain("The metadata of urn:old expired at 2018-07-21T14:48:13Z (validUntil)");
    expect(printed).toMatch(/A certificate of urn:old expired at .+ \(SHA-256 (?:[0-9A-F]{2}:){31}[0-9A-F]{2}\)/);
  };
  writeFileSync(join(cwd, "old.xml"), expiredMd("urn:old"));
  const fixtures = join(cwd, "old.yaml");
  writeFileSync(fixtures, "clients:\n  - client_id: urn:old\n    saml: { metadata: ./old.xml }\n");
  const checked = await run(["seed", "--check", fixtures]);
  expect(checked.code).toBe(0);
  says(checked.stdout + checked.stderr);
  const added = await run(["clients", "add", "--saml-metadata", join(cwd, "old.xml")]);
  says(added.stdout + added.stderr);
  const { checks } = documentOf((await run(["doctor", "--json"])).stdout) as {
    checks: { name: string; status: string; detail: string }[];
  };
  const found = checks.filter(({ name }) => name === "saml");
  expect(found.map(({ status }) => status)).toEqual(["warning", "warning"]);
  says(found.map(({ detail }) => detail).join("\n"));
});

test("keys list and env have the fingerprints of the certificate", async () => {
  const { run } = await prepared();
  const env = documentOf((await run(["env", "--client", sp, "--json"])).stdout) as Record<string, string>;
  const certificate = new X509Certificate(
    `-----BEGIN CERTIFICATE-----\n${(env["SAML_IDP_CERT"] ?? "").replaceAll(/-----[^-]+-----|\s/g, "")}\n-----END CERTIFICATE-----`,
  );
  const { fingerprint256: sha256, fingerprint: sha1 } = certificate;
  expect(env).toMatchObject({ SAML_IDP_CERT_SHA256: sha256, SAML_IDP_CERT_SHA1: sha1 });
  const list = await run(["keys", "list"]);
  expect(list.stdout).toContain(`  SHA-256  ${sha256}`);
  expect(list.stdout).toContain(`  SHA-1    ${sha1}`);
  const keys = documentOf((await run(["keys", "list", "--json"])).stdout) as object[];
  expect(keys).toContainEqual(expect.objectContaining({ use: "saml", fingerprints: { sha256, sha1 } }));
});
