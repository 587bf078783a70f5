import type { ExpireInput, ExpireResult } from "../../core/controls/expire.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { count } from "../output/words.ts";
import { findTarget } from "../target/target.ts";

export type ExpireFlags = ExpireInput;

/** `idp expire` */
export async function expire(cli: Invocation, flags: ExpireFlags): Promise<Outcome> {
  const target = await findTarget(cli);
  const result = await target.call("expire", { ...flags });
  const tokens = result.expired.some((kind) => kind === "access" || kind === "refresh");
  return answer(result, describe, {
    notes: [...(tokens ? ["Tokens that are issued from now on have their usual times."] : []), target.where],
  });
}

function describe({ user, client, expired, sessions, codes }: ExpireResult): string {
  const names = {
    access: "access tokens",
    refresh: "refresh tokens",
    sessions: count(sessions, "session"),
    codes: count(codes, "code"),
  };
  const whose = [user ?? "all users", client ?? "all clients"].join(" for ");
  return `Expired: ${expired.map((kind) => names[kind]).join(", ")} of ${whose}.`;
}
