import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { atEnd } from "./at-end.ts";
import { scimServer, type Weakness, type Json, type ScimServer } from "./scim-server.ts";

/** A small app that signs users in, has a SCIM server and an API, and locks out by the signals that it is told to take. */

type Taken = "scim" | "backchannel-logout" | "revocation";

export interface LeaverAppOptions {
  /** The signals that end sessions. */
  readonly takes: readonly Taken[];
  /** Milliseconds after a signal, by `now`, when sessions end. */
  readonly delay?: number;
  readonly now?: () => number;
  /** Whether the API asks idp about tokens; else it reads them itself. */
  readonly introspects?: boolean;
  /** Whether the API takes tokens that have expired. */
  readonly ignoresExpiry?: boolean;
  /** Whether somebody who is inactive by SCIM may sign in. */
  readonly letsInactiveIn?: boolean;
  /** Whether a signal ends everybody's sessions. */
  readonly endsAll?: boolean;
  /** Whether a user who becomes inactive is removed soon, and created anew later. */
  readonly forgets?: boolean;
  /** Whether `/me` fails after a signal. */
  readonly breaks?: boolean;
  /** What its SCIM server does otherwise. */
  readonly scim?: readonly Weakness[];
  /** The users that may sign in, by e-mail; absent: everybody. */
  readonly admits?: readonly string[];
  /** What becomes of keys when their owner leaves. Absent: they end with the sessions. */
  readonly keys?: "stay";
  /** Where the right to see `/admin` comes from. Absent: the members of the SCIM group. `claim`: those of the sign-in. */
  readonly roles?: "claim" | "claim-once" | "everybody-loses" | "by-name";
  /** Whether who leaves a group is signed out, too. */
  readonly signsMoversOut?: boolean;
  /** Where `/me` sends strangers. Absent: `/login`, and on to idp. `/` is a page for everybody. */
  readonly asksAt?: "/";
}

interface Session {
  readonly email: string;
  readonly sub: string;
  readonly sid: string;
  readonly groups: readonly string[];
  /** When it ends, by `now`. */
  endsAt: number;
}

const decoded = (jwt: string): Json =>
  JSON.parse(Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString("utf8")) as Json;

async function bodyOf(req: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of req) text += String(chunk);
  return text;
}

export class LeaverApp {
  readonly scim: ScimServer;
  readonly options: LeaverAppOptions;
  url = "";
  /** Set once the issuer is known. */
  oidc = { issuer: "", clientId: "", clientSecret: "" };
  /** How often the API asked idp. */
  asked = 0;
  /** How many signals came, taken or not. */
  signals = 0;
  readonly #forgotten = new Set<string>();
  readonly #sessions = new Map<string, Session>();
  readonly #begun = new Map<string, string>();
  /** E-mail addresses, by their keys. */
  readonly keys = new Map<string, string>();
  /** Who ever came with the group. */
  readonly #admins = new Set<string>();
  /** How many members that group had at most. */
  #most = 0;
  /** The id of the SCIM group that has the rights, once it was seen. */
  #adminGroup: string | null = null;

