import { createHash, createHmac, createPublicKey, verify, type JsonWebKey } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { IncomingMessage, ServerResponse } from "node:http";

/** An API by hand that checks all that it must check, except what it is told to neglect, so that `idp check api` has something to find. */

/** What it neglects. */
export type ApiNeglect =
  | "challenge"
  | "challenge-error"
  | "malformed"
  | "redirect"
  | "scheme"
  | "scheme-400"
  | "exp"
  | "leeway"
  | "aud-text"
  | "jku"
  /** Fetches the keys, and uses others. */
  | "jku-fetch"
  | "kid-file"
  | "owner"
  | "owner-redirect"
  | "acr"
  /** It compares acr only where a token has one. */
  | "acr-absent"
  | "acr-error"
  | "auth-time"
  | "service"
  | "forbidden"
  | "exp-missing"
  | "nbf"
  /** Answers nothing any more after a token whose nbf is ahead. */
  | "dies-at-nbf"
  | "nothing-is-good"
  | "signature"
  | "alg-none"
  | "alg-case"
  | "alg-confusion"
  | "jwk"
  | "kid"
  | "iss"
  | "iss-fetch"
  | "crit"
  | "iss-prefix"
  | "iss-slash"
  | "aud-contains"
  | "aud"
  | "typ"
  | "token-type"
  | "active"
  | "scope"
  | "scope-error"
  | "query"
  | "body"
  | "fail-open"
  | "keys"
  | "htm"
  | "htu"
  | "ath"
  | "jti"
  | "jkt"
  | "as-bearer"
  | "resource-metadata"
  | "resource"
  | "authorization-servers";

export interface ApiConfig {
  readonly issuer: string;
  readonly audience: string;
  /** Its own address. */
  readonly url: string;
  readonly neglects?: readonly ApiNeglect[];
  /** Asks introspection with these credentials, in place of verifying tokens. */
  readonly introspects?: { readonly clientId: string; readonly clientSecret: string };
  readonly needsScope?: string;
  readonly dpop?: boolean;
  /** Asks for a nonce in proofs. */
  readonly nonce?: string;
  readonly mcp?: boolean;
  readonly needsAcr?: string;
  readonly maxAge?: number;
  readonly usersOnly?: boolean;
}

type Json = Readonly<Record<string, unknown>>;

class Refused extends Error {
  readonly status: number;
  readonly error: string | null;
  constructor(status: number, error: string | null = null) {
    super(error ?? "");
    this.status = status;
    this.error = error;
  }
}

const decoded = (part: string | undefined): Json =>
  Object(JSON.parse(Buffer.from(part ?? "", "base64url").toString())) as Json;
const hashed = (text: string): string => createHash("sha256").update(text).digest("base64url");
const fetchJson = async (url: string): Promise<Json> => {
  const response = await fetch(url);
  if (!response.ok) throw new Refused(503);
  return (await response.json()) as Json;
};

const keysAt = async (url: unknown): Promise<readonly Json[]> =>
  (await fetchJson(String(url)))["keys"] as readonly Json[];

export class CarefulApi {
  readonly #config: ApiConfig;
  readonly #metadata: Json;
  readonly #seen = new Set<unknown>();
  #keys: readonly Json[] | null = null;
  #isDead = false;

  private constructor(config: ApiConfig, metadata: Json) {
    this.#config = config;
    this.#metadata = metadata;
  }

  static async create(config: ApiConfig): Promise<CarefulApi> {
    return new CarefulApi(config, await fetchJson(`${config.issuer}/.well-known/openid-configuration`));
  }

