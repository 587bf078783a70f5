import { createHash, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { atEnd } from "./at-end.ts";
import { serveApp } from "./serve-app.ts";

/** An app that signs users in with OpenID Connect, as short as one is written for a tutorial: `idp sign-in` signs in at it. */

export interface Ways {
  /** The value of the `redirect_uri` parameter of the token request. */
  readonly tokenRedirectUri?: string;
  /** Parameters of the authorization request. */
  readonly asks?: Readonly<Record<string, string>>;
  /** The `Set-Cookie` lines of the callback; absent: the session. */
  readonly cookies?: readonly string[];
  /** Answers of its own, by the path; null: the usual one. */
  readonly answers?: (path: string, req: IncomingMessage) => Answer | null;
}

interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string;
}

interface PlainApp {
  readonly url: string;
  /** Who is signed in with a session, by the cookie's value. */
  readonly sessions: ReadonlyMap<string, string>;
  /** Every request: its method, address, headers. */
  readonly seen: readonly string[];
}

export const appClient = (url: string) => ({
  client_id: "web",
  client_secret: "the-secret-of-the-plain-app",
  redirect_uris: [`${url}/callback`],
});

/** @param issuer asked at each request @param ways how it behaves at the moment */
export async function plainApp(issuer: () => string, ways: () => Ways = () => ({})): Promise<PlainApp> {
  const sessions = new Map<string, string>();
  const waiting = new Map<string, string>();
  const seen: string[] = [];
  const { url, close } = await serveApp(0, () => ({ handle }));
  atEnd(close);
  const redirectUri = `${url}/callback`;

  function begin(): Answer {
    const [state, verifier] = [randomBytes(8).toString("hex"), randomBytes(32).toString("base64url")];
    waiting.set(state, verifier);
    const request = new URLSearchParams({
      ...{ response_type: "code", client_id: "web", redirect_uri: redirectUri, scope: "openid profile", state },
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      ...ways().asks,
    });
    const location = `${issuer()}/api/v2/oauth/authorize?${request.toString()}`;
    return { status: 302, headers: { location, "set-cookie": `state=${state}; HttpOnly; Path=/` } };
  }

  async function callback(query: URLSearchParams): Promise<Answer> {
    const verifier = waiting.get(query.get("state") ?? "");
    if (verifier === undefined || !query.has("code")) return { status: 400, body: "no" };
    const basic = Buffer.from("web:the-secret-of-the-plain-app").toString("base64");
    const response = await fetch(`${issuer()}/api/v2/oauth/token`, {
      method: "POST",
      headers: { authorization: `Basic ${basic}` },
      body: new URLSearchParams({
        ...{ grant_type: "authorization_code", code: query.get("code") ?? "", code_verifier: verifier },
        redirect_uri: ways().tokenRedirectUri ?? redirectUri,
      }),
    });
    if (!response.ok) return { status: 500, body: "the token request failed" };
    const { id_token } = (await response.json()) as { id_token: string };
    const claims = JSON.parse(Buffer.from(id_token.split(".")[1] ?? "", "base64url").toString()) as { sub: string };
    const id = randomBytes(16).toString("hex");
    sessions.set(id, claims.sub);
    const session = [
      `sid=${id}; HttpOnly; Path=/; SameSite=Strict`,
      "state=; Path=/; Max-Age=0",
      "theme=dark; Max-Age=3600",
    ];
    return { status: 303, headers: { location: "/me", "set-cookie": ways().cookies ?? session } };
  }

  async function answerTo(req: IncomingMessage): Promise<Answer> {
    const { pathname, searchParams } = new URL(req.url ?? "/", url);
    const own = ways().answers?.(pathname, req) ?? null;
    if (own !== null) return own;
    if (pathname === "/login") return begin();
    if (pathname === "/callback") return callback(searchParams);
    const sid = /(?:^|; )sid=(\w+)/.exec(req.headers.cookie ?? "")?.[1] ?? "";
    const user = sessions.get(sid);
    return user === undefined
      ? { status: 302, headers: { location: "/login" } }
      : { status: 200, body: `I am ${user}` };
  }

  async function handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    seen.push(`${req.method ?? ""} ${req.url ?? ""} ${JSON.stringify(req.headers)}`);
    const { status, headers = {}, body = "" } = await answerTo(req);
    res.writeHead(status, { "content-type": "text/html", ...(headers as Record<string, string>) });
    res.end(body);
  }

  return { url, sessions, seen };
}
