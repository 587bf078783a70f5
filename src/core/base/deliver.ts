import { isObject, jsonObjectIn, type JsonObject } from "../../text/json.ts";
import type { Client } from "../../store/store.ts";
import { showClock } from "./clock.ts";
import type { Context } from "../context.ts";
import { refusalOf } from "./errors.ts";
import { reachOf, send } from "./outbound.ts";

/**
 * Tells an app something: back-channel logout, SCIM, Global Token Revocation. The request is sent, measured and recorded here, so that the
 * evidence is the same for each: status, duration, the JSON of the answer, and why it failed.
 */

/** What the ledger takes. */
type Exchange = Parameters<Context["ledger"]["add"]>[0];

/** What an app is told. */
export interface Message extends Pick<Exchange, "method" | "url"> {
  readonly endpoint: "backchannel_logout" | "scim" | "global_token_revocation";
  readonly client: Client;
  /** Username; null: it is about a group. */
  readonly user: string | null;
  readonly headers: Readonly<Record<string, string>>;
  /** The header `Authorization` as the ledger keeps it. Absent: its token is a secret that lasts, and is not kept. */
  readonly authorization?: string;
  /** The body; neither: there is none. */
  readonly form?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** Takes out what opens something, where the app repeats it. */
  readonly clean: (text: string) => string;
  readonly outcome: NonNullable<Exchange["notes"]["outcome"]>;
  /** Bytes of an answer without which the work cannot go on. Absent: the status counts alone, and a refusal is read as far as it comes. */
  readonly needs?: number;
}

export interface Delivered {
  /** 0: there was no answer. */
  readonly status: number;
  /** Whether the app took it. Real apps answer with any 2xx, whatever their standard says. */
  readonly ok: boolean;
  /** Milliseconds. */
  readonly ms: number;
  /** The body; null: it was not read, or is not a JSON object. */
  readonly json: JsonObject | null;
  /** Why there was no answer; null: there was one. */
  readonly problem: string | null;
  readonly retryAfter: string | undefined;
}

/** @param refuse what the ledger says where the app did not take it */
export async function deliver(
  ctx: Context,
  message: Message,
  refuse: (delivered: Delivered) => { readonly message: string; readonly rule: string; readonly fix: string },
): Promise<Delivered> {
  const { endpoint, client, user, method, url, form, json, authorization, outcome } = message;
  const time = ctx.now();
  const began = ctx.clock.real();
  const answer = await ask(ctx, message);
  const ms = Math.round(ctx.clock.real() - began);
  const delivered = { ...answer, ok: answer.status >= 200 && answer.status < 300, ms };
  ctx.ledger.add({
    ...{ time, endpoint, method, path: url.replace(/[?#].*$/s, ""), url, authorization, dpop: undefined },
    body: form ?? json,
    clock: ctx.clock.isMoved() ? showClock(ctx).offset : null,
    ...{ status: answer.status, isSent: true, ms },
    notes: {
      ...{ client: client.client_id, user, outcome },
      ...(answer.json !== null && { answer: { json: JSON.stringify(answer.json) } }),
      ...(!delivered.ok && { refusal: refusalOf(refuse(delivered)) }),
    },
  });
  return delivered;
}

async function ask(
  ctx: Context,
  { client, method, url, headers, form, json, clean, needs }: Message,
): Promise<Omit<Delivered, "ok" | "ms">> {
  const ofJson = json === undefined ? undefined : JSON.stringify(json);
  const body = form === undefined ? ofJson : new URLSearchParams(form).toString();
  const inPart = needs === undefined ? { reads: (status: number) => status >= 300, cutsBody: true } : {};
  try {
    const {
      status,
      headers: received,
      text: answered,
    } = await send(url, {
      ...{ message: { method, headers, body, ...inPart }, reach: reachOf(ctx, client) },
      ...(needs !== undefined && { sizeLimit: needs }),
    });
    const answer = jsonObjectIn(answered);
    return {
      status,
      json: answer && (cleaned(answer, clean) as JsonObject),
      problem: null,
      retryAfter: received["retry-after"],
    };
  } catch (error) {
    return { status: 0, json: null, problem: clean((error as Error).message), retryAfter: undefined };
  }
}

/** JSON whose texts a function changes, names included. */
function cleaned(value: unknown, clean: (text: string) => string): unknown {
  if (typeof value === "string") return clean(value);
  if (Array.isArray(value)) return value.map((one) => cleaned(one, clean));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [clean(name), cleaned(one, clean)]));
}
