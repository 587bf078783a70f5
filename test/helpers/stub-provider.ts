import { createHash } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { onTestFinished } from "vitest";

/** A minimal provider for clients: each response can be replaced, and the requests are recorded. */

interface StubAnswer {
  readonly status?: number;
  readonly type?: string;
  /** Sent as it is, or as JSON. */
  readonly body?: unknown;
  readonly location?: string;
}

/** Answers by path; a function is given the usual one. */
export type Bends = Readonly<Record<string, StubAnswer | ((usual: Readonly<Record<string, unknown>>) => StubAnswer)>>;

export interface StubProvider {
  readonly issuer: string;
  readonly asked: { readonly path: string; readonly headers: Headers; readonly form: URLSearchParams }[];
}

/**
 * @param bends `/token`: the response there in place of the usual one
 * @param idToken claims of the ID token that are to be otherwise; `alg` and `kid` of its header
 */
export async function startStubProvider(
  bends: Bends = {},
  { header = {}, ...claims }: Readonly<Record<string, unknown>> = {},
): Promise<StubProvider> {
  const { privateKey, publicKey } = await generateKeyPair("ES256");
  const asked: StubProvider["asked"] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { pathname, searchParams } = new URL(request.url ?? "", issuer);
      const form = request.method === "POST" ? new URLSearchParams(Buffer.concat(chunks).toString()) : searchParams;
      asked.push({ path: pathname, headers: new Headers(request.headers as Record<string, string>), form });
      void usual(pathname, form).then((answer) => send(response, bends[pathname], answer));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });

  async function usual(path: string, form: URLSearchParams): Promise<Readonly<Record<string, unknown>> | null> {
    const now = Math.floor(Date.now() / 1000);
    if (path === "/.well-known/openid-configuration") {
      return {
        ...{ issuer, authorization_endpoint: `${issuer}/authorize`, token_endpoint: `${issuer}/token` },
        ...{ jwks_uri: `${issuer}/jwks`, userinfo_endpoint: `${issuer}/userinfo` },
        device_authorization_endpoint: `${issuer}/device`,
        id_token_signing_alg_values_supported: ["ES256"],
        token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "none"],
      };
    }
    if (path === "/jwks") return { keys: [{ ...(await exportJWK(publicKey)), alg: "ES256", kid: "k" }] };
    if (path === "/userinfo") return { sub: "someone" };
    if (path === "/device") {
      const codes = { device_code: "d", user_code: "WDJB-MJHT", verification_uri: `${issuer}/enter` };
      return { ...codes, expires_in: 60, interval: 1 };
    }
    if (path !== "/token") return null;
    const access_token = "an-access-token";
    const hash = createHash("sha256").update(access_token).digest();
    const usualClaims = {
      ...{ iss: issuer, aud: "app", sub: "someone", iat: now, exp: now + 60 },
      at_hash: hash.subarray(0, 16).toString("base64url"),
      // A test that knows the nonce of its request hands it in as the code.
      ...(form.has("code") && { nonce: form.get("code") }),
    };
    const id_token = await new SignJWT({ ...usualClaims, ...claims })
      .setProtectedHeader({ alg: "ES256", kid: "k", ...(header as object) })
      .sign(privateKey);
    return { access_token, token_type: "Bearer", expires_in: 60, id_token };
  }
  return { issuer, asked };
}

function send(
  response: ServerResponse,
  bend: Bends[string] | undefined,
  usual: Readonly<Record<string, unknown>> | null,
): void {
  const answer: StubAnswer =
    bend === undefined
      ? usual === null
        ? { status: 404, body: {} }
        : { body: usual }
      : typeof bend === "function"
        ? bend(usual ?? {})
        : bend;
  const { status = 200, type = "application/json", body = "", location } = answer;
  response.writeHead(status, { "content-type": type, ...(location !== undefined && { location }) });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
}