  constructor(scim: ScimServer, options: LeaverAppOptions) {
    this.scim = scim;
    this.options = options;
    // What the SCIM server is sent ends sessions, too.
    scim.hook = (seen) => {
      for (const id of this.#forgotten) scim.users.delete(id);
      if (seen.method === "PATCH" && JSON.stringify(seen.body).includes("false")) this.#inactive(seen.path);
      return null;
    };
  }

  async listen(): Promise<this> {
    const server = createServer((req, res) => {
      this.#handle(req, res).catch((error: unknown) => {
        res.writeHead(500).end(String(error));
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    atEnd(async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    });
    return this;
  }

  get redirectUri(): string {
    return `${this.url}/callback`;
  }

  /** The fields of its client. */
  client(): Json {
    return {
      ...{ client_id: "app", client_secret: "the secret of this app, long enough", redirect_uris: [this.redirectUri] },
      ...{ skip_consent: true, scim: { url: this.scim.url, token: this.scim.token } },
      backchannel_logout_uri: `${this.url}/backchannel-logout`,
      global_token_revocation: { uri: `${this.url}/revoke` },
    };
  }

  #now(): number {
    return (this.options.now ?? Date.now)();
  }

  #end(by: Taken, isMeant: (session: Session) => boolean): void {
    const { takes, delay = 0, endsAll = false } = this.options;
    this.signals += 1;
    if (!takes.includes(by)) return;
    for (const session of this.#sessions.values()) {
      if (!endsAll && !isMeant(session)) continue;
      session.endsAt = Math.min(session.endsAt, this.#now() + delay);
      if (this.options.keys === "stay") continue;
      for (const [key, email] of this.keys) if (email === session.email) this.keys.delete(key);
    }
  }

  #inactive(path: string): void {
    const id = path.split("/")[2] ?? "";
    const { userName } = this.scim.users.get(id) ?? {};
    this.#end("scim", ({ email }) => email === userName);
    if (this.options.forgets === true) this.#forgotten.add(id);
  }

