import { describe, expect, test } from "vitest";
import type { ToolName } from "../../src/migrate/tool-names.ts";
import { maxText } from "../../src/migrate/text.ts";
import { foreignFixtures, readFrom } from "../../src/migrate/tools.ts";
import { made, realm, redirectUris } from "../helpers/made-fixtures.ts";

/** Kinds of files of other tools that once went wrong; those of Keycloak are in fixtures-from-keycloak.test.ts and fixtures-from-keycloak-saml.test.ts. */

describe("other tools", () => {
  test("Soluto: values are text, with the digits of the file", async () => {
    const users = `- SubjectId: 1\n  Username: 12345\n  Claims: [{ Type: postcode, Value: 0800, ValueType: string }, { Type: v, Value: 1.10 }, { Type: vip, Value: true }, { Type: n, Value: 7, ValueType: "http://www.w3.org/2001/XMLSchema#integer" }]`;
    expect((await made("soluto", users)).users).toEqual([
      { username: "12345", id: "1", claims: { postcode: "0800", v: "1.10", vip: "true", n: 7 } },
    ]);
  });
  test("Soluto: a secret is kept where none is required, and refresh_token is nothing to say", async () => {
    const client = {
      ClientId: "c",
      ClientSecrets: ["s"],
      AllowedGrantTypes: ["authorization_code", "refresh_token"],
      RequireClientSecret: false,
      RedirectUris: redirectUris,
    };
    const { clients, leftOut } = await made("soluto", [client]);
    expect(clients[0]).toMatchObject({ client_secret: "s" });
    expect(leftOut).toEqual([]);
  });
  test("navikt: a mapping by the name that was typed is a user of that name", async () => {
    const requestMappings = [
      { requestParam: "subject", match: "erin", claims: { email: "erin@example.com", oid: "${subject}" } },
      { requestParam: "subject", match: "frank", claims: { sub: "f-1" } },
      { requestParam: "scope", match: "x", claims: { aud: ["a"] } },
    ];
    const { users, leftOut } = await made("navikt", { tokenCallbacks: [{ issuerId: "default", requestMappings }] });
    expect(users).toEqual([
      { username: "erin", id: "erin", email: "erin@example.com", claims: { oid: "erin" } },
      { username: "frank", id: "f-1" },
    ]);
    expect(leftOut).toEqual([expect.stringContaining('scope "x"'), expect.stringContaining("has no sub")]);
  });
  test("the configuration of meigma's mock is not one of navikt's", async () => {
    const text = JSON.stringify({
      interactiveLogin: false,
      tokenProvider: {},
      tokenCallbacks: [{ issuer: "i", subject: "s", claims: { m: 1 } }],
    });
    expect(foreignFixtures([{ name: "config.json", text }])).toBeNull();
    await expect(readFrom("navikt", [{ name: "f", text }])).rejects.toMatchObject({
      message: expect.stringContaining("is not a JSON_CONFIG"),
    });
  });
  test("Auth0: the client of a JSON file, and lines of which one is broken", async () => {
    const client = { name: "My App", app_type: "regular_web", client_secret: "s", callbacks: redirectUris };
    expect((await made("auth0", client)).clients[0]).toMatchObject({ client_id: "my-app", client_secret: "s" });
    const lines =
      '{"user_id":"auth0|1","email":"a@b.test"}\r\n\r\n{"user_id":oops}\n{"user_id":"auth0|3","email":"c@d.test","odd":1}\n';
    const { users, leftOut } = await made("auth0", lines);
    expect(users.map(({ id }) => id)).toEqual(["auth0|1", "auth0|3"]);
    expect(leftOut).toEqual([
      "file0:3:12 this line is not JSON: it is left out",
      "file0:4:41 [1].odd is not carried over",
    ]);
  });
});

