import { OperationError } from "../../core/errors.ts";
import { confirmed, grantOr, notConfirmed } from "../input/ask.ts";
import { commandOn } from "../../core/hint.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { findTarget } from "../target/target.ts";
import { count } from "../output/words.ts";

interface RevokeFlags {
  readonly user?: string;
  readonly client?: string;
}

/** `idp revoke`: grants by user and client, either alone, or one by its id; without any of them the grant is asked for. */
export async function revoke(
  cli: Invocation,
  given: string | undefined,
  flags: RevokeFlags,
  example: readonly string[] = ["idp", "revoke", "--user", "alice", "--client", "demo-app"],
): Promise<Outcome> {
  const { user, client } = flags;
  const named = user !== undefined || client !== undefined;
  checkArguments(given, named);
  const target = await findTarget(cli);
  const selection = named ? { user, client } : { grant: await grantOr(cli, target, given, example, "active") };
  if (named && (user === undefined || client === undefined)) {
    const whose = user === undefined ? `all users for ${client}` : `${user} for all clients`;
    if (!(await confirmed(cli, `Revoke the grants of ${whose}?`))) throw notConfirmed("nothing was revoked");
  }
  const result = await target.call("revoke", selection);
  return answer(
    result,
    ({ revoked }) =>
      revoked.length === 0
        ? "Nothing to revoke: no active grant."
        : [
            `Revoked ${count(revoked.length, "grant")}:`,
            ...revoked.map((grant) => `  ${grant.id}  ${grant.user} for ${grant.client}: ${grant.scope}`),
          ].join("\n"),
    {
      notes:
        result.revoked.length === 0
          ? []
          : [
              "Their tokens get 403 from now on. Users must consent again at the next sign-in. Sessions are kept.",
              target.where,
            ],
    },
  );
}

function checkArguments(grant: string | undefined, named: boolean): void {
  if (grant === undefined) return;
  if (grant === "-" || grant.split(".").length >= 3) {
    throw new OperationError("usage", "that looks like a token; this command revokes grants", {
      hint: { text: "To revoke one token", command: ["idp", "token", "revoke", "-"] },
    });
  }
  if (named) {
    throw new OperationError("usage", "give a grant id, or --user and --client, not both", {
      hint: { text: "For one grant", command: commandOn(["idp", "revoke"], grant) },
    });
  }
}
