import type { IncomingMessage, ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import { CarefulSp, type SpConfig } from "./careful-sp.ts";

/** A service provider of two tenants, each with its identity provider, that keeps a text of each user. The second tenant is at `/2`. */

export interface TenantsConfig {
  readonly tenants: readonly [SpConfig, SpConfig];
  /** What it finds accounts by. */
  readonly findsBy: "issuer-and-name" | "name";
  /** The second tenant's sign-ins fail. */
  readonly refusesSecond?: boolean;
}

export class TenantsSp {
  readonly #tenants: readonly CarefulSp[];
  readonly #notes = new Map<string, string>();
  readonly #config: TenantsConfig;

  constructor(config: TenantsConfig) {
    this.#config = config;
    this.#tenants = config.tenants.map((one, at) => new CarefulSp({ ...one, cookie: `sp${at + 1}` }));
  }

  /** The account of whoever is signed in. */
  #accountOf(req: IncomingMessage): string | null {
    const at = this.#tenants.findIndex((one) => one.nameOf(req) !== null);
    const name = this.#tenants[at]?.nameOf(req) ?? null;
    return name === null || this.#config.findsBy === "name" ? name : JSON.stringify([at, name]);
  }

  async handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { pathname } = new URL(req.url ?? "/", this.#config.tenants[0].acs);
    if (pathname === "/me" || pathname === "/note") return this.#page(req, res);
    const [first, second] = this.#tenants;
    if (!pathname.startsWith("/2/")) return first?.handle(req, res);
    if (this.#config.refusesSecond === true && pathname === "/2/acs") return void res.writeHead(403).end("closed");
    req.url = req.url?.slice(2);
    return second?.handle(req, res);
  }

  async #page(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const account = this.#accountOf(req);
    if (account === null) return void res.writeHead(401).end("nobody");
    if (req.method === "POST") {
      this.#notes.set(account, new URLSearchParams(await text(req)).get("note") ?? "");
      return void res.writeHead(303, { location: "/note" }).end();
    }
    const note = this.#notes.get(account) ?? "";
    const form = `<form method="post"><textarea name="note">${note}</textarea><button>Save</button></form>`;
    res.setHeader("content-type", "text/html").end(`<p>${account}</p>${form}`);
  }
}
