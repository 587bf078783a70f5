import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { atEnd } from "./at-end.ts";
import type { Json } from "./scim-server.ts";

/** A SCIM server in another form than scim-server.ts: numbers as ids, rows in lists, 204 to every change, short pages, a relative Location. */

/** What it does wrong, or does not have. */
export type Hole =
  | "open-lists"
  | "open-writes"
  | "unknown-500"
  | "unknown-empty"
  | "takes-ids"
  | "put-crosses-tenants"
  | "needs-name"
  | "needs-emails"
  | "needs-text"
  | "zero-based"
  | "no-lists"
  | "groups-stay"
  | "lookup-404"
  | "no-patch"
  | "keeps-little"
  | "strict";

const tokens: Readonly<Record<string, string>> = { "Bearer of-one": "one", "Bearer of-two": "two" };
const listOf = "urn:ietf:params:scim:api:messages:2.0:ListResponse";
const errorOf = "urn:ietf:params:scim:api:messages:2.0:Error";
const enterprise = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User";

class Refused extends Error {
  readonly status: number;
  readonly scimType: string | undefined;
  constructor(status: number, scimType?: string) {
    super(`refused with ${status}`);
    this.status = status;
    this.scimType = scimType;
  }
}

interface Row extends Json {
  tenant: string;
  kind: string;
  id: string;
  body: Json;
}

interface Asked {
  readonly method: string;
  readonly kind: string;
  readonly id: string | undefined;
  readonly query: URLSearchParams;
  readonly body: Json;
  readonly tenant: string;
}

const lower = (value: unknown): string => String(value).toLowerCase();
const maxPage = 50;

