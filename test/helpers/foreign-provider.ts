import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, type JWTPayload } from "jose";
import Provider from "oidc-provider";
import { atEnd } from "./at-end.ts";
import { Browser, formsOf } from "./browser.ts";
import { jwtPart } from "./client.ts";

/** A foreign provider (oidc-provider), whose responses can be changed on their way out and signed again with its own key. */

interface Bend {
  /** The address that the browser is sent back to. */
  readonly back?: (back: URL) => void;
  /** The claims of the ID token. */
  readonly claims?: JWTPayload;
  /** The claims of UserInfo. */
  readonly userinfo?: JWTPayload;
}

export interface ForeignProvider {
  readonly issuer: string;
  /** The changes from here on; the empty object: none. */
  bend: Bend;
}

export const foreignClient = { id: "cli", secret: "a secret: of the client, 100% long enough" };

/** It knows one client, a native app: any port of its redirect URI will do (RFC 8252 7.3). */
export async function startForeignProvider(): Promise<ForeignProvider> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  atEnd(() => {
    server.close();
    server.closeAllConnections();
  });
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  const provider = new Provider(`http://localhost:${(server.address() as AddressInfo).port}`, {
    clients: [
      {
        client_id: foreignClient.id,
        client_secret: foreignClient.secret,
        application_type: "native",
        redirect_uris: ["http://127.0.0.1/callback"],
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: "the-key", alg: "RS256", use: "sig" }] },
    cookies: { keys: ["a key for the cookies of a test"] },
    claims: { openid: ["sub"], profile: ["name"], email: ["email"] },
    findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id, name: "Foreign User" }) }),
  });
  const foreign: ForeignProvider = { issuer: provider.issuer, bend: {} };
  provider.use(async (ctx, next) => {
    await next();
    const { back, claims, userinfo } = foreign.bend;
    const location = String(ctx.response.headers["location"]);
    if (back !== undefined && /^http:\/\/127\.0\.0\.1:\d+\/callback\?/.test(location)) {
      const url = new URL(location);
      back(url);
      ctx.set("location", url.href);
    }
    const body = ctx.body as Record<string, unknown> | undefined;
    if (claims !== undefined && ctx.path === "/token" && typeof body?.["id_token"] === "string") {
      const bent = new SignJWT({ ...jwtPart(body["id_token"], 1), ...claims });
      ctx.body = {
        ...body,
        id_token: await bent.setProtectedHeader({ alg: "RS256", kid: "the-key" }).sign(privateKey),
      };
    }
    if (userinfo !== undefined && ctx.path === "/me") ctx.body = { ...body, ...userinfo };
  });
  const handle = provider.callback();
  server.on("request", (req, res) => void handle(req, res));
  return foreign;
}

/** What a person does there in a browser: signs in on its own pages and allows. @returns where the browser leaves for */
export async function signInThere({ issuer }: ForeignProvider, address: string, user: string): Promise<URL> {
  const browser = new Browser(issuer);
  let visit = await browser.open(address);
  for (let pages = 0; visit.left === null && pages < 5; pages += 1) {
    const [form] = formsOf(visit.body);
    if (form === undefined) throw new Error(`no form at ${visit.url}: ${visit.body}`);
    const body = new URLSearchParams(form.fields.map(([name, value]): [string, string] => [name, value]));
    if (body.has("login")) body.set("login", user);
    if (body.has("password")) body.set("password", "anything");
    visit = await browser.open(new URL(form.action, visit.url).href, { method: "POST", body });
  }
  if (visit.left === null) throw new Error(`still at ${visit.url}`);
  return visit.left;
}
