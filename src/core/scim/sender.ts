import { setTimeout as delay } from "node:timers/promises";
import { refusalOf } from "../errors.ts";
import type { Client, ScimServer } from "../../store/store.ts";
import { jsonObjectIn, isObject, type JsonObject } from "../../text/json.ts";
import {
  isGood,
  reasonOf,
  adviceFor,
  authorizationOf,
  baseOf,
  Repeats,
  secretsOf,
  type ScimResponse,
} from "../../scim/sending.ts";
import type { ScimRequest } from "../../scim/profiles.ts";
import { showClock } from "../clock.ts";
import type { Context } from "../context.ts";
import type { Reach } from "../../net/address.ts";
import { reachOf, send } from "../outbound.ts";
import { without } from "../redaction/values.ts";

/** Sends requests to the SCIM server of a client, repeats those that it may take later, and records each in the ledger. */

/** Bytes of the answer. */
const maxBytes = 1_048_576;

/** What the app is sent, and for whom. */
interface Outgoing {
  readonly request: ScimRequest;
  /** Username; null: it is about a group. */
  readonly user: string | null;
}

export interface Sender {
  /** @returns the answer, without the token where the app repeats it; of a 401, what to do in place of the app's own words */
  ask(outgoing: Outgoing): Promise<ScimResponse>;
  /** Why nothing more is sent: the app refused the token, or was never reached; null: it goes on. */
  readonly stopped: string | null;
}

/** Takes the token out of an answer, names included. */
function cleanerOf(scim: ScimServer): (value: unknown) => unknown {
  const text = without(secretsOf(scim.token));
  const clean = (value: unknown): unknown => {
    if (typeof value === "string") return text(value);
    if (Array.isArray(value)) return value.map(clean);
    if (!isObject(value)) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [text(name), clean(one)]));
  };
  return clean;
}

/** @param signal ends the waits, when the server closes */
export function createSender(ctx: Context, client: Client, scim: ScimServer): Sender {
  const clean = cleanerOf(scim);
  const base = baseOf(scim.url);
  const authorization = authorizationOf(scim.token);
  let isReached = false;
  let stopped: string | null = null;

  /** @returns the answer, and its `Retry-After` */
  async function once({
    request,
    user,
  }: Outgoing): Promise<ScimResponse & { readonly retryAfter?: string | undefined }> {
    const url = `${base}${request.path}`;
    const time = ctx.now();
    const began = performance.now();
    const answer = await askOnce(url, request, { authorization, clean, reach: reachOf(ctx, client) });
    record(ctx, client, { request, user }, { url, time, ms: Math.round(performance.now() - began), answer });
    return answer;
  }

  return {
    get stopped() {
      return stopped;
    },
    async ask(outgoing) {
      if (stopped !== null) return { status: 0, json: null, problem: `not sent: ${stopped}` };
      const repeats = new Repeats(outgoing.request);
      for (;;) {
        const { retryAfter, ...answer } = await once(outgoing);
        const { status } = answer;
        isReached ||= status !== 0;
        if (status === 401) stopped = refusedToken(client);
        const pause = repeats.after(status, retryAfter, ctx.clock.unmoved());
        if (pause !== null) {
          await wait(ctx, pause);
          continue;
        }
        if (status === 0 && !isReached) stopped = "the app does not answer";
        return status === 401 ? { ...answer, problem: stopped } : answer;
      }
    },
  };
}

/** Ends early when the server closes. */
const wait = (ctx: Context, ms: number): Promise<unknown> =>
  delay(ms, null, { signal: ctx.ledger.closing }).catch(() => undefined);

const refusedToken = ({ client_id: id }: Client): string =>
  `the app refused the token: clients edit ${id} --scim-token-stdin`;

/** The one place that sends. An address of the operator may be anywhere but where clouds keep their credentials. */
async function askOnce(
  url: string,
  { method, body }: ScimRequest,
  {
    authorization,
    clean,
    reach,
  }: {
    readonly authorization: string | undefined;
    readonly clean: (value: unknown) => unknown;
    readonly reach: Reach;
  },
): Promise<ScimResponse & { readonly retryAfter?: string | undefined }> {
  const text = body === undefined ? undefined : JSON.stringify(body);
  const headers = {
    accept: "application/scim+json, application/json",
    ...(authorization !== undefined && { authorization }),
    ...(text !== undefined && {
      "content-type": "application/scim+json",
      "content-length": String(Buffer.byteLength(text)),
    }),
  };
  try {
    const reply = await send(url, {
      whole: { method, headers, body: text },
      reach,
      sizeLimit: maxBytes,
    });
    const json = jsonObjectIn(reply.text);
    return {
      status: reply.status,
      json: json === null ? null : (clean(json) as JsonObject),
      problem: null,
      retryAfter: reply.headers["retry-after"],
    };
  } catch (error) {
    return { status: 0, json: null, problem: String(clean((error as Error).message)) };
  }
}

function record(
  ctx: Context,
  client: Client,
  { request, user }: Outgoing,
  {
    url,
    time,
    ms,
    answer,
  }: { readonly url: string; readonly time: number; readonly ms: number; readonly answer: ScimResponse },
): void {
  const { method, body } = request;
  ctx.ledger.add({
    ...{ time, endpoint: "scim", method, path: url.replace(/[?#].*$/s, ""), url },
    clock: ctx.clock.isMoved() ? showClock(ctx).offset : null,
    ...{ body, authorization: undefined, dpop: undefined, status: answer.status, isSent: true, ms },
    notes: {
      ...{ client: client.client_id, user, outcome: { kind: "scim-answered", values: { method } } },
      ...(answer.json !== null && { answer: { json: JSON.stringify(answer.json) } }),
      ...(!isGood(answer) && {
        refusal: refusalOf({ message: reasonOf(answer), rule: "RFC 7644 3", fix: adviceFor(request) }),
      }),
    },
  });
}