  #neglects(what: ApiNeglect): boolean {
    return this.#config.neglects?.includes(what) ?? false;
  }

  async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { url, issuer, mcp = false, dpop = false, nonce } = this.#config;
    const asked = new URL(req.url ?? "/", url);
    if (mcp && asked.pathname.startsWith("/.well-known/oauth-protected-resource")) {
      res.setHeader("content-type", "application/json");
      const servers = this.#neglects("authorization-servers") ? ["https://elsewhere.test"] : [issuer];
      const resource = this.#neglects("resource") ? "https://elsewhere.test/mcp" : url;
      res.end(JSON.stringify({ resource, authorization_servers: servers }));
      return;
    }
    if (nonce !== undefined) res.setHeader("dpop-nonce", nonce);
    if (this.#isDead) {
      req.socket.destroy();
      return;
    }
    try {
      const claims = await this.#admit(req, asked);
      const [, owner] = /^\/users\/([^/]+)\/orders$/.exec(asked.pathname) ?? [];
      if (owner !== undefined && owner !== claims["sub"] && !this.#neglects("owner")) {
        throw new Refused(this.#neglects("owner-redirect") ? 302 : 404);
      }
      res.end(owner === undefined ? "let in" : `orders of ${owner}`);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.status === 302) {
        res.writeHead(302, { location: "/login" }).end();
        return;
      }
      const parameters = [
        ...(error.error === null || this.#neglects("challenge-error") ? [] : [`error="${error.error}"`]),
        ...(mcp && !this.#neglects("resource-metadata")
          ? [`resource_metadata="${new URL("/.well-known/oauth-protected-resource/mcp", url).href}"`]
          : []),
      ];
      const challenge = `${dpop ? "DPoP" : "Bearer"} ${parameters.join(", ")}`.trim();
      res.writeHead(error.status, this.#neglects("challenge") ? {} : { "www-authenticate": challenge }).end();
    }
  }

  async #admit(req: IncomingMessage, asked: URL): Promise<Json> {
    let body = "";
    for await (const chunk of req) body += String(chunk);
    const inBody = this.#neglects("body") ? new URLSearchParams(body).get("access_token") : null;
    const inQuery = this.#neglects("query") ? asked.searchParams.get("access_token") : null;
    const [, scheme = "", inHeader] = /^(\S+) +(\S+)$/.exec(req.headers.authorization ?? "") ?? [];
    const token = inBody ?? inHeader ?? inQuery;
    if (token === null) throw new Refused(this.#neglects("redirect") ? 302 : 401);
    const expected = this.#config.dpop === true ? "dpop" : "bearer";
    const isExpected = scheme.toLowerCase() === expected || (this.#neglects("as-bearer") && scheme === "Bearer");
    if (inHeader === token && !isExpected && !this.#neglects("scheme")) {
      throw new Refused(this.#neglects("scheme-400") ? 400 : 401);
    }
    const claims = await this.#claimsOf(token);
    if (expected === "dpop" && scheme !== "Bearer") this.#checkProof(req, asked, token, claims);
    const { needsScope, needsAcr, maxAge = Infinity, usersOnly = false } = this.#config;
    if (usersOnly && claims["sub"] === claims["client_id"] && !this.#neglects("service")) throw new Refused(403);
    const isTaken = this.#neglects("acr") || (this.#neglects("acr-absent") && claims["acr"] === undefined);
    const isStrong = needsAcr === undefined || claims["acr"] === needsAcr || isTaken;
    const isLate = Number(claims["auth_time"]) + maxAge < Date.now() / 1000 && !this.#neglects("auth-time");
    if (!isStrong || isLate) {
      throw new Refused(401, this.#neglects("acr-error") ? "invalid_token" : "insufficient_user_authentication");
    }
    if (needsScope === undefined || this.#neglects("scope")) return claims;
    if (String(claims["scope"]).split(" ").includes(needsScope)) return claims;
    throw new Refused(403, this.#neglects("scope-error") ? null : "insufficient_scope");
  }

  async #claimsOf(token: string): Promise<Json> {
    try {
      return await (this.#config.introspects === undefined ? this.#verify(token) : this.#introspect(token));
    } catch (error) {
      if (error instanceof Refused) {
        if (error.status === 503 && this.#neglects("fail-open")) return decoded(token.split(".")[1]);
        throw error;
      }
      throw this.#neglects("malformed") ? error : new Refused(401, "invalid_token");
    }
  }

  async #introspect(token: string): Promise<Json> {
    const { clientId = "", clientSecret = "" } = this.#config.introspects ?? {};
    const response = await fetch(String(this.#metadata["introspection_endpoint"]), {
      method: "POST",
      body: new URLSearchParams({ token, client_id: clientId, client_secret: clientSecret }),
    });
    if (!response.ok) throw new Refused(503);
    const answer = (await response.json()) as Json;
    this.#require(answer["active"] === true || this.#neglects("active"));
    this.#require(/^(bearer|dpop)$/i.test(String(answer["token_type"])) || this.#neglects("token-type"));
    this.#require([answer["aud"]].flat().includes(this.#config.audience) || this.#neglects("token-type"));
    return answer;
  }

  #require(condition: boolean): void {
    if (!condition) throw new Refused(this.#neglects("forbidden") ? 403 : 401, "invalid_token");
  }

  async #verify(token: string): Promise<Json> {
    const [header, claims] = [decoded(token.split(".")[0]), decoded(token.split(".")[1])];
    const { issuer, audience } = this.#config;
    const now = Date.now() / 1000;
    await this.#checkSignature(token, header, claims);
    this.#require(!this.#neglects("nothing-is-good"));
    if (this.#neglects("dies-at-nbf") && Number(claims["nbf"]) > now) {
      this.#isDead = true;
      throw new Error("this API ends here");
    }
    const { typ, exp, nbf } = { typ: header["typ"], exp: claims["exp"], nbf: claims["nbf"] };
    this.#require(typ === "at+jwt" || this.#neglects("typ"));
    this.#require(header["crit"] === undefined || this.#neglects("crit"));
    this.#require(this.#trusts(String(claims["iss"]), issuer));
    const all = this.#neglects("aud-text") ? [claims["aud"]] : [claims["aud"]].flat();
    const hasAudience = all.includes(audience) || this.#neglects("aud");
    this.#require(hasAudience || (this.#neglects("aud-contains") && String(claims["aud"]).includes(audience)));
    if (exp === undefined) this.#require(this.#neglects("exp-missing"));
    else this.#require(Number(exp) + (this.#neglects("leeway") ? 900 : 0) > now || this.#neglects("exp"));
    this.#require(nbf === undefined || Number(nbf) <= now || this.#neglects("nbf"));
    return claims;
  }

  #trusts(iss: string, issuer: string): boolean {
    if (this.#neglects("iss-fetch") || this.#neglects("iss")) return true;
    if (this.#neglects("iss-slash")) return iss.replace(/\/$/, "") === issuer;
    return this.#neglects("iss-prefix") ? iss.startsWith(issuer) : iss === issuer;
  }

  async #checkSignature(token: string, header: Json, claims: Json): Promise<void> {
    const [head = "", payload = "", signature = ""] = token.split(".");
    const { alg, kid, jwk, jku } = header;
    if (alg === "none" && this.#neglects("alg-none")) return;
    if (alg !== "none" && String(alg).toLowerCase() === "none" && this.#neglects("alg-case")) return;
    if (alg === "HS256" && this.#neglects("kid-file") && existsSync(resolve("keys", String(kid)))) {
      const secret = readFileSync(resolve("keys", String(kid)));
      this.#require(createHmac("sha256", secret).update(`${head}.${payload}`).digest("base64url") === signature);
      return;
    }
    const named = jku === undefined || !(this.#neglects("jku") || this.#neglects("jku-fetch")) ? [] : await keysAt(jku);
    const own = this.#neglects("jku") ? named.find((one) => one["kid"] === kid) : undefined;
    const key = own ?? (await this.#keyFor(kid, claims));
    if (alg === "HS256" && this.#neglects("alg-confusion") && key !== undefined) {
      const pem = createPublicKey({ key: key as JsonWebKey, format: "jwk" }).export({ type: "spki", format: "pem" });
      this.#require(createHmac("sha256", pem).update(`${head}.${payload}`).digest("base64url") === signature);
      return;
    }
    this.#require(alg === "RS256");
    if (this.#neglects("signature")) return;
    const chosen = this.#neglects("jwk") && jwk !== undefined ? (jwk as Json) : key;
    if (chosen === undefined && this.#neglects("kid")) return;
    this.#require(chosen !== undefined);
    const publicKey = createPublicKey({ key: chosen as JsonWebKey, format: "jwk" });
    this.#require(verify("sha256", Buffer.from(`${head}.${payload}`), publicKey, Buffer.from(signature, "base64url")));
  }

  async #keyFor(kid: unknown, claims: Json): Promise<Json | undefined> {
    const { issuer } = this.#config;
    if (
      this.#neglects("iss-fetch") &&
      claims["iss"] !== issuer &&
      String(claims["iss"]).startsWith("http://localhost")
    ) {
      const metadata = await fetchJson(`${String(claims["iss"])}/.well-known/openid-configuration`);
      const { keys } = await fetchJson(String(metadata["jwks_uri"]));
      return (keys as readonly Json[]).find((one) => one["kid"] === kid);
    }
    const found = (): Json | undefined => this.#keys?.find((one) => one["kid"] === kid);
    if (this.#keys === null || (found() === undefined && !this.#neglects("keys"))) {
      this.#keys = (await fetchJson(String(this.#metadata["jwks_uri"])))["keys"] as readonly Json[];
    }
    return found();
  }

  #checkProof({ headers, method }: IncomingMessage, asked: URL, token: string, claims: Json): void {
    const proof = String(headers["dpop"]);
    const [head, payload, signature = ""] = proof.split(".");
    const { jwk } = decoded(head);
    const { htm, htu, ath, jti, nonce } = decoded(payload);
    const { kty, crv, x, y } = jwk as Readonly<Record<string, string>>;
    const key = { key: createPublicKey({ key: jwk as JsonWebKey, format: "jwk" }), dsaEncoding: "ieee-p1363" } as const;
    this.#require(verify("sha256", Buffer.from(`${head}.${payload}`), key, Buffer.from(signature, "base64url")));
    if (nonce !== this.#config.nonce) throw new Refused(401, "use_dpop_nonce");
    this.#require(htm === method || this.#neglects("htm"));
    this.#require(htu === asked.origin + asked.pathname || this.#neglects("htu"));
    this.#require(ath === hashed(token) || this.#neglects("ath"));
    this.#require(!this.#seen.has(jti) || this.#neglects("jti"));
    this.#seen.add(jti);
    const { jkt } = Object(claims["cnf"]) as { readonly jkt?: string };
    this.#require(hashed(JSON.stringify({ crv, kty, x, y })) === jkt || this.#neglects("jkt"));
  }
}
