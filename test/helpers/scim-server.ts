import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { atEnd } from "./at-end.ts";

/** A small SCIM server (RFC 7644), correct unless a weakness is named. */

/** What it does wrong, or otherwise than most. */
export type Weakness =
  | "lets-anybody-read"
  | "accepts-any-token"
  | "shares-tenants"
  | "not-found-200"
  | "accepts-any-op"
  | "plain-errors"
  | "html"
  | "json"
  | "ignores-filter"
  | "lookup-404"
  | "case-sensitive"
  | "created-200"
  | "creates-twice"
  | "races"
  | "patch-forgets"
  | "no-dots"
  | "ignores-email"
  | "put-forgets"
  | "ignores-active"
  | "ignores-string-active"
  | "reactivates-another"
  | "crashes-on-unknown"
  | "crashes-on-empty"
  | "crashes-on-null"
  | "group-created-empty"
  | "group-loses-members"
  | "group-keeps-members"
  | "group-keeps-name"
  | "group-stays"
  | "no-groups"
  | "no-delete"
  | "unstable-pages"
  | "keeps-removed"
  | "lists-removed"
  | "removes-twice"
  | "filter-ends-at-quote"
  | "ignores-external-filter"
  | "hides-inactive"
  | "bare-list"
  | "text-total"
  | "upserts"
  | "creates-active"
  | "remembers-removed"
  | "rehires-another"
  | "conflict-without-type"
  | "found-by-old-name"
  | "manager-is-object"
  | "no-manager"
  | "forgets-new-values"
  | "no-target"
  | "not-atomic"
  | "member-twice"
  | "refuses-member-twice"
  | "unknown-members"
  | "skips-unknown-members"
  | "forbids-delete"
  | "number-ids";

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- any JSON
export type Json = Record<string, any>;

export interface ScimRequestSeen {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Json | null;
  readonly authorization: string | undefined;
}

/** Answers in place of the server; null: it answers itself. `after`: its work is done first, and only the answer is another one. */
type Hook = (seen: ScimRequestSeen) => Instead | null | Promise<Instead | null>;
export interface Instead {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  readonly after?: true;
  /** Closes the connection. */
  readonly drop?: true;
}

class Failure extends Error {
  readonly status: number;
  readonly scimType: string | undefined;
  constructor(status: number, detail: string, scimType?: string) {
    super(detail);
    this.status = status;
    this.scimType = scimType;
  }
}

const enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";
const truth = (value: unknown): unknown =>
  typeof value === "string" && /^(true|false)$/i.test(value) ? value.toLowerCase() === "true" : value;

export class ScimServer {
  readonly users = new Map<string, Json>();
  readonly groups = new Map<string, Json>();
  readonly seen: ScimRequestSeen[] = [];
  readonly weaknesses: ReadonlySet<Weakness>;
  readonly token: string;
  otherToken: string | null = null;
  hook: Hook = () => null;
  url = "";
  #close = (): Promise<void> => Promise.resolve();
  #isLate = false;
  /** Names of users who were removed. */
  readonly #removed = new Set<string>();
  /** Users who were removed, and are in lists. */
  readonly #listed: Json[] = [];
  readonly #oldNames = new Map<string, string>();
  #nextId = 1000;

  constructor(options: { readonly token?: string; readonly weaknesses?: readonly Weakness[] } = {}) {
    this.token = options.token ?? "scim-secret-of-the-app";
    this.weaknesses = new Set(options.weaknesses);
  }

  async listen(): Promise<this> {
    const server = createServer((req, res) => void this.#handle(req, res));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    this.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/scim/v2`;
    this.#close = async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    };
    atEnd(() => this.close());
    return this;
  }

  close(): Promise<void> {
    return this.#close();
  }

  /** The users by their userName. */
  named(userName: string): Json | undefined {
    return [...this.users.values()].find((user) => user["userName"] === userName);
  }

  group(displayName: string): Json | undefined {
    return [...this.groups.values()].find((group) => group["displayName"] === displayName);
  }

  memberNames(displayName: string): string[] {
    const members = (this.group(displayName)?.["members"] ?? []) as Json[];
    return members.map(({ value }) => String(this.users.get(String(value))?.["userName"])).sort();
  }

  /** The requests as "GET /Users", without what changes between runs. */
  steps(): string[] {
    return this.seen.map(({ method, path }) => `${method} ${path.replace(/^(\/\w+)\/.*$/, "$1/ID")}`);
  }

  #has(weakness: Weakness): boolean {
    return this.weaknesses.has(weakness);
  }

