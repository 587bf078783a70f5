import { randomBytes } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { decodeJwt } from "jose";

/** An app that keeps a text of each user, in an account that it finds by issuer and sub, unless it is asked to find it otherwise. */

/** How it finds the account of somebody who signs in. */
export type FindsBy =
  | ("issuer-and-sub" | "sub" | "email" | "verified-email" | "username" | "name" | "sub-and-email")
  /** By what UserInfo has under `user`. */
  | ("native-username" | "native-name");

/** A connection to an issuer. */
interface Connection {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

export interface AccountsConfig {
  /** By the names in its addresses: `/login/NAME`, `/callback/NAME`. */
  readonly connections: Readonly<Record<string, Connection>>;
  readonly url: string;
  readonly findsBy: FindsBy;
  /** Takes a code whatever `iss` the response has. */
  readonly ignoresIss?: boolean;
  /** Writes of scripts need a header against CSRF that only the page at /token shows. */
  readonly hidesToken?: boolean;
  /** It shows the text to everybody. */
  readonly isShared?: boolean;
  /** Admits only these subs. */
  readonly admits?: readonly string[];
  /** Admits only verified addresses of this domain. */
  readonly admitsDomain?: string;
  /** Answers 500 to whom it does not admit. */
  readonly fails?: boolean;
}

interface Account {
  readonly id: string;
  readonly key: string;
  note: string;
}

interface Session {
  readonly csrf: string;
  pending: { readonly connection: string; readonly state: string } | null;
  account: Account | null;
}

type Claims = Readonly<Record<string, unknown>>;

const random = (): string => randomBytes(16).toString("hex");

async function bodyOf(req: IncomingMessage): Promise<string> {
  let body = "";
  for await (const chunk of req) body += String(chunk);
  return body;
}

/** The fields of a form, whichever way it was sent. */
function fieldsOf(body: string, type: string): URLSearchParams {
  const [, boundary] = /boundary=(\S+)/.exec(type) ?? [];
  if (boundary === undefined) return new URLSearchParams(body);
  const parts = body.split(`--${boundary}`).flatMap((part) => {
    const [, name, value] = /name="([^"]*)"\r\n\r\n([\s\S]*)\r\n$/.exec(part) ?? [];
    return name === undefined ? [] : [[name, value ?? ""]];
  });
  return new URLSearchParams(parts);
}

export class AccountsApp {
  readonly #config: AccountsConfig;
  readonly #sessions = new Map<string, Session>();
  readonly accounts: Account[] = [];

  constructor(config: AccountsConfig) {
    this.#config = config;
  }

