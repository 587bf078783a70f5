import { expect, test } from "vitest";
import type { ControlToken } from "../../src/core/records/operators/roles.ts";
import { builtInDemo } from "../../src/serve/fixture-files.ts";
import { startServer } from "../../src/serve/server.ts";
import { atEnd } from "../helpers/at-end.ts";

/** A day of a tester on a team's server: all of it with the tester's token alone. */

const qa: ControlToken = { name: "qa", role: "tester", token: "tester-token-of-qa-1" };
const server = await startServer({ port: 0, fixtures: [builtInDemo()] }, { controlTokens: () => [qa] });
atEnd(() => server.close());

async function ask(method: string, path: string, body?: object, below = "") {
  const response = await fetch(`${server.issuer.ctx.issuer}${below}/_idp/api${path}`, {
    method,
    headers: { authorization: `Bearer ${qa.token}`, ...(body !== undefined && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text };
}

const issued = { user: "alice", client: "demo-app" };
type Task = readonly [what: string, method: string, path: string, body?: object, issuer?: string];
const tasks: readonly Task[] = [
  ["suspend a user", "POST", "/users/bob/suspend", {}],
  ["restore a user", "POST", "/users/bob/restore", {}],
  ["ban a user", "POST", "/users/carol/ban", {}],
  ["let a user leave", "POST", "/users/bob/leave", {}],
  ["record a consent", "POST", "/issue/grant", issued],
  ["issue a code", "POST", "/issue/code", issued],
  ["issue the tokens of a sign-in", "POST", "/issue/tokens", issued],
  ["issue an expired token", "POST", "/token/issue", { ...issued, expired: true }],
  ["issue a token with a wrong signature", "POST", "/token/issue", { ...issued, bad_signature: true }],
  ["issue a token of a client", "POST", "/token/issue", { client: "demo-service", audience: "https://api.test" }],
  ["revoke what a client may do", "POST", "/revoke", { client: "demo-app" }],
  ["expire the tokens of a user", "POST", "/expire", { user: "alice" }],
  ["save a snapshot", "POST", "/snapshots/before", {}],
  ["add a fault", "POST", "/faults", { endpoint: "token", status: 503 }],
  ["move the clock", "POST", "/clock/advance", { by: "31m" }],
  ["go back to the snapshot", "POST", "/snapshots/before/restore", {}],
  ["end the sessions of a user", "POST", "/sessions/end", { user: "alice" }],
  ["look at what apps asked", "GET", "/requests?client=demo-app"],
  ["expect that an app did not ask", "POST", "/expect", { endpoint: "revoke", never: true }],
  ["see who changed what", "GET", "/acts"],
  ["open the inspector", "POST", "/inspector/open", {}],
  ["add an issuer of their own", "POST", "/issuers", { name: "mine" }],
  [
    "add a client there",
    "POST",
    "/clients",
    { client_id: "own", redirect_uris: ["http://localhost:3999/cb"] },
    "/i/mine",
  ],
  ["issue an expired token there", "POST", "/token/issue", { ...issued, expired: true }, "/i/mine"],
  ["reset it", "POST", "/reset", {}, "/i/mine"],
  ["remove it", "DELETE", "/issuers/mine"],
];

test.each(tasks.map(([what, method, path, body, below]) => ({ what, method, path, body, below })))(
  "$what",
  async ({ method, path, body, below }) => {
    const { status, text } = await ask(method, path, body, below);
    expect(status, text).toBeLessThan(300);
  },
);
