import { describe, expect, test } from "vitest";
import { call, startWithTokens, tokenOf } from "../helpers/control-tokens.ts";

/** An issuer that a tester added is that tester's, and no way around the role. */

describe("an issuer that a tester added", async () => {
  const server = await startWithTokens();
  const qa = tokenOf("qa");
  await call(server, qa, "POST", "/issuers", { name: "mine" });
  const at = (path: string): string => `/../../i/mine/_idp/api${path}`;

  test("is its tester's: fixtures, clients, users and a reset, but no secret and no stop", async () => {
    expect((await call(server, qa, "POST", at("/users"), { username: "newbie" })).status).toBe(201);
    expect((await call(server, qa, "POST", at("/seed"), { fixtures: { users: [{ username: "more" }] } })).status).toBe(
      422,
    );
    expect((await call(server, qa, "POST", at("/seed"), { users: [{ username: "more" }] })).status).toBe(200);
    expect((await call(server, qa, "POST", at("/reset"), {})).status).toBe(200);
    expect((await call(server, qa, "GET", at("/export"))).status).toBe(403);
    expect((await call(server, qa, "GET", at("/clients?secrets=true"))).status).toBe(403);
    expect((await call(server, qa, "POST", at("/stop"), {})).status).toBe(403);
    expect((await call(server, qa, "PUT", at("/issuer"), { issuer: "http://localhost:1" })).status).toBe(403);
  });

  test("is nobody else's, and only its tester or an admin removes it", async () => {
    expect((await call(server, tokenOf("other"), "POST", at("/users"), { username: "x" })).status).toBe(403);
    expect((await call(server, tokenOf("other"), "DELETE", "/issuers/mine")).status).toBe(403);
    expect((await call(server, server.adminToken, "POST", "/issuers", { name: "theirs" })).status).toBe(201);
    expect((await call(server, qa, "DELETE", "/issuers/theirs")).status).toBe(403);
    expect((await call(server, qa, "GET", "/issuers/mine")).json).toMatchObject({ addedBy: "qa" });
  });

  test.each([
    ["a seed", "/seed", (client: object) => ({ clients: [client] })],
    ["a reset", "/reset", (client: object) => ({ fixtures: { clients: [client] } })],
    ["a new client", "/clients", (client: object) => client],
  ])("%s cannot make this server call into its own network", async (_name, path, bodyOf) => {
    for (const uri of ["http://127.0.0.1:9/x", "http://10.0.0.1/x", "http://169.254.169.254/latest"]) {
      const client = { client_id: "ssrf", redirect_uris: ["http://localhost:3000/cb"], backchannel_logout_uri: uri };
      const { status, text } = await call(server, qa, "POST", at(path), bodyOf(client));
      expect([uri, status >= 400 && status < 500]).toEqual([uri, true]);
      expect(text).toContain("cannot be used");
      for (const more of [{ scim: { url: uri } }, { global_token_revocation: { uri } }]) {
        const other = { client_id: "ssrf", redirect_uris: ["http://localhost:3000/cb"], ...more };
        expect((await call(server, qa, "POST", at(path), bodyOf(other))).status).toBeGreaterThanOrEqual(400);
      }
    }
  });

  test("its settings cannot widen where this server calls", async () => {
    const settings = { registration_loopback: true, client_metadata_documents: true, client_metadata_loopback: true };
    const client = { client_id: "ssrf", redirect_uris: ["http://localhost:3000/cb"], jwks_uri: "http://127.0.0.1:9/x" };
    await call(server, qa, "POST", at("/seed"), { settings });
    expect((await call(server, qa, "POST", at("/seed"), { clients: [client] })).status).toBe(422);
  });

  test("its fixtures make no further issuers, which would be nobody's", async () => {
    const { status } = await call(server, qa, "POST", at("/seed"), { issuers: { escaped: {} } });
    expect(status).toBe(422);
    expect((await call(server, qa, "GET", "/issuers/escaped")).status).toBe(404);
  });
});
