import { createHash, createHmac, createPublicKey, randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { compactVerify, decodeJwt, decodeProtectedHeader, importJWK, type JWK, type JWTPayload } from "jose";

/**
 * An app that signs users in and checks everything that it can, by hand. It neglects what it is asked to, so that `idp check client`
 * has something to find.
 */

/** What it neglects. */
export type Neglect =
  | "state"
  | "iss"
  | "error"
  | "error-loop"
  | "code-twice"
  | "code-missing"
  | "nonce"
  | "id-token"
  | "alg"
  | "signature"
  | "id-iss"
  | "aud"
  | "crit"
  | "iss-prefix"
  | "aud-contains"
  | "aud-extra"
  | "exp"
  | "iat"
  /** It takes HS256 with the text of the published key as the secret. */
  | "hs256"
  /** It compares `aud` only where it is a text, and `token_type` only as "Bearer". */
  | "aud-text"
  | "type-case"
  | "sub"
  | "pkce"
  | "pkce-fresh"
  | "state-fresh"
  | "nonce-fresh"
  | "redirect-uri"
  | "token-type"
  | "expires-in"
  | "refresh-token"
  | "userinfo-sub"
  | "browser"
  | "replay"
  | "return-to"
  /** It goes where an address begins as its own does. */
  | "return-prefix"
  | "token-in-url"
  | "keys"
  | "keys-empty"
  | "discovery"
  | "retry"
  | "refresh"
  | "revoked"
  /** It refuses every link to its sign-in that has parameters. */
  | "links"
  /** It signs the user out as soon as the access token is refused. */
  | "refreshed"
  /** Its second and third sign-in fail at the end, as where a busy machine answers late; or the second and all later ones. */
  | "busy"
  | "broken"
  | "no-logout"
  | "logout-signature"
  | "logout-alg"
  | "logout-iss"
  | "logout-aud"
  | "logout-exp"
  | "logout-events"
  /** It takes a token of any event. */
  | "logout-event"
  | "logout-nonce"
  | "logout-unnamed"
  | "logout-sub"
  | "logout-jti"
  | "logout-typ"
  /** It takes only logout tokens of type logout+jwt. */
  | "logout-jwt"
  /** It keeps the session id that the browser had before the callback. */
  | "session-id"
  /** At the sign-out, it forgets the cookie alone. */
  | "session-end"
  | "secret-in-page"
  /** The page that asks to sign in has the secret. */
  | "secret-for-strangers"
  | "refresh-in-script"
  /** What it does not check of the ID token of a refresh. */
  | "refresh-sub"
  | "refresh-iss"
  | "refresh-aud"
  | "refresh-auth-time"
  /** It reads nothing of it. */
  | "refresh-unread"
  /** It forgets its refresh token where a refresh brings none. */
  | "refresh-kept";

export interface AppConfig {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  readonly neglects?: readonly Neglect[];
  /** How the response comes. Absent: in the query. */
  readonly responseMode?: "form_post" | "fragment";
  /** Pushes its authorization requests (RFC 9126). */
  readonly pushes?: true;
  /**
   * What it does with UserInfo of another user. Absent: it refuses the sign-in. `leaves-out`: it signs the user in by the ID token, and shows
   * nothing of UserInfo. `hides`: it never shows UserInfo. `names`: it signs the user in by the ID token, and shows the name of UserInfo;
   * `native-names`: the one below `user`.
   */
  readonly userinfo?: "leaves-out" | "hides" | "names" | "native-names";
  /**
   * When it refreshes. Absent: whenever a token has expired. `at-sign-in`: as part of the sign-in, if a token is about to expire, and it asks
   * nothing afterwards. `each-time`: whenever `/me` is opened.
   */
  readonly refreshes?: "at-sign-in" | "each-time";
  /** `/logout` is a page whose button signs out. */
  readonly asksSignOut?: true;
  /** `/logout` takes POST alone, from its own origin. */
  readonly signsOutByPost?: true;
  /** `/me` sends strangers to a sign-in page of its own, whose address is new each time, in place of 401. */
  readonly hasSignInPage?: true;
}

interface Pending {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly redirectUri: string;
  readonly returnTo: string;
}

interface Session {
  pending: Pending | null;
  user: {
    sub: string;
    name: unknown;
    readonly authTime: unknown;
    /** Of the ID token: the session at the provider. */
    readonly sid?: unknown;
    readonly since?: string | undefined;
    accessToken: string;
    refreshToken: string | undefined;
  } | null;
}

interface Metadata {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly userinfo_endpoint: string;
  readonly jwks_uri: string;
  readonly pushed_authorization_request_endpoint: string;
}

/** A refusal: the sign-in ends with it. */
class Refused extends Error {}

function refuseUnless(condition: boolean, why: string): asserts condition {
  if (!condition) throw new Refused(why);
}

const random = (): string => randomBytes(24).toString("base64url");
const jsonOf = async <T>(response: Response): Promise<T> => (await response.json()) as T;

/** Of the query, or of a form that was posted. */
async function parametersOf(req: IncomingMessage, { searchParams }: URL): Promise<URLSearchParams> {
  if (req.method !== "POST") return searchParams;
  let body = "";
  for await (const chunk of req) body += String(chunk);
  return new URLSearchParams(body);
}

export class CarefulApp {
  readonly #config: AppConfig;
  readonly #sessions = new Map<string, Session>();
  /** The one session of all browsers, if telling them apart is neglected. */
  readonly #pendingByState = new Map<string, Pending>();
  readonly #toldBefore = new Set<string>();
  readonly #fixed = { verifier: random() + random(), nonce: random(), states: 0 };
  #keys: readonly JWK[] = [];
  #metadata: Metadata;
  #signIns = 0;

  private constructor(config: AppConfig, metadata: Metadata) {
    this.#config = config;
    this.#metadata = metadata;
  }

  /** @throws where the metadata is that of another issuer */
  static async create(config: AppConfig): Promise<CarefulApp> {
    const metadata = await jsonOf<Metadata>(await fetch(`${config.issuer}/.well-known/openid-configuration`));
    const app = new CarefulApp(config, metadata);
    refuseUnless(app.#neglects("discovery") || metadata.issuer === config.issuer, "metadata of another issuer");
    await app.#readKeys();
    return app;
  }

  #neglects(what: Neglect): boolean {
    return this.#config.neglects?.includes(what) ?? false;
  }

  async #readKeys(): Promise<void> {
    this.#keys = (await jsonOf<{ readonly keys: readonly JWK[] }>(await fetch(this.#metadata.jwks_uri))).keys;
  }

  async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? "/", "http://app.invalid");
    const found = /\bsid=([\w-]+)/.exec(req.headers.cookie ?? "")?.[1] ?? "";
    const session = this.#sessions.get(found) ?? { pending: null, user: null };
    const isNew = !this.#sessions.has(found) || (url.pathname === "/callback" && !this.#neglects("session-id"));
    const id = isNew ? random() : found;
    if (isNew) this.#sessions.delete(found);
    this.#sessions.set(id, session);
    res.setHeader("set-cookie", `sid=${id}; Path=/; HttpOnly; SameSite=Lax`);
    try {
      if (url.pathname === "/login") await this.#login(url, session, res);
      else if (url.pathname === "/callback") await this.#callback(await parametersOf(req, url), session, res);
      else if (url.pathname === "/me") await this.#me(session, res);
      else if (url.pathname === "/backchannel-logout" && !this.#neglects("no-logout")) await this.#told(req, url, res);
      else if (url.pathname === "/logout") await this.#signOut(req, url, { session, id }, res);
      else if (url.pathname === "/" && this.#neglects("secret-in-page")) res.end(this.#config.clientSecret);
      else if (url.pathname === "/welcome" && this.#neglects("secret-for-strangers"))
        res.end(this.#config.clientSecret);
      else if (url.pathname === "/app.js")
        res.end(
          this.#neglects("refresh-in-script") ? `${" ".repeat(2_000_000)}${session.user?.refreshToken ?? ""}` : "",
        );
      else if (["/", "/done", "/welcome"].includes(url.pathname)) res.end("home");
      else res.writeHead(404).end();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      res.writeHead(400).end(`refused: ${error.message}`);
    }
  }

  async #login(url: URL, session: Session, res: ServerResponse): Promise<void> {
    refuseUnless(!this.#neglects("links") || url.search === "", "a link with parameters");
    const asked = url.searchParams.get("return_to") ?? "/";
    const base = new URL(this.#config.redirectUri).origin;
    const isOwn =
      (URL.canParse(asked, base) && new URL(asked, base).origin === base) ||
      (this.#neglects("return-prefix") && asked.startsWith(base));
    const pending: Pending = {
      state: this.#neglects("state-fresh") ? `state-${(this.#fixed.states += 1)}` : random(),
      nonce: this.#neglects("nonce-fresh") ? this.#fixed.nonce : random(),
      verifier: this.#neglects("pkce-fresh") ? this.#fixed.verifier : random() + random(),
      redirectUri:
        (this.#neglects("redirect-uri") ? url.searchParams.get("redirect_uri") : null) ?? this.#config.redirectUri,
      returnTo: isOwn || this.#neglects("return-to") ? asked : "/",
    };
    if (this.#neglects("browser")) this.#pendingByState.set(pending.state, pending);
    else session.pending = pending;
    const { state, nonce, verifier, redirectUri } = pending;
    const request = new URLSearchParams({
      ...{ response_type: "code", client_id: this.#config.clientId, redirect_uri: redirectUri },
      ...{ scope: "openid profile", state, nonce },
      ...(!this.#neglects("pkce") && {
        code_challenge: createHash("sha256").update(verifier).digest("base64url"),
        code_challenge_method: "S256",
      }),
      ...(this.#config.responseMode !== undefined && { response_mode: this.#config.responseMode }),
    });
    const sent = this.#config.pushes === true ? await this.#push(request) : request;
    res.writeHead(302, { location: `${this.#metadata.authorization_endpoint}?${sent.toString()}` }).end();
  }

  async #push(request: URLSearchParams): Promise<URLSearchParams> {
    const { clientId, clientSecret } = this.#config;
    const body = new URLSearchParams(request);
    body.set("client_secret", clientSecret);
    const pushed = await fetch(this.#metadata.pushed_authorization_request_endpoint, { method: "POST", body });
    const { request_uri: uri = "" } = await jsonOf<{ readonly request_uri?: string }>(pushed);
    return new URLSearchParams({ client_id: clientId, request_uri: uri });
  }

  async #callback(searchParams: URLSearchParams, session: Session, res: ServerResponse): Promise<void> {
    const sent = searchParams.get("state");
    const pending = this.#neglects("browser") ? this.#pendingByState.get(sent ?? "") : session.pending;
    if (!this.#neglects("replay")) {
      session.pending = null;
      this.#pendingByState.delete(sent ?? "");
    }
    refuseUnless(pending != null, "nobody began to sign in");
    refuseUnless(this.#neglects("state") || sent === pending.state, "state");
    refuseUnless(this.#neglects("iss") || searchParams.get("iss") === this.#config.issuer, "iss");
    if (searchParams.has("error") && this.#neglects("error-loop")) {
      res.writeHead(302, { location: "/login" }).end();
      return;
    }
    refuseUnless(!searchParams.has("error") || this.#neglects("error"), "error");
    const [code, ...more] = searchParams.getAll("code");
    if (code === undefined && this.#neglects("code-missing")) {
      session.user = { sub: "guest", name: "", authTime: 0, accessToken: "", refreshToken: undefined };
      res.writeHead(302, { location: "/" }).end();
      return;
    }
    refuseUnless(code !== undefined && (more.length === 0 || this.#neglects("code-twice")), "code");
    const user = await this.#exchange(code, pending).finally(() => {
      this.#signIns += 1;
      refuseUnless(!this.#neglects("busy") || ![2, 3].includes(this.#signIns), "busy");
      refuseUnless(!this.#neglects("broken") || this.#signIns === 1, "busy");
    });
    session.user = user;
    const shown = this.#neglects("token-in-url") ? `/done?access_token=${user.accessToken}` : pending.returnTo;
    res.writeHead(302, { location: shown }).end();
  }

  async #tokens(parameters: Readonly<Record<string, string>>): Promise<Response> {
    const { clientId, clientSecret } = this.#config;
    const ask = (): Promise<Response> =>
      fetch(this.#metadata.token_endpoint, {
        method: "POST",
        body: new URLSearchParams({ ...parameters, client_id: clientId, client_secret: clientSecret }),
      });
    const first = await ask();
    if ((first.status !== 503 && first.status !== 429) || this.#neglects("retry")) return first;
    await delay(Number(first.headers.get("retry-after") ?? 0) * 1000);
    return ask();
  }

  async #exchange(code: string, pending: Pending): Promise<NonNullable<Session["user"]>> {
    const response = await this.#tokens({
      ...{ grant_type: "authorization_code", code, redirect_uri: pending.redirectUri },
      ...(!this.#neglects("pkce") && { code_verifier: pending.verifier }),
    });
    refuseUnless(response.ok, "the code was refused");
    const tokens = await jsonOf<Readonly<Record<string, string | undefined>>>(response);
    const { access_token: accessToken = "", refresh_token: refreshToken, id_token: idToken } = tokens;
    refuseUnless(this.#neglects("token-type") || tokens["token_type"]?.toLowerCase() === "bearer", "token_type");
    refuseUnless(!this.#neglects("type-case") || tokens["token_type"] === "Bearer", "token_type");
    refuseUnless(!this.#neglects("expires-in") || tokens["expires_in"] !== undefined, "expires_in");
    refuseUnless(!this.#neglects("refresh-token") || refreshToken !== undefined, "refresh_token");
    refuseUnless(idToken !== undefined || this.#neglects("id-token"), "id_token");
    const claims = idToken === undefined ? null : await this.#checkIdToken(idToken, pending.nonce);
    const userinfo = await this.#userinfo(accessToken);
    refuseUnless(userinfo.ok, "userinfo");
    const { sub, createdAt, name, user } = await jsonOf<{
      readonly sub?: string;
      readonly createdAt: string;
      readonly name?: string;
      readonly user?: { readonly displayName: string };
    }>(userinfo);
    const isLeftOut = claims === null || (this.#neglects("sub") && claims.sub === undefined);
    const expected = isLeftOut ? sub : claims.sub;
    const isOfUser = (sub !== undefined && sub === expected) || this.#neglects("userinfo-sub");
    const { userinfo: use } = this.#config;
    const names: Readonly<Record<string, unknown>> = { names: name, "native-names": user?.displayName };
    refuseUnless(isOfUser || use !== undefined, "sub of userinfo");
    const since = isOfUser && (use === undefined || use === "leaves-out") ? createdAt : undefined;
    const signedIn = (this.#neglects("userinfo-sub") ? sub : null) ?? expected ?? "";
    const isAsked = this.#config.refreshes !== "at-sign-in";
    if (!isAsked && Number(tokens["expires_in"]) < 60) {
      await this.#tokens({ grant_type: "refresh_token", refresh_token: refreshToken ?? "" });
    }
    return {
      ...{ sub: signedIn, sid: claims?.["sid"], since, accessToken: isAsked ? accessToken : "", refreshToken },
      ...{ name: names[use ?? ""] ?? claims?.["name"] ?? name, authTime: claims?.["auth_time"] },
    };
  }

  async #checkIdToken(token: string, nonce: string): Promise<JWTPayload> {
    const { alg, kid, crit } = decodeProtectedHeader(token);
    refuseUnless(alg !== "none" || this.#neglects("alg"), "alg");
    refuseUnless(crit === undefined || this.#neglects("crit"), "crit");
    // jose refuses what is in crit, too.
    const isRead = alg !== "none" && crit === undefined && !(alg === "HS256" && (await this.#isKeyedWithPem(token)));
    if (isRead && !this.#neglects("signature")) await this.#verify(token, kid);
    const claims = decodeJwt(token);
    const { issuer, clientId } = this.#config;
    const now = Date.now() / 1000;
    const audiences = [claims.aud ?? []].flat();
    const [azp, atHash] = [claims["azp"], claims["at_hash"]];
    const isPrefix = this.#neglects("iss-prefix") && claims.iss?.startsWith(issuer) === true;
    const isPart = this.#neglects("aud-contains") && audiences.join(" ").includes(clientId);
    refuseUnless(this.#neglects("id-iss") || isPrefix || claims.iss === issuer, "iss");
    refuseUnless(this.#neglects("aud") || isPart || audiences.includes(clientId), "aud");
    refuseUnless(!this.#neglects("aud-text") || typeof claims.aud === "string", "aud");
    refuseUnless(audiences.length === 1 || this.#neglects("aud-extra"), "aud");
    refuseUnless(azp === undefined || azp === clientId, "azp");
    refuseUnless(this.#neglects("exp") || (claims.exp !== undefined && claims.exp > now), "exp");
    refuseUnless(this.#neglects("iat") || (claims.iat !== undefined && claims.iat < now + 60), "iat");
    refuseUnless(this.#neglects("sub") || typeof claims.sub === "string", "sub");
    refuseUnless(this.#neglects("nonce") || claims["nonce"] === nonce, "nonce");
    refuseUnless(atHash === undefined || typeof atHash === "string", "at_hash");
    return claims;
  }

  async #isKeyedWithPem(token: string): Promise<boolean> {
    if (!this.#neglects("hs256")) return false;
    const { keys } = await jsonOf<{ readonly keys: readonly JWK[] }>(await fetch(this.#metadata.jwks_uri));
    const [header = "", payload = "", signature = ""] = token.split(".");
    return keys.some((key) => {
      const pem = createPublicKey({ key: { ...key }, format: "jwk" }).export({ type: "spki", format: "pem" });
      return createHmac("sha256", pem).update(`${header}.${payload}`).digest("base64url") === signature;
    });
  }

  async #verify(token: string, kid: string | undefined): Promise<void> {
    if (this.#neglects("keys-empty") && this.#keys.length === 0) return;
    const fitting = (): JWK | undefined => this.#keys.find((key) => key.kid === kid && key.alg === "RS256");
    if (fitting() === undefined && !this.#neglects("keys")) await this.#readKeys();
    if (this.#neglects("keys-empty") && this.#keys.length === 0) return;
    const jwk = fitting();
    refuseUnless(jwk !== undefined, "no key fits");
    const isRight = await compactVerify(token, await importJWK(jwk), { algorithms: ["RS256"] }).then(
      () => true,
      () => false,
    );
    refuseUnless(isRight, "signature");
  }

  #userinfo(accessToken: string): Promise<Response> {
    return fetch(this.#metadata.userinfo_endpoint, { headers: { authorization: `Bearer ${accessToken}` } });
  }

  /** Asks UserInfo each time, and refreshes where the token has expired. */
  async #me(session: Session, res: ServerResponse): Promise<void> {
    const { user } = session;
    if (user === null || (user.accessToken !== "" && !(await this.#isLive(user)))) {
      session.user = null;
      if (this.#config.hasSignInPage === true) res.writeHead(302, { location: `/welcome?next=${random()}` });
      else res.writeHead(401);
      res.end("signed out");
      return;
    }
    const page = JSON.stringify({ sub: user.sub, name: user.name, since: user.since });
    res.end(this.#neglects("refresh-in-script") ? `${page}<script src="/app.js"></script>` : page);
  }

  async #isLive(user: NonNullable<Session["user"]>): Promise<boolean> {
    const { status } = await this.#userinfo(user.accessToken);
    if (status === 403) return this.#neglects("revoked");
    if (status !== 401 && this.#config.refreshes !== "each-time") return true;
    if (user.refreshToken === undefined) return false;
    const response = await this.#tokens({ grant_type: "refresh_token", refresh_token: user.refreshToken });
    if (!response.ok) return this.#neglects("refresh");
    if (this.#neglects("refreshed")) return false;
    const tokens = await jsonOf<Readonly<Record<"access_token" | "id_token", string>> & { refresh_token?: string }>(
      response,
    );
    user.accessToken = tokens.access_token;
    user.refreshToken = tokens.refresh_token ?? (this.#neglects("refresh-kept") ? undefined : user.refreshToken);
    return this.#neglects("refresh-unread") || this.#readRefreshed(user, decodeJwt(tokens.id_token));
  }

  /** OpenID Connect Core 12.2. @returns whether the user stays signed in */
  #readRefreshed(user: NonNullable<Session["user"]>, claims: JWTPayload): boolean {
    const { sub = "", iss, aud, name, auth_time: authTime } = claims;
    const isOfUser =
      (sub === user.sub || this.#neglects("refresh-sub")) &&
      (iss === this.#config.issuer || this.#neglects("refresh-iss")) &&
      (aud === this.#config.clientId || this.#neglects("refresh-aud")) &&
      (authTime === user.authTime || this.#neglects("refresh-auth-time"));
    if (isOfUser) Object.assign(user, { sub, name });
    return isOfUser;
  }

  /** OpenID Connect Back-Channel Logout 2.6, 2.7. */
  async #told(req: IncomingMessage, url: URL, res: ServerResponse): Promise<void> {
    const token = (await parametersOf(req, url)).get("logout_token") ?? "";
    const { alg, kid, typ } = decodeProtectedHeader(token);
    const { iss, aud, exp = 0, jti = "", sub, sid, nonce, events } = decodeJwt(token);
    refuseUnless(alg !== "none" || this.#neglects("logout-alg"), "alg");
    if (alg !== "none" && !this.#neglects("logout-signature")) await this.#verify(token, kid);
    refuseUnless(iss === this.#config.issuer || this.#neglects("logout-iss"), "iss");
    refuseUnless(aud === this.#config.clientId || this.#neglects("logout-aud"), "aud");
    refuseUnless(exp > Date.now() / 1000 || this.#neglects("logout-exp"), "exp");
    const isLogout = Object.hasOwn(Object(events) as object, "http://schemas.openid.net/event/backchannel-logout");
    refuseUnless(isLogout || this.#neglects(events === undefined ? "logout-events" : "logout-event"), "events");
    const types = this.#neglects("logout-jwt") ? ["logout+jwt"] : ["logout+jwt", "JWT"];
    refuseUnless(types.includes(typ ?? "") || (typ !== "JWT" && this.#neglects("logout-typ")), "typ");
    refuseUnless(nonce === undefined || this.#neglects("logout-nonce"), "nonce");
    refuseUnless(!this.#toldBefore.has(jti), "jti");
    if (!this.#neglects("logout-jti")) this.#toldBefore.add(jti);
    const isNamed = sub !== undefined || sid !== undefined;
    refuseUnless(isNamed || this.#neglects("logout-unnamed"), "sub and sid");
    for (const session of this.#sessions.values()) {
      const isOfUser = session.user?.sub === sub || this.#neglects("logout-sub");
      if (!isNamed || (sid === undefined ? isOfUser : session.user?.sid === sid)) session.user = null;
    }
    res.end();
  }

  async #signOut(
    req: IncomingMessage,
    url: URL,
    { session, id }: { readonly session: Session; readonly id: string },
    res: ServerResponse,
  ): Promise<void> {
    if (this.#config.signsOutByPost === true) {
      const isOwn = req.method === "POST" && req.headers.origin === new URL(this.#config.redirectUri).origin;
      if (isOwn) this.#logout(session, res);
      else res.writeHead(405).end();
      return;
    }
    const isAsked = this.#config.asksSignOut === true;
    if (isAsked && req.method !== "POST") {
      const field = `<input type="hidden" name="csrf" value="${id}">`;
      res.writeHead(200, { "content-type": "text/html" });
      res.end(`Sign out? <form method="post">${field}<button>Sign out</button></form>`);
      return;
    }
    refuseUnless(!isAsked || (await parametersOf(req, url)).get("csrf") === id, "csrf");
    this.#logout(session, res);
  }

  #logout(session: Session, res: ServerResponse): void {
    if (this.#neglects("session-end")) {
      res.setHeader("set-cookie", "sid=; Path=/; Max-Age=0");
    } else session.user = null;
    res.writeHead(302, { location: "/" }).end();
  }
}