  #sessionOf({ headers }: IncomingMessage): Session | undefined {
    const session = this.#sessions.get(/s=([\w-]+)/.exec(headers.cookie ?? "")?.[1] ?? "");
    return session === undefined || session.endsAt <= this.#now() ? undefined : session;
  }

  #isAdmin(session: Session): boolean {
    const { roles, signsMoversOut = false } = this.options;
    if (roles === "claim") return session.groups.includes("admins");
    if (roles === "claim-once") return this.#admins.has(session.sub);
    const named = this.scim.group("admins");
    this.#adminGroup ??= (named?.["id"] as string | undefined) ?? null;
    const group = roles === "by-name" ? named : this.scim.groups.get(this.#adminGroup ?? "");
    const members = ((group?.["members"] ?? []) as Json[]).map(({ value }) => value as string);
    this.#most = Math.max(this.#most, members.length);
    if (roles === "everybody-loses" && members.length < this.#most) return false;
    const isMember = members.includes(this.scim.named(session.email)?.["id"] as string);
    if (!isMember && signsMoversOut) session.endsAt = this.#now();
    return isMember;
  }

  async #handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? "", this.url);
    const send = (status: number, headers: Record<string, string> = {}, text = ""): void => {
      res.writeHead(status, headers).end(text);
    };
    switch (url.pathname) {
      case "/login":
        send(302, { location: this.#authorize() });
        return;
      case "/callback":
        await this.#callback(url, send);
        return;
      case "/me": {
        const session = this.#sessions.get(/s=([\w-]+)/.exec(req.headers.cookie ?? "")?.[1] ?? "");
        const isOver = session !== undefined && session.endsAt <= this.#now();
        if (isOver && this.options.breaks === true) send(500);
        else if (session === undefined || isOver) send(302, { location: this.options.asksAt ?? "/login" });
        else send(200, { "content-type": "text/html" }, session.email);
        return;
      }
      case "/admin": {
        const session = this.#sessionOf(req);
        if (session === undefined) send(302, { location: "/login" });
        else send(this.#isAdmin(session) ? 200 : 403);
        return;
      }
      case "/keys": {
        const session = this.#sessionOf(req);
        if (session === undefined || req.method !== "POST") {
          send(401);
          return;
        }
        const key = `key-${randomBytes(12).toString("hex")}`;
        this.keys.set(key, session.email);
        send(201, {}, JSON.stringify({ id: 1, api_key: key }));
        return;
      }
      case "/api":
        if (req.headers["x-api-key"] !== undefined) {
          send(this.keys.has(String(req.headers["x-api-key"])) ? 200 : 401);
          return;
        }
        send((await this.#letsIn((req.headers.authorization ?? "").replace("Bearer ", ""))) ? 200 : 401);
        return;
      case "/backchannel-logout": {
        const { sub, sid } = decoded(new URLSearchParams(await bodyOf(req)).get("logout_token") ?? "");
        this.#end("backchannel-logout", (session) => session.sid === sid || (sid === undefined && session.sub === sub));
        send(204);
        return;
      }
      case "/revoke": {
        const { sub_id } = JSON.parse(await bodyOf(req)) as Json;
        const claims = decoded((req.headers.authorization ?? "").replace("Bearer ", ""));
        // What a client that leaves out none of them sends.
        const isWhole = ["iss", "aud", "iat", "nbf", "exp", "jti"].every((name) => claims[name] !== undefined);
        if (!isWhole || claims["sub"] !== this.oidc.clientId) {
          send(401);
          return;
        }
        this.#end("revocation", ({ email }) => email === (sub_id as Json)["email"]);
        send(204);
        return;
      }
      default:
        send(url.pathname === "/" ? 200 : 404);
    }
  }

  #authorize(): string {
    const { issuer, clientId } = this.oidc;
    const [state, verifier] = [randomBytes(12).toString("base64url"), randomBytes(32).toString("base64url")];
    this.#begun.set(state, verifier);
    const parameters = new URLSearchParams({
      ...{ client_id: clientId, redirect_uri: this.redirectUri, response_type: "code", state },
      ...{ scope: "openid email team", code_challenge_method: "S256" },
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    });
    return `${issuer}/api/v2/oauth/authorize?${parameters.toString()}`;
  }

  async #callback(
    url: URL,
    send: (status: number, headers?: Record<string, string>, text?: string) => void,
  ): Promise<void> {
    const { issuer, clientId, clientSecret } = this.oidc;
    const verifier = this.#begun.get(url.searchParams.get("state") ?? "");
    const code = url.searchParams.get("code");
    if (verifier === undefined || code === null) {
      send(400);
      return;
    }
    const answer = await fetch(`${issuer}/api/v2/oauth/token`, {
      method: "POST",
      body: new URLSearchParams({
        ...{ grant_type: "authorization_code", code, redirect_uri: this.redirectUri, code_verifier: verifier },
        ...{ client_id: clientId, client_secret: clientSecret },
      }),
    });
    const { id_token } = (await answer.json()) as { readonly id_token?: string };
    const claims = decoded(id_token ?? "") as { email?: string; sub: string; sid: string; groups?: string[] };
    const { email = "", sub, sid, groups = [] } = claims;
    if (groups.includes("admins")) this.#admins.add(sub);
    const { admits, letsInactiveIn = false } = this.options;
    const isInactive = this.scim.named(email)?.["active"] === false && this.options.takes.includes("scim");
    if ((isInactive && !letsInactiveIn) || admits?.includes(email) === false) {
      send(403, {}, "you may not sign in");
      return;
    }
    const id = randomBytes(16).toString("base64url");
    this.#sessions.set(id, { email, sub, sid, groups, endsAt: Infinity });
    send(302, { location: "/me", "set-cookie": `s=${id}; Path=/; HttpOnly` });
  }

  async #letsIn(token: string): Promise<boolean> {
    const { introspects, ignoresExpiry = false } = this.options;
    if (introspects !== true) return ignoresExpiry || Number(decoded(token)["exp"]) * 1000 > this.#now();
    this.asked += 1;
    const { issuer, clientId, clientSecret } = this.oidc;
    const answer = await fetch(`${issuer}/api/v2/oauth/introspect`, {
      method: "POST",
      body: new URLSearchParams({ token, client_id: clientId, client_secret: clientSecret }),
    });
    return ((await answer.json()) as { readonly active?: boolean }).active === true;
  }
}

export const leaverApp = async (options: LeaverAppOptions): Promise<LeaverApp> =>
  new LeaverApp(await scimServer({ weaknesses: options.scim ?? [] }), options).listen();