describe("a configuration inside another file", () => {
  const dex =
    "issuer: http://d\nstorage: {}\nweb: {}\nodd: 1\nstaticPasswords:\n  - { email: erin@example.com, username: erin, userID: 7 }\n";
  const indented = (by: string): string => dex.replaceAll(/^(?=.)/gm, by);
  const json = JSON.stringify({
    tokenCallbacks: [{ issuerId: "i", requestMappings: [{ requestParam: "subject", match: "erin" }] }],
  });
  test.each<[string, ToolName, string, RegExp | null]>([
    [
      "a ConfigMap",
      "dex",
      `apiVersion: v1\nkind: ConfigMap\ndata:\n  config.yaml: |\n${indented("    ")}  other: x\n`,
      /^file0:8:5 odd /,
    ],
    [
      "a ConfigMap with a folded text",
      "dex",
      `apiVersion: v1\nkind: ConfigMap\ndata: { c: ${JSON.stringify(dex)} }\n`,
      /^file0:3:12 odd /,
    ],
    [
      "a ConfigMap as JSON",
      "dex",
      JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", data: { c: dex } }),
      /^file0:1:51 odd /,
    ],
    ["a Secret", "dex", `apiVersion: v1\nkind: Secret\ndata:\n  c: ${btoa(dex)}\n`, /^file0:4:6 odd /],
    ["a YAML stream", "dex", `# first\n---\napiVersion: v1\nkind: Service\n---\n${dex}`, /^file0:9:1 odd /],
    [
      "a Compose file, by a variable",
      "navikt",
      `services:\n  oidc:\n    environment:\n      JSON_CONFIG: '${json}'\n`,
      null,
    ],
    [
      "a Compose file, by a line",
      "navikt",
      `services:\n  oidc:\n    environment:\n      - 'JSON_CONFIG=${json}'\n`,
      null,
    ],
    [
      "a Compose file, by a config",
      "dex",
      `services: {}\nconfigs:\n  dex:\n    content: |\n${indented("      ")}`,
      /^file0:8:7 odd /,
    ],
  ])("%s", async (_, tool, text, place) => {
    const { users, leftOut } = await made(tool, text);
    expect(users).toEqual([expect.objectContaining({ username: "erin" })]);
    expect(foreignFixtures([{ name: "f.yaml", text }])).toMatchObject({
      hint: { command: ["idp", "init", "--from", tool, "f.yaml"] },
    });
    if (place !== null) expect(leftOut).toContainEqual(expect.stringMatching(place));
  });
  test("Soluto's two lists in one Compose file", async () => {
    const text = `services:\n  oidc:\n    environment:\n      USERS_CONFIGURATION_INLINE: |\n        [{ "SubjectId": "1", "Username": "erin" }]\n      CLIENTS_CONFIGURATION_INLINE: |\n        [{ "ClientId": "c", "RedirectUris": ["http://localhost/cb"] }]\n`;
    const { users, clients } = await made("soluto", text);
    expect([users[0], clients[0]]).toMatchObject([{ username: "erin" }, { client_id: "c" }]);
  });
  test.each([`{{- /* dex */ -}}\n${dex}`, '{ "realm": {{ .Values.realm }} }'])(
    "a template is called one",
    async (text) => {
      await expect(readFrom("dex", [{ name: "f", text }])).rejects.toMatchObject({
        problems: [{ line: 1, message: expect.stringContaining("template") }],
      });
    },
  );
});

describe("a hostile file is refused quickly, with a clear line", () => {
  const deep = (open: string, close: string) => open.repeat(5000) + close.repeat(5000);
  test.each<[string, () => string, RegExp]>([
    ["deep JSON", () => deep("[", "]"), /nested/],
    ["deep JSON in a realm", () => `{"realm":"r","users":${deep("[", "]")}}`, /nested/],
    ["deep YAML", () => `realm: r\nusers: ${deep("[", "]")}`, /nest/],
    [
      "aliases",
      () =>
        `a0: &a0 [x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 9 }, (_, n) => `a${n + 1}: &a${n + 1} [${`*a${n},`.repeat(9)}]`).join("\n")}\nrealm: r\nusers: *a9`,
      /aliases/,
    ],
    [
      "__proto__",
      () => '{"realm":"r","users":[{"username":"u","__proto__":{"polluted":1}}]}',
      /cannot be the name of a field/,
    ],
    ["control characters", () => '{"realm":"r","users":[{"username":"u\u0000"}]}', /control character/],
    ["control characters in YAML", () => "realm: r\nusers: [\u0007]", /YAML/],
    ["too many characters", () => `{"realm":"r","users":["${"x".repeat(maxText)}"]}`, /32 MB/],
    ["too many documents", () => "a: 1\n---\n".repeat(2000), /documents/],
  ])("%s", async (_, text, says) => {
    const started = performance.now();
    const error = (await readFrom("keycloak", [{ name: "f", text: text() }]).catch((one: unknown) => one)) as {
      problems: readonly { message: string }[];
    };
    expect(error.problems.map(({ message }) => message).join()).toMatch(says);
    expect(performance.now() - started).toBeLessThan(5000);
    expect(Object.prototype).not.toHaveProperty("polluted");
  });
  test("a value with escape sequences is left out, and is nowhere in the file", async () => {
    const users = [
      {
        username: "u",
        firstName: "\u001b]0;x\u0007",
        email: "a@b.test",
        attributes: { a: ["\u202eevil"], "b\u009b": ["x"] },
      },
    ];
    const { text, leftOut } = await made("keycloak", realm({ users }));
    for (const letter of ["\u001b", "\u0007", "\u202e", "\u009b"]) expect(text).not.toContain(letter);
    expect(leftOut.filter((line) => line.includes("control characters")).length).toBeGreaterThan(2);
  });
});