  async #handle(req: IncomingMessage, res: ServerResponse): Promise<void> {
    let text = "";
    for await (const chunk of req) text += String(chunk);
    const url = new URL(req.url ?? "", this.url);
    const seen: ScimRequestSeen = {
      method: req.method ?? "",
      path: decodeURIComponent(url.pathname.replace(/^\/scim\/v2/, "")),
      query: url.searchParams,
      body: text === "" ? null : (JSON.parse(text) as Json),
      authorization: req.headers.authorization,
    };
    this.seen.push(seen);
    const instead = await this.hook(seen);
    // Looks whether somebody has the name, and inserts later.
    const isRace = this.#has("races") && seen.method === "POST";
    const taken = isRace && this.#isTaken(seen.body ?? {}, "one");
    if (isRace) await delay(25);
    this.#isLate = isRace && !taken;
    const own = instead === null || instead.after === true ? this.#answer(seen) : null;
    if (instead?.drop === true) {
      req.socket.destroy();
      return;
    }
    const { status, headers = {}, body } = instead ?? own ?? { status: 500 };
    const json = body === undefined ? undefined : JSON.stringify(body);
    const type = this.#has("html") ? "text/html" : this.#has("json") ? "application/json" : "application/scim+json";
    res.writeHead(status, { "content-type": type, ...headers }).end(json);
  }

  #answer(seen: ScimRequestSeen): Instead {
    try {
      return this.#route(seen);
    } catch (error) {
      if (!(error instanceof Failure)) return { status: 500, body: { error: String(error) } };
      const { status, scimType, message } = error;
      if (this.#has("plain-errors") && status === 404) return { status, body: { error: message } };
      const schemas = ["urn:ietf:params:scim:api:messages:2.0:Error"];
      return { status, body: { schemas, status: String(status), detail: message, ...(scimType && { scimType }) } };
    }
  }

  #tenantOf({ authorization, method }: ScimRequestSeen): string {
    const given = authorization?.replace(/^(Bearer|Basic) /, "") ?? "";
    if (this.#has("lets-anybody-read") && given === "" && method === "GET") return "one";
    if (given === this.token) return "one";
    if (this.otherToken !== null && given === this.otherToken) return "other";
    if (this.#has("accepts-any-token") && given !== "") return "one";
    throw new Failure(401, "who are you?");
  }

  #route(seen: ScimRequestSeen): Instead {
    const tenant = this.#tenantOf(seen);
    const [, kind = "", id] = seen.path.split("/");
    const hasKind = kind === "Users" || (kind === "Groups" && !this.#has("no-groups"));
    if (!hasKind) throw new Failure(404, "no such resource type");
    this.#crash(seen.body);
    const all = kind === "Users" ? this.users : this.groups;
    if (id === undefined)
      return seen.method === "POST" ? this.#create(seen, kind, tenant) : this.#list(seen, kind, tenant);
    const found = all.get(id);
    const isHidden = found !== undefined && found["tenant"] !== tenant && !this.#has("shares-tenants");
    if (found === undefined || isHidden) {
      if (this.#has("removes-twice") && seen.method === "DELETE") return { status: 204 };
      if (this.#has("not-found-200")) return { status: 200, body: {} };
      throw new Failure(404, `there is no ${id}`);
    }
    if (seen.method === "GET") return { status: 200, body: this.#shown(found) };
    if (seen.method === "DELETE") {
      if (this.#has("no-delete")) throw new Failure(405, "users stay");
      if (this.#has("forbids-delete") && kind === "Users") throw new Failure(403, "users stay");
      if (this.#has("keeps-removed") && kind === "Users") return { status: 204 };
      this.#removed.add(String(found["userName"]));
      if (this.#has("lists-removed")) this.#listed.push(found);
      if (kind === "Groups" && this.#has("group-stays")) return { status: 204 };
      all.delete(id);
      for (const group of this.groups.values()) this.#dropMember(group, id);
      return { status: 204 };
    }
    const next = seen.method === "PUT" ? this.#put(found, seen.body ?? {}) : this.#patch(found, seen.body ?? {});
    all.set(id, next);
    return { status: 200, body: this.#shown(next) };
  }

  /** Fails on what it does not expect. */
  #crash(body: Json | null): void {
    const text = JSON.stringify(body);
    const paths = ((body?.["Operations"] ?? []) as Json[]).map(({ path }) => path as string | undefined);
    const names = [...Object.keys(body ?? {}), ...paths.flatMap((path) => path ?? [])];
    const isUnknown = names.some((name) => name.startsWith("idpCheck"));
    if (this.#has("crashes-on-null") && /:null\b/.test(text)) throw new Error("null");
    if (this.#has("crashes-on-empty") && text.includes(':""')) throw new Error("empty");
    if (this.#has("crashes-on-unknown") && isUnknown) throw new Error("unknown");
  }

  #shown({ tenant: _, ...resource }: Json): Json {
    return resource;
  }

  #same(one: unknown, other: unknown): boolean {
    const isExact = this.#has("case-sensitive");
    return isExact ? one === other : String(one).toLowerCase() === String(other).toLowerCase();
  }

  #create({ body }: ScimRequestSeen, kind: string, tenant: string): Instead {
    const sent = body ?? {};
    const isUser = kind === "Users";
    if (isUser && typeof sent["userName"] !== "string") throw new Failure(400, "userName is missing", "invalidValue");
    if (isUser && this.#has("remembers-removed") && this.#removed.has(String(sent["userName"])))
      throw new Failure(400, "userName is taken");
    const isTaken = isUser && this.#isTaken(sent, tenant) && !this.#isLate;
    if (isTaken && !this.#has("creates-twice")) {
      throw new Failure(409, "userName is taken", this.#has("conflict-without-type") ? undefined : "uniqueness");
    }
    const own = this.#has("number-ids") ? String((this.#nextId += 1)) : randomUUID();
    const id = this.#has("upserts") && typeof sent["id"] === "string" ? sent["id"] : own;
    const meta = { resourceType: isUser ? "User" : "Group", location: `${this.url}/${kind}/${id}` };
    const given = this.#clean(sent);
    if (!isUser && given["members"] !== undefined) given["members"] = this.#known(given["members"] as Json[]);
    if (isUser && this.#has("creates-active")) given["active"] = true;
    const resource: Json = { ...(isUser && { active: true }), ...given, id, meta, tenant };
    if (!isUser && this.#has("group-created-empty")) resource["members"] = [];
    (isUser ? this.users : this.groups).set(id, resource);
    const status = isUser && this.#has("created-200") ? 200 : 201;
    return { status, headers: { location: meta.location }, body: this.#shown(resource) };
  }

  #isTaken({ userName }: Json, tenant: string): boolean {
    const users = [...this.users.values()]
      .filter((user) => user["tenant"] === tenant)
      .filter(({ active }) => !this.#has("rehires-another") || active !== false);
    return userName !== undefined && users.some((user) => this.#same(user["userName"], userName));
  }

  /** Without members that have no value. */
  #clean(sent: Json): Json {
    const entries = Object.entries(sent).filter(([name, value]) => {
      return value !== null && !(name === enterprise && this.#has("no-manager"));
    });
    return Object.fromEntries(entries.map(([name, value]) => [name, name === "active" ? truth(value) : value]));
  }

  #list({ query }: ScimRequestSeen, kind: string, tenant: string): Instead {
    const filter = query.get("filter");
    const [, name = "", , value = ""] = /^(\w+) (eq) (".*")$/s.exec(filter ?? "") ?? [];
    if (filter !== null && name === "") throw new Failure(400, `cannot read ${filter}`, "invalidFilter");
    const wanted: unknown = value === "" ? null : JSON.parse(value);
    const isCut = this.#has("filter-ends-at-quote") && String(wanted).includes('"');
    const isIgnored =
      this.#has("ignores-filter") || isCut || (name === "externalId" && this.#has("ignores-external-filter"));
    let all = [...(kind === "Users" ? [...this.users.values(), ...this.#listed] : this.groups.values())]
      .filter((one) => one["tenant"] === tenant || this.#has("shares-tenants"))
      .filter(({ active }) => !this.#has("hides-inactive") || active !== false)
      .filter((one) => {
        const old = this.#has("found-by-old-name") ? this.#oldNames.get(String(one["id"])) : undefined;
        return filter === null || isIgnored || this.#same(one[name], wanted) || (name === "userName" && old === wanted);
      });
    if (all.length === 0 && this.#has("lookup-404")) throw new Failure(404, "nobody found");
    if (this.#has("unstable-pages")) all = all.toSorted(() => Math.random() - 0.5);
    const start = Number(query.get("startIndex") ?? 1);
    const page = all.slice(start - 1, start - 1 + Number(query.get("count") ?? 100));
    const isShort = query.get("excludedAttributes") === "members";
    const Resources = page.map((one) => {
      const { members, ...rest } = this.#shown(one);
      return isShort || members === undefined ? rest : { ...rest, members: members as Json[] };
    });
    const schemas = ["urn:ietf:params:scim:api:messages:2.0:ListResponse"];
    if (this.#has("text-total"))
      return { status: 200, body: { schemas, totalResults: String(all.length), Resources: page } };
    if (this.#has("bare-list")) return { status: 200, body: { schemas, totalResults: all.length, Resources } };
    return {
      status: 200,
      body: { schemas, totalResults: all.length, startIndex: start, itemsPerPage: page.length, Resources },
    };
  }

  #put(found: Json, sent: Json): Json {
    const { id, meta, tenant, active } = found;
    const clean = this.#clean(sent);
    if ("userName" in found) this.#oldNames.set(String(id), String(found["userName"]));
    if (!("userName" in found)) clean["members"] = this.#known((clean["members"] ?? []) as Json[]);
    if (this.#has("ignores-active")) clean["active"] = active;
    if (this.#has("put-forgets")) Reflect.deleteProperty(clean, enterprise);
    return { ...(active !== undefined && { active }), ...clean, id, meta, tenant };
  }

  #patch(found: Json, { Operations }: Json): Json {
    if (!Array.isArray(Operations)) throw new Failure(400, "Operations is missing", "invalidSyntax");
    let next = structuredClone(found);
    for (const { op, path, value } of Operations as Json[]) {
      const verb = String(op).toLowerCase();
      if (this.#has("accepts-any-op") && !["add", "replace", "remove"].includes(verb)) continue;
      if (!["add", "replace", "remove"].includes(verb)) {
        if (this.#has("not-atomic")) this.users.set(String(next["id"]), next);
        throw new Failure(400, `no op ${op}`, "invalidSyntax");
      }
      next = this.#change(next, verb, path as string | undefined, value);
    }
    if (this.#has("patch-forgets") && next["displayName"] !== found["displayName"]) delete next["externalId"];
    return next;
  }

  #change(found: Json, op: string, path: string | undefined, value: unknown): Json {
    if (path === undefined) {
      return Object.entries(value as Json).reduce((next, [key, one]) => {
        if (key.includes(".") && !key.startsWith("urn:") && this.#has("no-dots")) return { ...next, [key]: one };
        return this.#change(next, op, key, one);
      }, found);
    }
    if (path === "id") return found;
    if (path === "userName") this.#oldNames.set(String(found["id"]), String(found["userName"]));
    if (path.startsWith(`${enterprise}:`)) {
      if (this.#has("no-manager")) return found;
      if (this.#has("manager-is-object") && typeof value === "string") throw new Error("value.value is undefined");
      const below = { ...found[enterprise], [path.slice(enterprise.length + 1)]: value };
      return { ...found, [enterprise]: below };
    }
    if (path === "members" || path.startsWith("members[")) return this.#members(found, op, path, value);
    const [, list = "", key = "", type = "", sub = "value"] =
      /^(\w+)\[(type|primary) eq "(\w+)"\](?:\.(\w+))?$/.exec(path) ?? [];
    if (list === "emails" && this.#has("ignores-email")) return found;
    if (list !== "") {
      const all = (found[list] ?? []) as Json[];
      const there = all.find((one) => String(one[key]).toLowerCase() === type.toLowerCase());
      if (there === undefined && this.#has("forgets-new-values")) return found;
      if (there === undefined && this.#has("no-target")) throw new Failure(400, `nothing is at ${path}`, "noTarget");
      const mine = there ?? { [key]: truth(type) };
      const others = all.filter((one) => one !== mine);
      return { ...found, [list]: op === "remove" ? others : [{ ...mine, [sub]: value }, ...others] };
    }
    const [name = "", below] = path.split(".");
    if (!/^[$\w]+$/.test(name)) throw new Failure(400, `no path ${path}`, "invalidPath");
    if (name === "displayName" && !("userName" in found) && this.#has("group-keeps-name")) return found;
    if (name === "active") return { ...found, active: this.#active(found, value) };
    if (below !== undefined) return { ...found, [name]: { ...found[name], [below]: value } };
    if (op === "remove" || value === null) {
      const { [name]: _, ...rest } = found;
      return rest;
    }
    const before: unknown = found[name];
    const isMore = op === "add" && Array.isArray(before) && Array.isArray(value);
    return { ...found, [name]: isMore ? [...(before as Json[]), ...(value as Json[])] : value };
  }

  #active({ active }: Json, value: unknown): unknown {
    if (this.#has("ignores-active")) return active;
    if (this.#has("ignores-string-active") && typeof value === "string") return active;
    if (this.#has("reactivates-another") && truth(value) === true) return active;
    return truth(value);
  }

  #members(group: Json, op: string, path: string, value: unknown): Json {
    const before = (group["members"] ?? []) as Json[];
    const named = /^members\[value eq "(.*)"\]$/.exec(path)?.[1];
    const ids = named === undefined ? ((value ?? []) as Json[]).map((one) => String(one["value"])) : [named];
    if (op === "remove") {
      if (this.#has("group-keeps-members")) return group;
      return { ...group, members: before.filter((one) => !ids.includes(String(one["value"]))) };
    }
    const kept = op === "replace" || this.#has("group-loses-members") ? [] : before;
    const isThere = (id: string): boolean => kept.some((one) => one["value"] === id);
    if (this.#has("refuses-member-twice") && ids.some(isThere)) throw new Failure(409, "is a member", "uniqueness");
    const joining = ids.filter((id) => this.#has("member-twice") || !isThere(id)).map((id) => ({ value: id }));
    return { ...group, members: this.#known([...kept, ...joining]) };
  }

  /** Members, once each. @throws {Failure} for one who does not exist */
  #known(members: readonly Json[]): readonly Json[] {
    const known = members.filter(({ value }) => this.#has("unknown-members") || this.users.has(String(value)));
    if (known.length < members.length && !this.#has("skips-unknown-members"))
      throw new Failure(400, "no such member", "invalidValue");
    if (this.#has("member-twice")) return known;
    return known.filter(({ value }, at) => known.findIndex((one) => one["value"] === value) === at);
  }

  #dropMember(group: Json, id: string): void {
    if (Array.isArray(group["members"]))
      group["members"] = (group["members"] as Json[]).filter((one) => one["value"] !== id);
  }
}

export const scimServer = (options?: ConstructorParameters<typeof ScimServer>[0]): Promise<ScimServer> =>
  new ScimServer(options).listen();
