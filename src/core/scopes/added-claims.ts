import type { JsonObject } from "../../text/json-object.ts";
import type { OnToken, OnTokenInput } from "../context.ts";
import { HookError } from "../errors.ts";
import type { Client, User } from "../../store/store.ts";
import { isProtocolClaim } from "./claims.ts";

/** The function `onToken` of `createIdp`, which adds claims to tokens. */

/** What the function adds to a token of this subject. @throws {HookError} */
export async function addedClaims(
  onToken: OnToken,
  kind: OnTokenInput["kind"],
  { client, user }: { readonly client: Pick<Client, "client_id">; readonly user: Pick<User, "username"> | null },
): Promise<JsonObject> {
  try {
    const given: unknown = await onToken({ kind, client: client.client_id, user: user?.username ?? null });
    if (given === undefined) return {};
    if (typeof given !== "object" || given === null || Array.isArray(given))
      throw new Error("it must return an object of claims");
    const taken = Object.keys(given).find((name) => name === "email" || isProtocolClaim(name));
    if (taken !== undefined) throw new Error(`it returned the claim "${taken}", which only the server sets`);
    return JSON.parse(JSON.stringify(given)) as JsonObject;
  } catch (cause) {
    throw new HookError("onToken", cause);
  }
}
