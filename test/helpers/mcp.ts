import { PassThrough } from "node:stream";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { expect } from "vitest";
import type { Terminal } from "../../src/cli/invocation.ts";
import { run } from "../../src/cli/run.ts";
import { atEnd } from "./at-end.ts";

/** The SDK's client, and `idp mcp-server` in this process. */

/** What a tool answered. */
export interface Told {
  readonly isError: boolean;
  readonly text: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Tools {
  readonly client: Client;
  readonly names: () => Promise<readonly string[]>;
  /** Calls a tool, which must succeed. */
  readonly call: (name: string, input?: Readonly<Record<string, unknown>>) => Promise<Told>;
  /** Calls a tool, which must refuse. */
  readonly refused: (name: string, input?: Readonly<Record<string, unknown>>) => Promise<Told>;
  /** What was printed so far: the protocol, and the rest. */
  readonly printed: { readonly stdout: string; readonly stderr: string };
  /** Ends it as a client does. @returns the exit code */
  readonly end: () => Promise<number>;
}

/** Starts the tools, and connects the SDK's client. @param words the flags */
export async function tools(words: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Tools> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  const printed = { stdout: "", stderr: "" };
  stderr.setEncoding("utf8").on("data", (text: string) => (printed.stderr += text));
  const terminal = { stdin, stdout, stderr, env } as unknown as Terminal;
  const ended = run(["mcp-server", ...words], terminal, { now: Date.now, takeSignals: () => undefined });
  const transport: Transport = {
    start: () => Promise.resolve(),
    send: (message) => {
      stdin.write(`${JSON.stringify(message)}\n`);
      return Promise.resolve();
    },
    close: () => Promise.resolve(),
  };
  let rest = "";
  stdout.setEncoding("utf8").on("data", (text: string) => {
    printed.stdout += text;
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) transport.onmessage?.(JSON.parse(line) as JSONRPCMessage);
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  const end = (): Promise<number> => {
    stdin.end();
    return ended;
  };
  atEnd(async () => {
    await end();
  });
  const ask = async (name: string, input: Readonly<Record<string, unknown>>): Promise<Told> => {
    const answer = await client.callTool({ name, arguments: input });
    const [{ text } = { text: "" }] = answer.content as readonly { readonly text: string }[];
    const data = (answer.structuredContent ?? {}) as Told["data"];
    return { isError: answer.isError === true, text, data };
  };
  return {
    client,
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: async (name, input = {}) => {
      const told = await ask(name, input);
      expect(told.isError, told.text).toBe(false);
      return told;
    },
    refused: async (name, input = {}) => {
      const told = await ask(name, input);
      expect(told.isError, told.text).toBe(true);
      return told;
    },
    printed,
    end,
  };
}
