import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { load } from "js-yaml";
import { describe, expect, test } from "vitest";
import type { ToolName } from "../../src/migrate/tool-names.ts";
import { readFrom } from "../../src/migrate/tools.ts";
import { foreignFiles } from "../helpers/foreign-files.ts";
import { made, realm, web } from "../helpers/made-fixtures.ts";
import { longRuns, timeLimit } from "../helpers/runs.ts";

/** What files of other tools say and fixtures cannot: it is listed, and never stops the rest. */

describe("one record never stops the rest", () => {
  const byKey = (attributes: object) => ({
    ...{ clientId: "service", standardFlowEnabled: false, serviceAccountsEnabled: true },
    ...{ clientAuthenticatorType: "client-jwt", attributes },
  });
  test.each([
    [
      "a certificate",
      { "jwt.credential.certificate": "MIIFLzCCAxegAwIBAgIU", "token.endpoint.auth.signing.alg": "RS256" },
    ],
    ["keys that are not JSON", { "use.jwks.string": "true", "jwks.string": "{oops" }],
    ["no keys", {}],
  ])("Keycloak: client-jwt with %s", async (_, attributes) => {
    const { clients, leftOut } = await made(
      "keycloak",
      realm({ clients: [web, byKey(attributes)], users: [{ username: "u" }] }),
    );
    expect(clients.map(({ client_id }) => client_id)).toEqual(["web", "service", "idp-cli"]);
    expect(clients[1]).toMatchObject({ client_secret: "service-secret" });
    expect(leftOut.filter((line) => /^file0:\d+:\d+ clients\[1\]/.test(line))).toHaveLength(leftOut.length);
    expect(leftOut.length).toBeGreaterThan(0);
  });
  test("Keycloak: client-jwt with keys keeps them", async () => {
    const jwks = { keys: [{ kty: "RSA", n: "AQAB", e: "AQAB", kid: "1" }] };
    const client = byKey({ "use.jwks.string": "true", "jwks.string": JSON.stringify(jwks) });
    const { clients } = await made("keycloak", realm({ clients: [client] }));
    expect(clients[0]).toMatchObject({ token_endpoint_auth_method: "private_key_jwt", jwks });
  });

  /** Each value of a file in turn, replaced by others. */
  function* spoiled(value: unknown, put: (value: unknown) => unknown): Generator {
    for (const other of [null, -1.5, "\u001b[2J", ["x", 1, null], { a: { b: 1 } }]) yield put(other);
    if (typeof value !== "object" || value === null) return;
    for (const [name, member] of Object.entries(value)) {
      const around = (inner: unknown): unknown =>
        put(
          Array.isArray(value)
            ? value.map((one: unknown, at) => (String(at) === name ? inner : one))
            : { ...value, [name]: inner },
        );
      yield* spoiled(member, around);
    }
  }
  test.each(foreignFiles)("%s %s: any one value may be anything", { timeout: timeLimit }, async (tool, ...names) => {
    const texts = names.map((name) =>
      readFileSync(fileURLToPath(new URL(`../fixtures-from/${name}`, import.meta.url)), "utf8"),
    );
    const [first = "", ...others] = texts;
    if (first.includes("\n{") || first.includes("\n---")) return;
    const all = [...spoiled(load(first), (value) => value)];
    // Some of them, spread over the file.
    for (const file of all.filter((_, index) => index % Math.ceil(all.length / longRuns(100)) === 0)) {
      const files = [JSON.stringify(file), ...others].map((text) => ({ name: "f", text }));
      const read = await readFrom(tool, files).catch((error: unknown) => error);
      if (read instanceof Error) expect(read).toMatchObject({ name: "OperationError", code: "invalid" });
    }
  });
});

describe("every value is carried over or listed", () => {
  /** Values of each file that say nothing about its users and clients, or about how they sign in. */
  const silent: Partial<Record<ToolName, RegExp>> = {
    keycloak:
      /^(?:id|realm|keycloakVersion)$|^roles|\.(?:protocol|protocolMapper|rootUrl|description|composite|disableableCredentialTypes|id|name|config)|^groups|clientAuthenticatorType$|createdTimestamp$|^users\[3\]|^clients\[0\]|^otpPolicy|acr\.loa\.map|default\.acr\.values|secretData$|credentialData$/,
    auth0:
      /grant_types|(?:description|last_login|last_ip|logins_count|updated_at|tenant|identities|connection|\.rotation_type|is_first_party|app_type|alg|value|salt|oidc_conformant)$|password_hash|identities|user_id$|token_endpoint_auth_method$/,
    dex: /^(?:issuer|storage|web|frontend|telemetry|logger|grpc|enablePasswordDB)|oauth2\.responseTypes|connectors|redirectURIs|skipApprovalScreen|expiry/,
    soluto:
      /AllowedGrantTypes|(?:Claims\[[41]\]\.Value|Description|ProtocolType|ValueType|Require\w+|Allow\w+|AlwaysInclude\w+|ClientClaimsPrefix|ClientSecrets\[0\]|Type)$/i,
    navikt: /^(?:interactiveLogin|httpServer|tokenProvider)|issuerId|requestParam|match$|typeHeader/,
    hydra:
      /(?:_at|registration_\w+|subject_type|response_types\[0\]|userinfo_signed_response_alg|skip_logout_consent)$/,
    emulate:
      /grant_types|\.port$|group_memberships|\.okta_id$|\.type$|response_types|token_endpoint_auth_method|status$/,
    fusionauth:
      /enabledGrants|^(?:variables|apiKeys)|method$|url$|tenantId$|applicationId$|application\.roles|skipVerification|generateRefreshTokens|enabled$|active$|Policy$|timeTo|TimeTo|password$|applicationId$|username$|template$/,
    authelia:
      /hmac_secret|lifespans|require_pkce|pkce_challenge_method|client_secret|consent_mode|response_types|password$/,
  };
  const leaves = (value: unknown, path: string): (readonly [string, string])[] => {
    if (value === null || value === "" || typeof value === "boolean" || value === "false" || value === "False")
      return [];
    if (typeof value !== "object") return [[path, JSON.stringify(value).replace(/^"(.*)"$/, "$1")]];
    return Object.entries(value).flatMap(([name, member]) => {
      const plain = /^[A-Za-z_$][\w$]*$/.test(name) ? `${path === "" ? "" : "."}${name}` : `[${JSON.stringify(name)}]`;
      return leaves(member, path + (Array.isArray(value) ? `[${name}]` : plain));
    });
  };
  test.each(foreignFiles)("%s %s", async (tool, ...names) => {
    const files = names.map((name) => ({
      name,
      text: readFileSync(fileURLToPath(new URL(`../fixtures-from/${name}`, import.meta.url)), "utf8"),
    }));
    const { leftOut } = await readFrom(tool, files);
    const { text } = await made(tool, ...files);
    const kept = text.replaceAll(/^#.*$/gm, "");
    for (const { name, text: file } of files) {
      const root = name.endsWith("ndjson")
        ? file
            .trim()
            .split(/\s*\n\s*/)
            .map((line) => load(line))
        : load(file);
      const lost = leftOut.flatMap((problem) => (problem.file === name ? [problem.path] : []));
      const missing = leaves(root, "").filter(
        ([path, value]) =>
          !kept.includes(value) && !lost.some((one) => path.startsWith(one)) && silent[tool]?.test(path) !== true,
      );
      expect(missing).toEqual([]);
    }
  });
});
