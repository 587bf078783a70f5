import type { LookupFunction } from "node:net";
import { Problem } from "../../client/check.ts";
import { send, type Outgoing, type Reply } from "../../client/http.ts";
import { isAtLoopback, openListeners } from "../frame/listener.ts";
import type { CheckRun, Verdicts } from "../frame/run.ts";
import type { Case } from "../frame/verdict.ts";
import type { ApiControl, Owner } from "./control.ts";
import { newProofKey, proofFor, type ProofKey, type ProofParts } from "./dpop.ts";
import { claimsOf } from "../shared/tokens.ts";
import { challengesOf } from "./judge.ts";

/** What a case works with: the API, tokens, and proofs (RFC 9449). */

/** The API under test. */
export interface Api {
  readonly url: string;
  readonly method: string;
  /** A scope that the API asks for; null: none is named. */
  readonly needsScope: string | null;
  /** Tokens are bound to a key, and sent with proofs (RFC 9449). */
  readonly dpop: boolean;
  /** It is an MCP server, which gets an `initialize`. */
  readonly mcp: boolean;
  /** An address of what belongs to a user, with `{user}` for its owner; null: none is named. */
  readonly ownedUrl: string | null;
  readonly ownedBy: "sub" | "username" | "email";
  /** The `acr` that the API asks for; null: none. */
  readonly needsAcr: string | null;
  /** Seconds that a sign-in may be ago; null: as long as it likes. */
  readonly maxAge: number | null;
  /** Only tokens of users may be let in. */
  readonly usersOnly: boolean;
}

/** What is sent in place of the usual request. */
export interface Change {
  /** In place of the address of the API. */
  readonly url?: string;
  /** In place of `Bearer` or `DPoP`. */
  readonly scheme?: string;
  /** Members of the DPoP proof that are to be otherwise; null: no proof. */
  readonly proof?: ProofParts | null;
  /** The token of the proof; absent: the one that is sent, wherever that is. */
  readonly proofOf?: string;
  /** Makes the proof in place of the key to which the token is bound. */
  readonly key?: ProofKey;
  /** A proof that was made before. */
  readonly sameProof?: string;
  /** A form, which is posted. */
  readonly form?: URLSearchParams;
  /** Parameters of the address. */
  readonly query?: Readonly<Record<string, string>>;
}

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

export type Attempt = Awaited<ReturnType<ReturnType<typeof attemptsOf>["begin"]>>;

export function attemptsOf(run: ApiRun) {
  const { api, control, restart, wait } = run;
  /** The key to which tokens are bound. */
  const key = newProofKey();
  const listeners = openListeners();
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

  return {
    async begin(_one: unknown, verdicts: Verdicts, over: AbortSignal) {
      let startFailure: string | null = null;
      return {
        ...{ api, control, key, verdicts, wait },
        /** @param token null: no credentials */
        send: sendOne,
        /** A proof for a request with this token. */
        prove(token: string): string {
          const { method, url } = api;
          return proofFor(key, { method, url: withoutQuery(url), token, now: run.now() }, nonceParts());
        },
        /** Why the API does not answer since it was started again for this case; null: it does, or was not started again. */
        get startFailure(): string | null {
          return startFailure;
        },
        /** Whether the API can reach the listeners of a case. */
        isAtLoopback: await isAtLoopback(api.url),
        /** A good access token, or a changed one: the fields of `POST token/issue`. */
        token: (change: Readonly<Record<string, unknown>> = {}): Promise<string> =>
          control.issue({ ...bound(change), ...change }),
        /** A good token of a client that speaks for itself. @param asUser its `sub` is a user's */
        serviceToken: (asUser: boolean): Promise<string> => control.issueService(bound({}), asUser),
        /** The address of what belongs to a user. */
        owned: (owner: Owner): string =>
          (api.ownedUrl ?? api.url).replaceAll("{user}", encodeURIComponent(owner[api.ownedBy] ?? "")),
        /** `aud` of good tokens. */
        audience: async (): Promise<unknown> => claimsOf(await control.issue({}))["aud"],
        /** An address of this machine, until the case ends. */
        listen: (bytes: (url: string) => string) => listeners.listen(over, bytes),
        /** A document of the API, at an address that may be asked. */
        async read(url: string): Promise<Reply> {
          run.mayRead(url);
          return send({ method: "GET", url, lookup: run.lookup, bodyLimit });
        },
        /** Lets endpoints of idp answer 503, and starts the API again. */
        async takeDown(endpoints: readonly string[]): Promise<void> {
          over.throwIfAborted();
          for (const endpoint of endpoints) await control.takeDown(endpoint);
          if (restart !== null) startFailure = await restart();
        },
      };
    },
    async tidy(one: Pick<Case<never>, "restarts">): Promise<string | null> {
      await listeners.closeAll();
      await control.removeFaults();
      return one.restarts === true && restart !== null ? restart() : null;
    },
  };
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
