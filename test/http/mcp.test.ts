import { createRemoteJWKSet, jwtVerify } from "jose";
import { describe, expect, test } from "vitest";
import { createIdp } from "../../src/index.ts";
import { builtInDemo } from "../../src/serve/fixture-files.ts";
import { serve } from "../helpers/app.ts";
import { authorizeUrl, exchange, pkce, refresh, signIn } from "../helpers/client.ts";
import { documentServer } from "../helpers/document-server.ts";

/** The setting `mcp`: what servers and clients of the Model Context Protocol use. */

const documents = await documentServer();
const idp = await serve({ settings: { mcp: true, client_metadata_loopback: true } });
const { verifier, challenge } = pkce();
const proof = { code_challenge: challenge, code_challenge_method: "S256" };

const metadataOf = async ({ issuer }: { readonly issuer: string }) =>
  (await (await fetch(`${issuer}/.well-known/oauth-authorization-server`)).json()) as Record<string, unknown>;

test("metadata has documents, registration and iss", async () => {
  expect(await metadataOf(idp)).toMatchObject({
    client_id_metadata_document_supported: true,
    registration_endpoint: `${idp.issuer}/api/v2/oauth/register`,
    authorization_response_iss_parameter_supported: true,
    code_challenge_methods_supported: expect.arrayContaining(["S256"]) as unknown,
    token_endpoint_auth_methods_supported: expect.arrayContaining(["none"]) as unknown,
  });
});

test("a client with a document gets an access token for the MCP server that verifies with the keys", async () => {
  const client_id = documents.publish("/assistant.json", { redirect_uris: ["http://127.0.0.1:3118/callback"] });
  // Native apps listen on any free port.
  const redirect_uri = "http://127.0.0.1:51004/callback";
  const resource = "https://mcp.example/mcp";
  const { code, back } = await signIn(idp, { client_id, redirect_uri, resource, ...proof });
  expect(back.searchParams.get("iss")).toBe(idp.issuer);
  const answer = await exchange(idp, code, { client_id, client_secret: null, redirect_uri, code_verifier: verifier });
  const keys = createRemoteJWKSet(new URL(`${idp.issuer}/api/v2/oauth/jwks`));
  const { payload } = await jwtVerify(answer.json.access_token, keys, { audience: resource, issuer: idp.issuer });
  expect(payload["client_id"]).toBe(client_id);
});

test("a client registers itself", async () => {
  const body = JSON.stringify({
    client_name: "Old",
    redirect_uris: ["http://localhost:3000/cb"],
    token_endpoint_auth_method: "none",
  });
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${idp.issuer}/api/v2/oauth/register`, { method: "POST", headers, body });
  expect(response.status).toBe(201);
});

test("a document that lists localhost without a port signs in with any port, as a terminal's agent does", async () => {
  const client_id = documents.publish("/terminal.json", {
    client_name: "Terminal agent",
    redirect_uris: ["http://localhost/callback", "http://127.0.0.1/callback"],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
  });
  const redirect_uri = "http://localhost:3118/callback";
  const { code } = await signIn(idp, { client_id, redirect_uri, ...proof });
  const own = { client_id, client_secret: null, redirect_uri, code_verifier: verifier };
  expect((await exchange(idp, code, { ...own, redirect_uri: "http://localhost:3119/callback" })).status).toBe(400);
  expect((await signIn(idp, { client_id, redirect_uri: "http://localhost/callback", ...proof })).code).not.toBe("");
});

test("twenty clients with documents of their own sign in at once", async () => {
  const redirect_uri = "http://localhost:3000/callback";
  const tokens = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const client_id = documents.publish(`/crowd-${index}.json`);
      const { code } = await signIn(idp, { client_id, redirect_uri, ...proof });
      const own = { client_id, client_secret: null, redirect_uri, code_verifier: verifier };
      const { status, json } = await exchange(idp, code, own);
      const again = await refresh(idp, json.refresh_token, { client_id, client_secret: null });
      return [status, again.status];
    }),
  );
  expect(tokens).toEqual(Array.from({ length: 20 }, () => [200, 200]));
});

test("localhost with a port matches exactly, and so does the port of a confidential client", async () => {
  const client_id = documents.publish("/local.json", { redirect_uris: ["http://localhost:3118/callback"] });
  const status = async (id: string, redirect_uri: string) =>
    (await fetch(authorizeUrl(idp, { client_id: id, redirect_uri, ...proof }), { redirect: "manual" })).status;
  expect(await status(client_id, "http://localhost:3118/callback")).toBe(303);
  expect(await status(client_id, "http://localhost:3119/callback")).toBe(400);
  await idp.call("clients.add", { client_id: "secretive", redirect_uris: ["http://127.0.0.1:3118/cb"] });
  expect(await status("secretive", "http://127.0.0.1:3118/cb")).toBe(303);
  expect(await status("secretive", "http://127.0.0.1:3119/cb")).toBe(400);
});

describe("settings that contradict it are refused", () => {
  test.each([
    [{ mcp: true, refresh_rotation: "off" }, undefined],
    [{ mcp: true, access_token_alg: "HS256" }, undefined],
    [{ mcp: true }, { refresh_rotation: "off" }],
    [{ refresh_rotation: "off" }, { mcp: true }],
    [{}, { mcp: true, refresh_rotation: "off" }],
    [{}, { mcp: true, refresh_rotation: false }],
  ] as const)("flags %j, fixtures %j", async (flags, settings) => {
    const fixtures = { users: [{ username: "alice" }], ...(settings !== undefined && { settings }) };
    await expect(createIdp({ settings: flags, fixtures, port: 0 })).rejects.toThrow(
      /(?:refresh_rotation|access_token_alg).*does not go with mcp/s,
    );
  });

  test("also while the server runs; what is allowed turns registration on at once", async () => {
    const running = await serve({ fixtures: [builtInDemo(), { settings: { refresh_rotation: "off" } }] });
    await expect(running.call("seed", { settings: { mcp: true } })).rejects.toThrow("does not go with mcp");
    expect(await metadataOf(running)).not.toHaveProperty("registration_endpoint");
    await running.call("seed", { settings: { mcp: true, refresh_rotation: "on" } });
    const { registration_endpoint: url } = await metadataOf(running);
    expect((await fetch(String(url), { method: "POST" })).status).toBe(400);
  });
});