  async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? "/", this.#config.url);
    const id = /\bsid=([\w-]+)/.exec(req.headers.cookie ?? "")?.[1] ?? "";
    const session = this.#sessions.get(id) ?? { csrf: random(), pending: null, account: null };
    const [, place = "", name = ""] = url.pathname.split("/");
    // A new id with each answer to the callback (session fixation).
    const own = this.#sessions.has(id) && place !== "callback" ? id : random();
    this.#sessions.delete(id);
    this.#sessions.set(own, session);
    res.setHeader("set-cookie", [
      `sid=${own}; Path=/; HttpOnly; SameSite=Lax`,
      `XSRF-TOKEN=${session.csrf}; Path=/; SameSite=Lax`,
    ]);
    if (place === "login") await this.#login(name, session, res);
    else if (place === "callback") await this.#callback(name, url.searchParams, session, res);
    else if (place === "") res.end("home");
    // It wants a token, which scripts would send.
    else if (session.account === null || place === "scripts") res.writeHead(401).end("signed out");
    else await this.#page(place, req, session, session.account, res);
  }

  async #metadata(name: string): Promise<Readonly<Record<string, string>>> {
    const { issuer = "" } = this.#config.connections[name] ?? {};
    const response = await fetch(`${issuer}/.well-known/openid-configuration`);
    return (await response.json()) as Readonly<Record<string, string>>;
  }

  #redirectUri(name: string): string {
    return `${this.#config.url}/callback/${name}`;
  }

  async #login(name: string, session: Session, res: ServerResponse): Promise<void> {
    const { authorization_endpoint: endpoint = "" } = await this.#metadata(name);
    session.pending = { connection: name, state: random() };
    const query = new URLSearchParams({
      ...{ response_type: "code", scope: "openid profile email", state: session.pending.state },
      client_id: this.#config.connections[name]?.clientId ?? "",
      redirect_uri: this.#redirectUri(name),
    });
    res.writeHead(302, { location: `${endpoint}?${query.toString()}` }).end();
  }

  async #callback(name: string, query: URLSearchParams, session: Session, res: ServerResponse): Promise<void> {
    const { pending } = session;
    session.pending = null;
    const { issuer = "", clientId = "", clientSecret = "" } = this.#config.connections[name] ?? {};
    const isOfIssuer = this.#config.ignoresIss === true || query.get("iss") === issuer;
    if (pending?.connection !== name || query.get("state") !== pending.state || !isOfIssuer) {
      res.writeHead(400).end("refused");
      return;
    }
    const metadata = await this.#metadata(name);
    const response = await fetch(metadata["token_endpoint"] ?? "", {
      method: "POST",
      body: new URLSearchParams({
        ...{ grant_type: "authorization_code", code: query.get("code") ?? "", redirect_uri: this.#redirectUri(name) },
        ...{ client_id: clientId, client_secret: clientSecret },
      }),
    });
    if (!response.ok) {
      res.writeHead(400).end("refused");
      return;
    }
    const { id_token: idToken = "", access_token: token } = (await response.json()) as Record<string, string>;
    const authorization = `Bearer ${String(token)}`;
    const userinfo = await fetch(metadata["userinfo_endpoint"] ?? "", { headers: { authorization } });
    const claims = { ...((await userinfo.json()) as Claims), ...decodeJwt(idToken) };
    if (this.#config.admits?.includes(String(claims["sub"])) === false) {
      res.writeHead(this.#config.fails === true ? 500 : 403).end("not invited");
      return;
    }
    const { admitsDomain } = this.#config;
    const isOfDomain = claims["email_verified"] === true && String(claims["email"]).endsWith(`@${admitsDomain}`);
    if (admitsDomain !== undefined && !isOfDomain) {
      res.writeHead(403).end("not of the company");
      return;
    }
    session.account = this.#accountOf(issuer, claims);
    res.writeHead(302, { location: "/" }).end();
  }

  #accountOf(issuer: string, claims: Claims): Account {
    const { sub, email, email_verified: isVerified, preferred_username: username, name } = claims;
    const { sub: _sub, username: other, displayName } = claims;
    const usual = JSON.stringify([issuer, sub]);
    const keys: Readonly<Record<FindsBy, unknown>> = {
      "issuer-and-sub": usual,
      sub,
      email,
      "verified-email": isVerified === true ? email : usual,
      username: username ?? other,
      name: name ?? displayName,
      "sub-and-email": JSON.stringify([issuer, sub, email]),
      "native-username": (claims["user"] as Claims)["username"],
      "native-name": (claims["user"] as Claims)["displayName"],
    };
    const key = String(keys[this.#config.findsBy]);
    const found = this.accounts.find((one) => one.key === key);
    const account = found ?? { id: `account-${random()}`, key, note: "" };
    if (found === undefined) this.accounts.push(account);
    return account;
  }

  async #page(
    place: string,
    req: IncomingMessage,
    session: Session,
    account: Account,
    res: ServerResponse,
  ): Promise<void> {
    const note = this.#config.isShared === true ? this.accounts.map((one) => one.note).join(" ") : account.note;
    const { csrf } = session;
    const body = await bodyOf(req);
    if (place === "me") res.end("signed in");
    else if (place === "account") res.end(JSON.stringify({ data: { id: account.id, note } }));
    else if (place === "token") res.end(`<p>token:${csrf}</p>`);
    else if (place === "note" || place === "upload") this.#form(place, req, body, session, account, res);
    else if (place === "api" && req.method === "GET") res.end(JSON.stringify({ note }));
    else if (place === "api") {
      const header = req.headers[this.#config.hidesToken === true ? "x-token" : "x-xsrf-token"];
      const isOwn = req.headers.origin === this.#config.url && header === csrf;
      if (isOwn) account.note = String((JSON.parse(body) as Claims)["note"]);
      res.writeHead(isOwn ? 204 : 403).end();
    } else res.writeHead(404).end();
  }

  #form(
    place: string,
    req: IncomingMessage,
    body: string,
    { csrf }: Session,
    account: Account,
    res: ServerResponse,
  ): void {
    if (req.method === "POST") {
      const fields = fieldsOf(body, req.headers["content-type"] ?? "");
      const isOwn = fields.get("csrf") === csrf && req.headers.origin === this.#config.url;
      const isWhole = fields.get("title") !== "" && fields.get("contact")?.includes("@") === true;
      if (isOwn && fields.get("color") === "blue" && isWhole) {
        account.note = fields.get("note") ?? "";
        res.writeHead(303, { location: `/${place}` }).end();
      } else res.writeHead(isOwn ? 422 : 403).end();
      return;
    }
    const enctype = place === "upload" ? 'enctype="multipart/form-data"' : "";
    const { isShared } = this.#config;
    res.setHeader("content-type", "text/html").end(`
      <p>${isShared === true ? this.accounts.map((one) => one.note).join(" ") : ""}</p>
      <form method="get" action="/search"><input name="q"></form>
      <form method="post" action="/logout"><button>Sign out</button></form>
      <form method="post" ${enctype}>
        <input type="hidden" name="csrf" value="${csrf}">
        <select name="color"><option>red</option><option selected>blue</option></select>
        <input name="title" value="My &quot;note&quot;" required>
        <input type="email" name="contact" required>
        <textarea name="note">
${account.note}</textarea>
        <button name="save" value="1">Save</button>
      </form>`);
  }
}
