import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import express from "express";
import SCIMMY from "scimmy";
import SCIMMYRouters from "scimmy-routers";
import { vi } from "vitest";
import { atEnd } from "./at-end.ts";
import { freePort } from "./port.ts";
import type { Json } from "./scim-server.ts";

/** SCIM servers that others made, and a way there that fails now and then. */

const token = "scim-secret-of-the-program";

/** Users and groups in maps, as the handlers of scimmy keep them. */
function storeFor(type: "User" | "Group") {
  const all = new Map<string, Json>();
  const lower = (value: unknown): string => String(value).toLowerCase();
  return {
    all,
    handlers: {
      ingress: (resource: { readonly id?: string }, data: Json): Json => {
        const { id = randomUUID() } = resource;
        const given = JSON.parse(JSON.stringify(data)) as Json;
        const taken = [...all.values()].some(
          (one) => type === "User" && one["id"] !== id && lower(one["userName"]) === lower(given["userName"]),
        );
        if (taken) throw new SCIMMY.Types.Error(409, "uniqueness", "the userName is taken");
        const made = { ...given, id, meta: { resourceType: type } };
        all.set(id, made);
        return made;
      },
      egress: (resource: { readonly id?: string; readonly filter?: { match: (all: Json[]) => Json[] } }) => {
        const { id, filter } = resource;
        if (id === undefined) return filter === undefined ? [...all.values()] : filter.match([...all.values()]);
        const found = all.get(id);
        if (found === undefined) throw new SCIMMY.Types.Error(404, null as never, `there is no ${id}`);
        return found;
      },
      degress: (resource: { readonly id?: string }): void => {
        if (!all.delete(resource.id ?? "")) throw new SCIMMY.Types.Error(404, null as never, "there is none");
      },
    },
  };
}

export interface ScimProgram {
  /** Below which /Users is. */
  readonly url: string;
  readonly token: string;
  /** Everything that it has of one kind. */
  readonly all: (kind: "Users" | "Groups") => Promise<readonly Json[]>;
}

/** scimmy knows one set of resource types in a process, so its stores are emptied for each server. */
const stores = { User: storeFor("User"), Group: storeFor("Group") };
let isDeclared = false;

export async function scimmyServer(): Promise<ScimProgram> {
  if (!isDeclared) {
    SCIMMY.Resources.declare(SCIMMY.Resources.User, stores.User.handlers as never);
    SCIMMY.Resources.declare(SCIMMY.Resources.Group, stores.Group.handlers as never);
    isDeclared = true;
  }
  for (const { all } of Object.values(stores)) all.clear();
  const app = express();
  const routers = new SCIMMYRouters({
    type: "bearer",
    handler: (req) => {
      if (req.header("Authorization") !== `Bearer ${token}`) throw new Error("the token is wrong");
      return "idp";
    },
  });
  app.use("/scim/v2", routers);
  const server = createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return {
    ...{ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/scim/v2`, token },
    // It reads startIndex and count of a query as no numbers, and lists the first twenty.
    all: (kind) => Promise.resolve([...stores[kind === "Users" ? "User" : "Group"].all.values()]),
  };
}

/** The server that comes with the Python package scim2-server. */
export async function scim2Server(): Promise<ScimProgram> {
  const port = await freePort();
  const words = ["-m", "scim2_server.testserver.cli", "--port", port, "--bearer-token", token];
  const code = "import sys; from scim2_server.testserver.cli import main; sys.exit(main())";
  const child = spawn("python3", ["-c", code, ...words.slice(2)], { stdio: "ignore" });
  atEnd(async () => {
    child.kill();
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  });
  const url = `http://127.0.0.1:${port}`;
  await vi.waitFor(() => fetch(url), { timeout: 30_000 });
  return { url, token, all: (kind) => listed(`${url}/${kind}`) };
}

/** What the way to a program does with a request. `lost`: the program does it, and nobody hears of it. */
export type Way = "pass" | "lost" | 429 | 503;

/** A way to a program. @param plan gets the number of each request, from 1 */
export async function unreliable(program: ScimProgram, plan: (number: number) => Way): Promise<ScimProgram> {
  let count = 0;
  const base = new URL(program.url);
  const forward = (req: IncomingMessage, res: ServerResponse, way: Way): void => {
    const out = request(new URL(req.url ?? "", base), { method: req.method, headers: req.headers }, (answer) => {
      if (way === "lost") {
        answer.resume();
        answer.on("end", () => req.socket.destroy());
        return;
      }
      res.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(res);
    });
    out.on("error", () => req.socket.destroy());
    req.pipe(out);
  };
  const server = createServer((req, res) => {
    count += 1;
    const way = plan(count);
    if (way === 429 || way === 503) {
      req.resume();
      res.writeHead(way, { "retry-after": "0" }).end();
    } else forward(req, res, way);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  atEnd(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${base.pathname.replace(/\/$/, "")}`;
  return { ...program, url };
}

async function listed(address: string): Promise<readonly Json[]> {
  const all: Json[] = [];
  for (;;) {
    const answer = await fetch(`${address}?startIndex=${all.length + 1}&count=100`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { Resources = [], totalResults } = (await answer.json()) as { Resources?: Json[]; totalResults: number };
    all.push(...Resources);
    if (Resources.length === 0 || all.length >= totalResults) return all;
  }
}
