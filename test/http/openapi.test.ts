import { readdirSync } from "node:fs";
import { request } from "node:http";
import { Validator } from "@seriousme/openapi-schema-validator";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { operations } from "../../src/core/admin/operations/routes.ts";
import { createIdp, type Idp, type IdpOptions } from "../../src/index.ts";

/** `/_idp/api/openapi.json` is what the control API does: each path is there, and answers as it is described. */

type Json = Readonly<Record<string, unknown>>;
interface Described {
  readonly operationId: string;
  readonly requestBody?: unknown;
  readonly responses: Readonly<
    Record<string, { readonly content?: { readonly "application/json": { readonly schema: Json } } }>
  >;
}
type FixtureObject = Exclude<IdpOptions["fixtures"], (() => unknown) | undefined>;

interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> } & Json;
}

const client = { client_secret: "a-secret", redirect_uris: ["http://localhost:3000/callback"] };
let fixtures: FixtureObject = {
  users: [{ username: "alice" }, { username: "bob" }, { username: "carol" }],
  clients: [
    { client_id: "app", ...client },
    { client_id: "gone", ...client },
  ],
};
let idp: Idp;
let document: Document;
beforeAll(async () => {
  idp = await createIdp({ port: 0, fixtures: () => fixtures });
  document = (await call("GET", "/openapi.json")).body as never;
});
afterAll(() => idp.close());

