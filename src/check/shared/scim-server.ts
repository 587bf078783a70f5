import type { LookupFunction } from "node:net";
import { authorizationOf, baseOf, Repeats, type ScimResponse, type ScimToken } from "../../scim/sending.ts";
import type { ScimRequest } from "../../scim/profiles.ts";
import { jsonObjectIn } from "../../text/json.ts";
import { Problem } from "../../client/check.ts";
import { send } from "../../client/http.ts";

/** The SCIM server of an app, from outside. */

/** Where it is, and how it recognizes its client. */
export interface ScimApp {
  readonly url: string;
  /** Absent: it lets everybody in. */
  readonly token?: ScimToken | undefined;
}

export interface Reply extends ScimResponse {
  /** In lower case, without parameters; empty: none was named. */
  readonly mediaType: string;
  readonly location: string | null;
}

interface AppWire {
  /** How it waits before it sends a request again. @param milliseconds */
  readonly wait: (milliseconds: number) => Promise<unknown>;
  readonly now: () => number;
  /** Resolves the name of the app, and refuses addresses that may not be reached. */
  readonly lookup: LookupFunction;
}

/** Sends a request, and again where it is refused for now. @param token in place of the right one; null: none */
export type Ask = (request: ScimRequest, token?: ScimToken | null) => Promise<Reply>;

export function askerOf({ url, token: right }: ScimApp, { wait, now, lookup }: AppWire): Ask {
  const base = baseOf(url);

  async function once({ method, path, body }: ScimRequest, token: ScimToken | null | undefined) {
    const authorization = authorizationOf(token ?? undefined);
    try {
      const { status, headers, text } = await send({
        ...{ method, url: `${base}${path}`, lookup, json: body },
        headers: {
          ...{ accept: "application/scim+json, application/json", "user-agent": "idp check scim" },
          ...(authorization !== undefined && { authorization }),
          ...(body !== undefined && { "content-type": "application/scim+json" }),
        },
      });
      const mediaType = ((headers["content-type"] ?? "").split(";")[0] ?? "").trim().toLowerCase();
      const reply: Reply = {
        ...{ status, json: jsonObjectIn(text), problem: null, mediaType, location: headers.location ?? null },
      };
      return { reply, retryAfter: headers["retry-after"] };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const reply: Reply = { status: 0, json: null, problem: error.message, mediaType: "", location: null };
      return { reply, retryAfter: undefined };
    }
  }

  return async (request, token = right) => {
    const repeats = new Repeats(request);
    for (;;) {
      const { reply, retryAfter } = await once(request, token);
      const pause = repeats.after(reply.status, retryAfter, now());
      if (pause === null) return reply;
      await wait(pause);
    }
  };
}
