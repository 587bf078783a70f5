import type { ControlToken } from "../../src/core/records/operators/roles.ts";
import { builtInDemo } from "../../src/serve/fixture-files.ts";
import { startServer } from "../../src/serve/server.ts";
import { atEnd } from "./at-end.ts";

/** A server with control tokens of each role, and requests to its control API. */

export const tokens: readonly ControlToken[] = [
  { name: "eyes", role: "reader", token: "reader-token-of-eyes" },
  { name: "qa", role: "tester", token: "tester-token-of-qa-1" },
  { name: "other", role: "tester", token: "tester-token-of-other" },
  { name: "lead", role: "admin", token: "admin-token-of-lead-1" },
];
export const tokenOf = (name: string): string => tokens.find((one) => one.name === name)?.token ?? "";

/** A server with control tokens, which ends with the test or the file. @param list the tokens that count now */
export async function startWithTokens(list: () => readonly ControlToken[] = () => tokens) {
  const server = await startServer({ port: 0, fixtures: [builtInDemo()] }, { controlTokens: list });
  atEnd(() => server.close());
  return server;
}

type Started = Awaited<ReturnType<typeof startWithTokens>>;

/** A request to the control API with a token. @returns the status and the JSON */
export async function call(
  { issuer }: Pick<Started, "issuer">,
  token: string,
  method: string,
  path: string,
  body?: unknown,
) {
  const response = await fetch(`${issuer.ctx.issuer}/_idp/api${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: (text === "" ? null : JSON.parse(text)) as never, text };
}