async function call(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await fetch(`${idp.issuer}/_idp/api${path}`, {
    method,
    headers: {
      authorization: `Bearer ${idp.adminToken}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? null : JSON.parse(text) };
}

const all = (): { path: string; method: string; described: Described }[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({ path, method: method.toUpperCase(), described })),
  );

test("a validator of OpenAPI 3.1 finds nothing wrong with it", async () => {
  const validator = new Validator();
  expect(await validator.validate(structuredClone(document) as never)).toEqual({ valid: true });
  expect(validator.version).toBe("3.1");
});

test("it needs the admin token, as everything below /_idp/api does", async () => {
  expect((await fetch(`${idp.issuer}/_idp/api/openapi.json`)).status).toBe(401);
  expect((await call("POST", "/openapi.json", {})).status).toBe(405);
});

test("it lists every operation under its route, and nothing else", () => {
  const listed = all().map(({ path, method, described }) => `${described.operationId}: ${method} ${path}`);
  const mounted = Object.entries(operations).map(
    ([name, { method, path }]) => `${name}: ${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`,
  );
  const others = ["openapi: GET /openapi.json", "requests.stream: GET /requests/stream"];
  expect(listed.sort()).toEqual([...others, ...mounted].sort());
  expect(document.servers).toEqual([{ url: `${idp.issuer}/_idp/api` }]);
});

test("every path is routed: methods that are not listed are 405, with those that are", async () => {
  for (const [path, methods] of Object.entries(document.paths)) {
    const here = Object.keys(methods).map((method) => method.toUpperCase());
    const other = ["PUT", "GET", "POST", "PATCH", "DELETE"].find((method) => !here.includes(method)) ?? "";
    const concrete = path.replaceAll(/\{\w+\}/g, "x");
    const response = await fetch(`${idp.issuer}/_idp/api${concrete}`, {
      method: other,
      headers: { authorization: `Bearer ${idp.adminToken}` },
    });
    expect({ path, status: response.status }).toEqual({ path, status: 405 });
    const allow = (response.headers.get("allow") ?? "").split(", ").filter((method) => method !== "HEAD");
    expect(allow.sort(), path).toEqual(here.sort());
  }
});

/** The schema of a response with its references, which allows no other members. */
function answerSchema(operationId: string, status: number): ValidateFunction {
  const described = all().find((one) => one.described.operationId === operationId)?.described;
  const schema = described?.responses[String(status)]?.content?.["application/json"].schema;
  expect(schema, `${operationId} ${status}`).toBeDefined();
  const text = JSON.stringify({ ...schema, $defs: document.components.schemas }, (key, value: unknown) => {
    const isObject = typeof value === "object" && value !== null && "properties" in value;
    return isObject && !("additionalProperties" in value) ? { ...value, additionalProperties: false } : value;
  });
  return new Ajv2020({ strict: false }).compile(
    JSON.parse(text.replaceAll("#/components/schemas/", "#/$defs/")) as object,
  );
}

const grants = async (): Promise<string> => {
  const granted = await call("POST", "/issue/grant", { user: "alice", client: "app", scope: "openid email" });
  return (granted.body as { readonly id: string }).id;
};
const token = async (): Promise<string> =>
  ((await call("POST", "/issue/tokens", { user: "alice", client: "app" })).body as { readonly access_token: string })
    .access_token;

/** A sign-in that waits at its login page. */
async function waitingSignIn(): Promise<{ readonly sign_in: string; readonly csrf: string }> {
  const query = `response_type=code&client_id=app&redirect_uri=${encodeURIComponent(client.redirect_uris[0] ?? "")}`;
  const begun = await fetch(`${idp.issuer}/api/v2/oauth/authorize?${query}&scope=openid`, { redirect: "manual" });
  const address = new URL(begun.headers.get("location") ?? "", idp.issuer);
  const cookie = begun.headers.getSetCookie().map((line) => line.split(";")[0]);
  const page = await fetch(address, { headers: { cookie: cookie.join("; "), accept: "application/json" } });
  const { csrf } = (await page.json()) as { readonly csrf: string };
  return { sign_in: address.pathname.split("/").at(-2) ?? "", csrf };
}

/** A call of each operation that does what it is for; in this order. */
const calls: Readonly<Record<string, () => Promise<{ readonly path: string; readonly body?: unknown }>>> = {
  openapi: async () => ({ path: "/openapi.json" }),
  status: async () => ({ path: "/status" }),
  acts: async () => ({ path: "/acts" }),
  "users.otp": async () => {
    await idp.call("seed", { users: [{ username: "otto", factors: ["otp"] }] });
    return { path: "/users/otto/otp" };
  },
  "snapshots.save": async () => ({ path: "/snapshots/first" }),
  "snapshots.list": async () => ({ path: "/snapshots" }),
  "snapshots.restore": async () => ({ path: "/snapshots/first/restore" }),
  "snapshots.remove": async () => ({ path: "/snapshots/first" }),
  expire: async () => ({ path: "/expire", body: { user: "alice", refresh: true, sessions: true } }),
  "clock.show": async () => ({ path: "/clock" }),
  "clock.advance": async () => ({ path: "/clock/advance", body: { by: "31m" } }),
  "clock.set": async () => ({ path: "/clock/set", body: { to: "2027-01-01T00:00:00Z" } }),
  "clock.freeze": async () => ({ path: "/clock/freeze" }),
  "clock.reset": async () => ({ path: "/clock/reset" }),
  "users.list": async () => ({ path: "/users?limit=2" }),
  "users.show": async () => ({ path: "/users/alice" }),
  "users.add": async () => ({ path: "/users", body: { username: "dan", password: "d", theme: "dark" } }),
  "users.edit": async () => ({ path: "/users/dan", body: { birthDate: "1990-05-17" } }),
  "users.suspend": async () => ({ path: "/users/bob/suspend" }),
  "users.restore": async () => ({ path: "/users/bob/restore" }),
  "users.leave": async () => ({ path: "/users/bob/leave" }),
  "users.ban": async () => ({ path: "/users/bob/ban" }),
  "users.remove": async () => ({ path: "/users/dan" }),
  "clients.list": async () => ({ path: "/clients?secrets=true" }),
  "clients.show": async () => ({ path: "/clients/app" }),
  "clients.add": async () => ({ path: "/clients", body: { client_id: "new", grant_types: ["client_credentials"] } }),
  "clients.edit": async () => ({ path: "/clients/new", body: { client_name: "New" } }),
  "clients.rotate-secret": async () => ({ path: "/clients/new/rotate-secret" }),
  "clients.remove": async () => ({ path: "/clients/gone" }),
  "issue.grant": async () => ({ path: "/issue/grant", body: { user: "carol", client: "app" } }),
  "issue.code": async () => ({ path: "/issue/code", body: { user: "alice", client: "app" } }),
  "issue.tokens": async () => ({ path: "/issue/tokens", body: { user: "alice", client: "app" } }),
  "grants.list": async () => ({ path: "/grants?user=alice" }),
  "grants.add": async () => ({ path: "/grants", body: { user: "carol", client: "app" } }),
  "grants.show": async () => ({ path: `/grants/${await grants()}` }),
  "grants.edit": async () => ({ path: `/grants/${await grants()}`, body: { scope: "openid" } }),
  "token.issue": async () => ({ path: "/token/issue", body: { user: "alice", client: "app", expired: true } }),
  "workloads.list": async () => ({ path: "/workloads" }),
  "workloads.issue": async () => ({ path: "/workloads/gitlab/token", body: { audience: "x", alg_none: true } }),
  "token.verify": async () => ({ path: "/token/verify", body: { token: await token() } }),
  "token.introspect": async () => ({ path: "/token/introspect", body: { token: await token() } }),
  "token.revoke": async () => ({ path: "/token/revoke", body: { token: await token() } }),
  "grants.revoke": async () => ({ path: `/grants/${await grants()}` }),
  revoke: async () => ({ path: "/revoke", body: { user: "carol" } }),
  "sessions.list": async () => ({ path: "/sessions" }),
  "scim.push": async () => ({ path: "/scim/push", body: {} }),
  "scim.status": async () => ({ path: "/scim/status" }),
  "scim.test": async () => ({ path: "/scim/test", body: {} }),
  "sessions.begin": async () => ({ path: "/sessions", body: { user: "alice", ...(await waitingSignIn()) } }),
  "sessions.end": async () => ({ path: "/sessions/end", body: { user: "alice" } }),
  "scopes.list": async () => ({ path: "/scopes" }),
  "fixtures.list": async () => ({ path: "/fixtures" }),
  "fixtures.check": async () => ({ path: "/fixtures/check" }),
  diff: async () => ({ path: "/diff" }),
  "diff.given": async () => ({ path: "/diff", body: {} }),
  "fixtures.apply": async () => ({ path: "/fixtures/apply", body: {} }),
  "issue.saml": async () => {
    await call("POST", "/clients", { client_id: "urn:sp", saml: { acs: ["http://localhost:3000/acs"] } });
    return { path: "/issue/saml", body: { user: "alice", client: "urn:sp" } };
  },
  "saml.show": async () => ({ path: "/saml" }),
  "keys.list": async () => ({ path: "/keys" }),
  "keys.show": async () => ({ path: `/keys/${(await idp.call("keys.list", {}))[0]?.kid}` }),
  "keys.rotate": async () => ({ path: "/keys", body: {} }),
  "keys.remove": async () => {
    const retired = (await idp.call("keys.list", {})).find(({ status }) => status === "retired");
    return { path: `/keys/${retired?.kid}` };
  },
  "faults.add": async () => ({
    path: "/faults",
    body: { endpoint: "token", client: "app", status: 503, header: { "Retry-After": "2" }, delay: "3s", times: 2 },
  }),
  "faults.list": async () => ({ path: "/faults" }),
  "faults.flaws": async () => ({ path: "/faults/flaws" }),
  "faults.remove": async () => ({ path: "/faults/x1" }),
  "faults.clear": async () => ({ path: "/faults" }),
  "requests.list": async () => ({ path: "/requests?status=4xx" }),
  "requests.show": async () => {
    await fetch(`${idp.issuer}/api/v2/oauth/token`, {
      method: "POST",
      body: new URLSearchParams({ client_id: "app" }),
    });
    return { path: `/requests/${(await idp.call("requests.list", {})).at(-1)?.id ?? ""}` };
  },
  expect: async () => ({ path: "/expect", body: { endpoint: "token", grant_type: "refresh_token" } }),
  "requests.clear": async () => ({ path: "/requests" }),
  seed: async () => ({ path: "/seed", body: { users: [{ username: "eve" }], settings: { code_ttl: 30 } } }),
  reset: async () => ({ path: "/reset", body: {} }),
  export: async () => ({ path: "/export" }),
  import: async () => ({ path: "/import", body: await idp.call("export", {}) }),
  "inspector.open": async () => ({ path: "/inspector/open" }),
  "issuers.add": async () => ({ path: "/issuers", body: { name: "a", fixtures: {} } }),
  "issuers.list": async () => ({ path: "/issuers" }),
  "issuers.show": async () => ({ path: "/issuers/a" }),
  "issuers.remove": async () => ({ path: "/issuers/a" }),
  "issuer.set": async () => ({ path: "/issuer", body: { issuer: idp.issuer } }),
};

/** Not called above: sessions are shown elsewhere, `stop` would end the others, and the stream has no end. */
const elsewhere = ["sessions.show", "sessions.remove", "stop", "requests.stream"];

test("every operation answers as it is described", async () => {
  const ids = all().map(({ described }) => described.operationId);
  expect([...Object.keys(calls), ...elsewhere].sort()).toEqual(ids.sort());
  for (const [name, prepare] of Object.entries(calls)) {
    const method = all().find(({ described }) => described.operationId === name)?.method ?? "";
    const { path, body } = await prepare();
    const answer = await call(method, path, body);
    expect(answer.status, `${name}: ${JSON.stringify(answer.body)}`).toBeLessThan(300);
    if (answer.status === 204) expect(answer.body).toBeNull();
    else {
      const fits = name === "openapi" ? null : answerSchema(name, answer.status);
      fits?.(answer.body);
      expect(fits?.errors ?? null, `${name}: ${JSON.stringify(answer.body)}`).toBeNull();
    }
  }
});

test("an act names a command that exists, or the request where only the control API does it", async () => {
  const commands = readdirSync("test/cli/help").map(
    (file) => `idp ${file.replace(".txt", "").replace(/(?<!^sign)-/, " ")}`,
  );
  const twoWords = commands.filter((name) => name.split(" ").length > 2);
  const isCommand = (act: string): boolean => {
    const [idp = "", noun = "", verb = ""] = act.split(" ");
    const hasVerbs = twoWords.some((name) => name.startsWith(`${idp} ${noun} `));
    return hasVerbs ? twoWords.includes(`${idp} ${noun} ${verb}`) : commands.includes(`${idp} ${noun}`);
  };
  const acts = (await idp.call("acts", {})).map(({ command }) => command);
  expect(acts.length).toBeGreaterThan(30);
  expect(acts.filter((act) => act.startsWith("idp ") && !isCommand(act))).toEqual([]);
  expect(acts.filter((act) => !act.startsWith("idp "))).toEqual([
    expect.stringMatching(/^PATCH \/_idp\/api\/grants\/g_\S+$/),
    "POST /_idp/api/workloads/gitlab/token",
  ]);
});

describe("refusals", () => {
  const send = (
    method: string,
    path: string,
    headers: Readonly<Record<string, string>>,
    body = "",
  ): Promise<{ readonly status: number; readonly type: string; readonly body: unknown }> =>
    new Promise((resolve, reject) => {
      const options = { host: "127.0.0.1", port: idp.port, method, path: `/_idp/api${path}` };
      const all = { authorization: `Bearer ${idp.adminToken}`, host: "localhost", accept: "text/html", ...headers };
      const sent = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
      request({ ...options, headers: sent }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on("data", (chunk: Buffer) => chunks.push(chunk));
        answer.on("end", () => {
          const type = answer.headers["content-type"] ?? "";
          resolve({ status: answer.statusCode ?? 0, type, body: JSON.parse(Buffer.concat(chunks).toString()) });
        });
      })
        .on("error", reject)
        .end(body);
    });

  beforeAll(() => {
    fixtures = { clients: [{ client_id: "without-redirect-uris" }] };
  });

  const json = { "content-type": "application/json" };
  test.each<[number, string, string, string, Readonly<Record<string, string>>, string?]>([
    [400, "issue.tokens", "POST", "/issue/tokens", json, "{"],
    [400, "users.show", "GET", "/users/%E0%A4%A", {}],
    [401, "users.list", "GET", "/users", { authorization: "" }],
    [403, "users.list", "GET", "/users", { origin: "http://localhost:3000" }],
    [404, "users.show", "GET", "/users/nobody", {}],
    [404, "issue.code", "POST", "/issue/code", json, '{"user":"nobody","client":"app"}'],
    [404, "grants.edit", "PATCH", "/grants/none", json, '{"scope":"openid"}'],
    [409, "users.add", "POST", "/users", json, '{"username":"alice"}'],
    [409, "clients.add", "POST", "/clients", json, '{"client_id":"app","grant_types":["client_credentials"]}'],
    [409, "keys.remove", "DELETE", "/keys/THE-ONE-THAT-SIGNS", {}],
    [413, "users.add", "POST", "/users", json, JSON.stringify({ about: "x".repeat(102_400) })],
    [415, "revoke", "POST", "/revoke", { "content-type": "text/plain" }, "user=alice"],
    [415, "revoke", "POST", "/revoke", { ...json, "content-encoding": "compress" }, "{}"],
    [421, "users.list", "GET", "/users", { host: "evil.example" }],
    [422, "users.list", "GET", "/users?limit=few", {}],
    [422, "fixtures.check", "GET", "/fixtures/check", {}],
    [422, "fixtures.apply", "POST", "/fixtures/apply", json, "{}"],
    [422, "users.add", "POST", "/users", json, '{"username":"x","email":"nonsense"}'],
    [422, "clients.edit", "PATCH", "/clients/app", json, '{"redirect_uris":["nonsense"]}'],
  ])("%i of %s is described, and JSON also for a browser", async (status, name, method, path, headers, body) => {
    const [key] = (await idp.call("keys.list", {})).filter((one) => one.status === "signing");
    const answer = await send(method, path.replace("THE-ONE-THAT-SIGNS", key?.kid ?? ""), headers, body);
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status, type: "application/json; charset=utf-8" });
    expect(answer.body).toMatchObject({ error: expect.any(String), error_description: expect.any(String) });
    const described = all().find((one) => one.described.operationId === name)?.described;
    expect(Object.keys(described?.responses ?? {})).toContain(String(status));
  });
});
