import { setTimeout as delay } from "node:timers/promises";
import type { Client, ScimServer } from "../../store/store.ts";
import {
  reasonOf,
  adviceFor,
  authorizationOf,
  baseOf,
  Repeats,
  secretsOf,
  type ScimResponse,
} from "../../scim/sending.ts";
import type { ScimRequest } from "../../scim/profiles.ts";
import { without } from "../../text/redacted.ts";
import type { Context } from "../context.ts";
import { deliver, type Delivered, type Message } from "../base/deliver.ts";

/** Sends requests to the SCIM server of a client, and repeats those that it may take later. */

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

export function createSender(ctx: Context, client: Client, scim: ScimServer): Sender {
  const clean = without(secretsOf(scim.token));
  const base = baseOf(scim.url);
  const authorization = authorizationOf(scim.token);
  let isReached = false;
  let stopped: string | null = null;

  function once({ request, user }: Outgoing): Promise<Delivered> {
    const { method, path, body } = request;
    const message: Message = {
      endpoint: "scim",
      client,
      user,
      method,
      url: `${base}${path}`,
      headers: {
        accept: "application/scim+json, application/json",
        ...(authorization !== undefined && { authorization }),
        ...(body !== undefined && { "content-type": "application/scim+json" }),
      },
      json: body,
      clean,
      outcome: { kind: "scim-answered", values: { method } },
      needs: maxBytes,
    };
    return deliver(ctx, message, (answer) => ({
      message: reasonOf(answer),
      rule: "RFC 7644 3",
      fix: adviceFor(request),
    }));
  }

  return {
    get stopped() {
      return stopped;
    },
    async ask(outgoing) {
      if (stopped !== null) return { status: 0, json: null, problem: `not sent: ${stopped}` };
      const repeats = new Repeats(outgoing.request);
      for (;;) {
        const { status, json, problem, retryAfter } = await once(outgoing);
        isReached ||= status !== 0;
        if (status === 401) stopped = refusedToken(client);
        const pause = repeats.after(status, retryAfter, ctx.clock.unmoved());
        if (pause !== null) {
          await wait(ctx, pause);
          continue;
        }
        if (status === 0 && !isReached) stopped = "the app does not answer";
        return { status, json, problem: status === 401 ? stopped : problem };
      }
    },
  };
}

/** Ends early when the server closes. */
const wait = (ctx: Context, ms: number): Promise<unknown> =>
  delay(ms, null, { signal: ctx.ledger.closing }).catch(() => undefined);

const refusedToken = ({ client_id: id }: Client): string =>
  `the app refused the token: clients edit ${id} --scim-token-stdin`;
