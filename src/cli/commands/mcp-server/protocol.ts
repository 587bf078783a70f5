import { createInterface } from "node:readline";
import { isObject, type JsonObject } from "../../../text/json.ts";

/** The Model Context Protocol on standard streams: each message is a line of JSON-RPC (MCP 2025-06-18, Transports: stdio). */

/** A tool as `tools/list` names it. */
export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of an object. */
  readonly inputSchema: JsonObject;
  readonly annotations: {
    readonly readOnlyHint: boolean;
    readonly destructiveHint: boolean;
    readonly openWorldHint: boolean;
  };
}

/** What `tools/call` answers with. */
export interface ToolAnswer {
  readonly content: readonly { readonly type: "text"; readonly text: string }[];
  readonly structuredContent?: JsonObject;
  readonly isError?: true;
}

export interface Tools {
  readonly list: () => Promise<readonly ToolDefinition[]>;
  /** @param signal ends when the client cancels the call, or leaves @returns null: there is no such tool */
  readonly call: (name: string, input: JsonObject, signal: AbortSignal) => Promise<ToolAnswer | null>;
}

interface About {
  readonly name: string;
  readonly version: string;
  /** What a client tells its model. */
  readonly instructions: string;
}

/** The versions of the protocol, the newest first. A client that asks for another one gets the newest. */
const versions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

/** Milliseconds between two messages that a call is under way. */
const progressMs = 2000;

/** JSON-RPC 2.0 5.1. */
const codes = { parse: -32700, request: -32600, method: -32601, params: -32602, internal: -32603 } as const;

/** A request that cannot be answered. */
class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

type Id = string | number;

const isId = (value: unknown): value is Id => typeof value === "string" || typeof value === "number";

/**
 * Answers until the client closes its end. Calls that are open then are told to end, and are answered still.
 * @param changed is given a function that tells the client to list the tools again
 */
export async function serveMcp(
  { stdin, stdout }: { readonly stdin: NodeJS.ReadableStream; readonly stdout: NodeJS.WritableStream },
  about: About,
  tools: Tools,
  changed: (tell: () => void) => void,
): Promise<void> {
  const send = (message: JsonObject): void => {
    stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  };
  changed(() => {
    send({ method: "notifications/tools/list_changed" });
  });
  const open = new Map<Id, AbortController>();
  const pending = new Set<Promise<void>>();

  /** Says that a call is under way, to a client that would give up otherwise (MCP, Progress). @returns what ends that */
  function tellProgress(meta: unknown): () => void {
    const progressToken = isObject(meta) ? meta["progressToken"] : undefined;
    if (!isId(progressToken)) return () => undefined;
    let progress = 0;
    const timer = setInterval(() => {
      progress += 1;
      send({ method: "notifications/progress", params: { progressToken, progress } });
    }, progressMs);
    return () => {
      clearInterval(timer);
    };
  }

  async function resultOf(method: string, params: JsonObject, id: Id): Promise<object> {
    switch (method) {
      case "initialize": {
        const wanted = versions.find((version) => version === params["protocolVersion"]);
        const { instructions, ...serverInfo } = about;
        const capabilities = { tools: { listChanged: true } };
        return { protocolVersion: wanted ?? versions[0], capabilities, serverInfo, instructions };
      }
      case "ping":
        return {};
      case "tools/list":
        return { tools: await tools.list() };
      case "tools/call": {
        const { name, arguments: input = {} } = params;
        if (typeof name !== "string" || !isObject(input)) {
          throw new RpcError(codes.params, "tools/call needs the name of a tool, and arguments as an object");
        }
        const controller = new AbortController();
        open.set(id, controller);
        const endProgress = tellProgress(params["_meta"]);
        const answer = await tools.call(name, input, controller.signal).finally(() => {
          open.delete(id);
          endProgress();
        });
        if (answer === null) throw new RpcError(codes.params, "there is no tool of this name: see tools/list");
        return answer;
      }
      default:
        throw new RpcError(codes.method, "this server has tools only");
    }
  }

  async function answer(message: unknown): Promise<void> {
    if (!isObject(message) || typeof message["method"] !== "string") {
      // A response: this server asks for nothing.
      if (isObject(message) && ("result" in message || "error" in message)) return;
      send({ id: null, error: { code: codes.request, message: "this is not a request of JSON-RPC 2.0" } });
      return;
    }
    const { id, method, params } = message;
    const given = isObject(params) ? params : {};
    if (!isId(id)) {
      if (method === "notifications/cancelled" && isId(given["requestId"])) open.get(given["requestId"])?.abort();
      return;
    }
    try {
      send({ id, result: await resultOf(method, given, id) });
    } catch (error) {
      const code = error instanceof RpcError ? error.code : codes.internal;
      const text = error instanceof Error ? error.message : String(error);
      send({ id, error: { code, message: text } });
    }
  }

  for await (const line of createInterface({ input: stdin, crlfDelay: Infinity })) {
    if (line.trim() === "") continue;
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      send({ id: null, error: { code: codes.parse, message: "a line is not JSON" } });
      continue;
    }
    // Versions before 2025-06-18 have batches.
    for (const one of Array.isArray(message) ? (message as unknown[]) : [message]) {
      const answered = answer(one).finally(() => pending.delete(answered));
      pending.add(answered);
    }
  }
  for (const controller of open.values()) controller.abort();
  await Promise.all(pending);
}