export async function terseScim(...holes: readonly Hole[]) {
  const has = (hole: Hole): boolean => holes.includes(hole);
  let next = 100;
  let rows: Row[] = [];
  rows.push({ tenant: "one", kind: "Users", id: "7", body: { userName: "alice@example.com", active: true } });

  function tenantOf({ authorization }: IncomingMessage["headers"], method: string, isList: boolean): string {
    const known = tokens[authorization ?? ""];
    if (known !== undefined) return known;
    if (has("open-lists") && method === "GET" && isList) return "one";
    if (has("open-writes") && method !== "GET") return "one";
    throw new Refused(401);
  }

  const shown = ({ id, kind, body }: Row): Json => ({
    ...body,
    id,
    meta: { resourceType: kind.slice(0, -1) },
    ...(body["members"] !== undefined && {
      members: (body["members"] as Json[]).map(({ value }) => ({ value: String(value), display: "somebody" })),
    }),
  });

  function list({ kind, query, tenant }: Asked): Json {
    if (has("no-lists")) throw new Refused(404);
    const filter = query.get("filter");
    const [, name = "", value = ""] = /^(\w+) eq ("(?:[^"\\]|\\.)*")$/.exec(filter ?? "") ?? [];
    if (filter !== null && name === "") throw new Refused(400, "invalidFilter");
    const all = rows
      .filter((row) => row.kind === kind && row.tenant === tenant)
      .filter(({ body }) => filter === null || lower(body[name]) === lower(JSON.parse(value)));
    if (all.length === 0 && has("lookup-404")) throw new Refused(404);
    const start = Math.max(1, Number(query.get("startIndex") ?? 1)) - (has("zero-based") ? 0 : 1);
    const page = all.slice(start, start + Math.min(maxPage, Number(query.get("count") ?? maxPage)));
    const counts = { totalResults: all.length, startIndex: start + 1, itemsPerPage: page.length };
    return { schemas: [listOf], ...counts, ...(page.length > 0 && { Resources: page.map(shown) }) };
  }

  /** What is kept of a user or group. */
  function kept(kind: string, sent: Json): Json {
    const { schemas: _, id: __, meta: ___, ...body } = sent;
    if (has("needs-name") && kind === "Users" && "name" in body) body["nick"] = String(body["name"].givenName);
    if (has("needs-emails") && kind === "Users" && "emails" in body) body["mail"] = String(body["emails"][0].value);
    if (has("needs-text") && kind === "Users" && "displayName" in body)
      body["sort"] = (body["displayName"] as string).toLowerCase();
    for (const name of Object.keys(body)) if (body[name] === null) Reflect.deleteProperty(body, name);
    const known = kind === "Users" ? ["userName", "name", "active", "emails"] : ["displayName", "members"];
    if (
      has("strict") &&
      Object.keys(body).some((name) => ![...known, "displayName", "externalId", "title"].includes(name))
    )
      throw new Refused(400, "invalidSyntax");
    if (has("keeps-little")) {
      for (const name of Object.keys(body)) if (!known.includes(name)) Reflect.deleteProperty(body, name);
      const [mail] = (body["emails"] ?? []) as Json[];
      if (mail !== undefined) body["emails"] = [{ value: mail["value"] as string, primary: true }];
    }
    if (typeof body["active"] === "string") body["active"] = body["active"].toLowerCase() === "true";
    if (kind === "Groups") body["members"] = members((body["members"] ?? []) as Json[]);
    else if (typeof body["userName"] !== "string" || body["userName"] === "") throw new Refused(400, "invalidValue");
    return body;
  }

  function members(all: readonly Json[]): Json[] {
    const ids = [...new Set(all.map(({ value }) => String(value)))];
    if (ids.some((id) => !rows.some((row) => row.kind === "Users" && row.id === id)))
      throw new Refused(400, "invalidValue");
    return ids.map((value) => ({ value }));
  }

  function requireFree(kind: string, tenant: string, userName: unknown, id?: string): void {
    const isTaken = rows.some(
      (row) =>
        row.tenant === tenant && row.kind === kind && row.id !== id && lower(row.body["userName"]) === lower(userName),
    );
    if (kind === "Users" && isTaken) throw new Refused(409, "uniqueness");
  }

  function change(body: Json, op: string, path: string, value: unknown): void {
    if (path.startsWith(`${enterprise}:`)) {
      const own = typeof value === "string" && path.endsWith(":manager") ? { value } : value;
      body[enterprise] = { ...body[enterprise], [path.slice(enterprise.length + 1)]: own };
      return;
    }
    const [, list = "", key = "", wanted = "", , below = "value"] =
      /^(\w+)\[(\w+) eq "([^"]*)"\](\.(\w+))?$/.exec(path) ?? [];
    if (list === "members") {
      body["members"] = (body["members"] as Json[]).filter((one) => one["value"] !== wanted);
    } else if (list !== "") {
      const found = ((body[list] ?? []) as Json[]).find((one) => one[key] === wanted);
      if (found === undefined) body[list] = [...((body[list] ?? []) as Json[]), { [key]: wanted, [below]: value }];
      else found[below] = value;
    } else if (path === "members") {
      const before = body["members"] as Json[];
      const ids = (value as Json[]).map((one) => one["value"] as unknown);
      if (op === "remove") body["members"] = before.filter((one) => !ids.includes(one["value"]));
      else body["members"] = op === "replace" ? value : [...before, ...(value as Json[])];
    } else {
      const [name = "", sub] = path.split(".");
      if (!/^[\w$]+$/.test(name)) throw new Refused(400, "invalidPath");
      if (sub === undefined) body[name] = op === "remove" ? null : value;
      else body[name] = { ...body[name], [sub]: value };
    }
  }

  function patched(row: Row, { Operations }: Json): Json {
    const body = structuredClone(row.body);
    for (const one of Operations as Json[]) {
      const op = lower(one["op"]);
      if (!["add", "replace", "remove"].includes(op)) throw new Refused(400, "invalidSyntax");
      const all = one["path"] === undefined ? Object.entries(one["value"] as Json) : [[one["path"], one["value"]]];
      for (const [path, value] of all) change(body, op, String(path), value);
    }
    return body;
  }

  function answer(asked: Asked): { status: number; body?: unknown; location?: string } {
    const { method, kind, id, body, tenant } = asked;
    if (kind !== "Users" && kind !== "Groups") throw new Refused(404);
    if (id === undefined && method === "GET") return { status: 200, body: list(asked) };
    if (id === undefined) {
      if (has("takes-ids") && rows.some((row) => row.id === body["id"])) throw new Refused(409, "uniqueness");
      requireFree(kind, tenant, body["userName"]);
      const own = has("takes-ids") && typeof body["id"] === "string" ? body["id"] : String((next += 1));
      const row = { tenant, kind, id: own, body: kept(kind, body) };
      rows.push(row);
      return { status: 201, body: shown(row), location: `/scim/${kind}/${row.id}` };
    }
    const crosses = has("put-crosses-tenants") && method === "PUT";
    const row = rows.find((one) => one.kind === kind && one.id === id && (one.tenant === tenant || crosses));
    if (row === undefined) {
      if (has("unknown-500")) throw new Error("row is undefined");
      if (has("unknown-empty") && method === "GET") return { status: 200 };
      throw new Refused(404);
    }
    if (method === "GET") return { status: 200, body: shown(row) };
    if (method === "DELETE") {
      if (has("groups-stay") && kind === "Groups") throw new Refused(403);
      rows = rows.filter((one) => one !== row);
      for (const one of rows) {
        if (one.kind === "Groups")
          one.body["members"] = (one.body["members"] as Json[]).filter(({ value }) => value !== id);
      }
      return { status: 204 };
    }
    if (method === "PATCH" && has("no-patch")) throw new Refused(501);
    const after = kept(kind, method === "PUT" ? body : patched(row, body));
    requireFree(kind, row.tenant, after["userName"], id);
    row.body = after;
    return { status: 204 };
  }

  const server = createServer((req, res) => {
    const parts: Buffer[] = [];
    req.on("data", (part: Buffer) => parts.push(part));
    req.on("end", () => {
      const { pathname, searchParams: query } = new URL(req.url ?? "", "http://host");
      const [, , kind = "", id] = pathname.split("/").map(decodeURIComponent);
      const method = req.method ?? "";
      const head = { "content-type": "Application/JSON; charset=UTF-8" };
      try {
        const tenant = tenantOf(req.headers, method, id === undefined);
        const body = parts.length === 0 ? {} : (JSON.parse(Buffer.concat(parts).toString()) as Json);
        const { status, body: found, location } = answer({ method, kind, id, query, body, tenant });
        res.writeHead(status, { ...(status !== 204 && head), ...(location !== undefined && { location }) });
        res.end(found === undefined ? undefined : JSON.stringify(found));
      } catch (error) {
        const { status, scimType } = error instanceof Refused ? error : new Refused(500);
        res.writeHead(status, { ...head, ...(status === 401 && { "www-authenticate": "Bearer" }) });
        res.end(JSON.stringify({ schemas: [errorOf], status, scimType, detail: "refused" }));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/scim/`,
    /** What it has of a kind, without the user who was there before. */
    names: (kind: "Users" | "Groups"): readonly string[] =>
      rows
        .filter((row) => row.kind === kind && row.id !== "7")
        .map(({ body }) => String(body["userName"] ?? body["displayName"])),
  };
}
