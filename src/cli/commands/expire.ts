import type { ExpireInput, ExpireResult } from "../../core/testing/controls/expire.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { count } from "../output/words.ts";
import { findTarget } from "../target/target.ts";
import { examples } from "../commander.ts";
import type { Declare } from "../act.ts";

type ExpireFlags = ExpireInput;

/** `idp expire` */
async function expire(cli: Invocation, flags: ExpireFlags): Promise<Outcome> {
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

/** Declares `idp expire`. */
export const declareExpire: Declare = (command, { act }) => {
  command
    .option("--user <username>", "of this user")
    .option("--client <client_id>", "of this client")
    .option("--all", "of all users and all clients")
    .optionsGroup("What (default: --access):")
    .option("--access", "access tokens")
    .option("--refresh", "refresh tokens")
    .option("--sessions", "browser sessions; with --client: the sessions of users who granted it access")
    .option("--codes", "authorization codes and device codes")
    .addHelpText(
      "after",
      `
From now on the server refuses these tokens: UserInfo answers 401, and a refresh
fails with invalid_grant. An API that verifies access tokens by the keys alone
accepts them until their exp.`,
    )
    .addHelpText(
      "after",
      examples(
        "idp expire --user alice --client demo-app",
        "idp expire --user alice --access --refresh --sessions",
        "idp expire --all --codes",
      ),
    )
    .action(act(expire));
};
