import type { LookupFunction } from "node:net";
import { isAtLoopback, listen, type Listener } from "../frame/listener.ts";
import type { Case } from "../frame/verdict.ts";
import { runCases, type CheckRun, type RunResult } from "../frame/run.ts";
import { Problem } from "../../client/check.ts";
import { send, type Outgoing, type Reply } from "../../client/http.ts";
import type { Api, Attempt, Change } from "./attempt.ts";
import { control as controlCase, controlAgain } from "./cases/control.ts";
import type { ApiControl } from "./control.ts";
import { newProofKey, proofFor, type ProofParts } from "./dpop.ts";
import { claimsOf } from "./forge.ts";
import { challengesOf } from "./judge.ts";

/** Runs the cases of `idp check api`. */

interface ApiRun extends CheckRun {
  readonly api: Api;
  readonly control: ApiControl;
  /** Resolves the names of the API, and refuses addresses that may not be reached. */
  readonly lookup: LookupFunction;
  /** Whether the document of an MCP server may be read there. @throws {Problem} */
  readonly mayRead: (url: string) => void;
}

/** Milliseconds after which the rest of a body is left: an MCP server may answer with a stream. */
const bodyLimit = 1000;

export function checkApi(run: ApiRun, cases: readonly Case<Attempt>[]): Promise<RunResult> {
  const { api, control, restart } = run;
  const key = newProofKey();
  const listeners: Listener[] = [];
  let nonce: string | null = null;

  async function request(outgoing: Outgoing): Promise<Reply> {
    try {
      return await send({ ...outgoing, lookup: run.lookup, bodyLimit });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { url: outgoing.url, status: 0, headers: {}, text: error.message };
    }
  }

  /** Access tokens are bound to the key. */
  const bound = (change: Readonly<Record<string, unknown>>) =>
    api.dpop && (change["type"] ?? "access") === "access" ? { dpop_jkt: key.jkt } : {};

  const nonceParts = (): ProofParts => (nonce === null ? {} : { nonce });

  /** Sends a proof again with the nonce that the API asks for (RFC 9449 9). */
  async function sendOne(token: string | null, change: Change = {}): Promise<Reply> {
    const reply = await request(requestFor(run, key, token, change, nonceParts()));
    const given = reply.headers["dpop-nonce"];
    if (typeof given === "string") nonce = given;
    const asks = challengesOf(reply).some(({ parameters }) => parameters.get("error") === "use_dpop_nonce");
    if (!asks || typeof given !== "string" || change.sameProof !== undefined) return reply;
    return request(requestFor(run, key, token, change, nonceParts()));
  }

  return runCases(run, {
    ...{ control: controlCase, last: controlAgain, cases },
    broken: "the API does not let a good token in any more",
    didLast: "let a good token in at the end too",
    async attempt(one, verdicts, over) {
      let startFailure: string | null = null;
      return one.run({
        ...{ api, control, key, verdicts, wait: run.wait, send: sendOne },
        prove: (token) => {
          const { method, url } = api;
          return proofFor(key, { method, url: withoutQuery(url), token, now: run.now() }, nonceParts());
        },
        get startFailure() {
          return startFailure;
        },
        isAtLoopback: await isAtLoopback(api.url),
        token: (change = {}) => control.issue({ ...bound(change), ...change }),
        serviceToken: (asUser) => control.issueService(bound({}), asUser),
        owned: (owner) => (api.ownedUrl ?? api.url).replaceAll("{user}", encodeURIComponent(owner[api.ownedBy] ?? "")),
        audience: async () => claimsOf(await control.issue({}))["aud"],
        async listen(bytes) {
          over.throwIfAborted();
          const listener = await listen(bytes);
          listeners.push(listener);
          return listener;
        },
        read: async (url) => {
          run.mayRead(url);
          return send({ method: "GET", url, lookup: run.lookup, bodyLimit });
        },
        async takeDown(endpoints) {
          over.throwIfAborted();
          for (const endpoint of endpoints) await control.takeDown(endpoint);
          if (restart !== null) startFailure = await restart();
        },
      });
    },
    async tidy(one) {
      await Promise.all(listeners.splice(0).map((one) => one.close()));
      await control.removeFaults();
      return one.restarts === true && restart !== null ? restart() : null;
    },
  });
}

/** An address as proofs name it (RFC 9449 4.2). */
const withoutQuery = (url: string): string => new URL(url).origin + new URL(url).pathname;

/** What an MCP client sends first. */
const initialize = {
  ...{ jsonrpc: "2.0", id: 1, method: "initialize" },
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "idp check api", version: "1" } },
};

function requestFor(
  { api, now }: ApiRun,
  key: ReturnType<typeof newProofKey>,
  token: string | null,
  change: Change,
  nonce: ProofParts,
): Outgoing {
  const { form, proof } = change;
  const url = new URL(change.url ?? api.url);
  for (const [name, value] of Object.entries(change.query ?? {})) url.searchParams.set(name, value);
  const method = form === undefined ? api.method : "POST";
  const scheme = change.scheme ?? (api.dpop ? "DPoP" : "Bearer");
  const proven = change.proofOf ?? token ?? url.searchParams.get("access_token") ?? form?.get("access_token") ?? null;
  const made = (): string => {
    const request = { method, url: withoutQuery(url.href), token: proven ?? "", now: now() };
    return proofFor(change.key ?? key, request, { ...nonce, ...proof });
  };
  const needsProof = proven !== null && api.dpop && proof !== null;
  return {
    ...{ method, url: url.href.replace(/#.*$/s, "") },
    headers: {
      accept: api.mcp ? "application/json, text/event-stream" : "application/json, */*;q=0.5",
      "user-agent": "idp check api",
      ...(token !== null && { authorization: `${scheme} ${token}` }),
      ...(needsProof && { dpop: change.sameProof ?? made() }),
    },
    ...(form !== undefined && { form }),
    ...(form === undefined && api.mcp && method === "POST" && { json: initialize }),
  };
}
