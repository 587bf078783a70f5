import { auth, type OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { requireBearerAuth } from "@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { OAuthClientInformationMixed, OAuthTokens } from "@modelcontextprotocol/sdk/shared/auth.js";
import { expect, test } from "vitest";
import { approve, Browser } from "../../helpers/browser.ts";
import { relyingPartySecret, startIdpFor, startRelyingParty } from "../../helpers/relying-party.ts";

/** The SDK of the Model Context Protocol on both sides: the client knows only the address of the MCP server, and registers itself. */

const callback = "http://localhost:3000/callback";
const { app, url } = await startRelyingParty();
const { issuer } = await startIdpFor([callback], {}, ["--dynamic-registration"]);
const resource = `${url}/mcp`;
const metadataPath = "/.well-known/oauth-protected-resource/mcp";

interface Introspection {
  readonly active: boolean;
  readonly client_id: string;
  readonly username: string;
  readonly scope: string;
  readonly exp: number;
  readonly aud: string;
}
async function verifyAccessToken(token: string) {
  const body = new URLSearchParams({ token, client_id: "app", client_secret: relyingPartySecret });
  const response = await fetch(`${issuer}/api/v2/oauth/introspect`, { method: "POST", body });
  const { active, client_id, username, scope, exp, aud } = (await response.json()) as Introspection;
  expect(active).toBe(true);
  return {
    token,
    clientId: client_id,
    scopes: scope.split(" "),
    expiresAt: exp,
    resource: new URL(aud),
    extra: { username },
  };
}
app.get(metadataPath, (_req, res) => {
  res.json({ resource, authorization_servers: [issuer], scopes_supported: ["openid", "profile"] });
});
const resourceMetadataUrl = url + metadataPath;
const bearer = requireBearerAuth({
  verifier: { verifyAccessToken },
  resourceMetadataUrl,
  expectedResource: new URL(resource),
});
app.all("/mcp", bearer, async (req, res) => {
  const server = new McpServer({ name: "mcp", version: "1.0.0" });
  server.registerTool("whoami", {}, ({ authInfo }) => ({
    content: [{ type: "text", text: String(authInfo?.extra?.["username"]) }],
  }));
  const transport = new StreamableHTTPServerTransport({});
  await server.connect(transport);
  await transport.handleRequest(req, res);
});

/** What an application keeps for the SDK. */
class Kept implements OAuthClientProvider {
  readonly redirectUrl = callback;
  readonly clientMetadata = { client_name: "Assistant", redirect_uris: [callback] };
  authorizationUrl = new URL("about:blank");
  #client: OAuthClientInformationMixed | undefined;
  #tokens: OAuthTokens | undefined;
  #verifier = "";
  clientInformation = () => this.#client;
  saveClientInformation = (client: OAuthClientInformationMixed) => void (this.#client = client);
  tokens = () => this.#tokens;
  saveTokens = (tokens: OAuthTokens) => void (this.#tokens = tokens);
  redirectToAuthorization = (address: URL) => void (this.authorizationUrl = address);
  codeVerifier = () => this.#verifier;
  saveCodeVerifier = (verifier: string) => void (this.#verifier = verifier);
}

test("registers itself, signs alice in for the MCP server, calls a tool as her, and refreshes", async () => {
  const authProvider = new Kept();
  const transport = new StreamableHTTPClientTransport(new URL(resource), { authProvider });
  const first = new Client({ name: "assistant", version: "1.0.0" });
  await expect(first.connect(transport)).rejects.toThrow("Unauthorized");
  expect(authProvider.authorizationUrl.searchParams.get("resource")).toBe(resource);

  const browser = new Browser(issuer);
  const { left } = await approve(browser, await browser.open(authProvider.authorizationUrl.href));
  await transport.finishAuth(left?.searchParams.get("code") ?? "");
  const client = new Client({ name: "assistant", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(resource), { authProvider }));
  const { content } = await client.callTool({ name: "whoami" });
  expect(content).toEqual([{ type: "text", text: "alice" }]);
  await client.close();

  const before = authProvider.tokens();
  expect(await auth(authProvider, { serverUrl: resource })).toBe("AUTHORIZED");
  expect(authProvider.tokens()?.access_token).not.toBe(before?.access_token);
});
