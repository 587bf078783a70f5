import type { ScimRequest } from "../../scim/profiles.ts";
import { baseOf, type ScimResponse } from "../../scim/sending.ts";
import type { Sender } from "./sender.ts";

/** Writes down requests in place of sending them, and answers as an app does that has nobody of this name. */

/** A request that was not sent. */
export interface PlannedRequest {
  readonly method: string;
  readonly url: string;
  readonly body: unknown;
}

export function drySender(url: string): Sender & { readonly requests: readonly PlannedRequest[] } {
  const requests: PlannedRequest[] = [];
  const base = baseOf(url);
  return {
    requests,
    stopped: null,
    ask({ request }) {
      requests.push({ method: request.method, url: `${base}${request.path}`, body: request.body ?? null });
      return Promise.resolve(answerTo(request));
    },
  };
}

function answerTo({ method, path, body }: ScimRequest): ScimResponse {
  if (method === "POST") {
    const name = String(body?.["userName"] ?? body?.["displayName"]);
    return { status: 201, json: { ...body, id: `id-of-${name}` }, problem: null };
  }
  if (method === "GET" && path.includes("?")) {
    return { status: 200, json: { totalResults: 0, Resources: [] }, problem: null };
  }
  return { status: 200, json: body ?? {}, problem: null };
}
