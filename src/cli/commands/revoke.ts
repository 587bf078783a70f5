import { OperationError } from "../../core/base/errors.ts";
import { confirmed, grantOr, notConfirmed } from "../input/ask.ts";
import { commandOn } from "../../core/base/hint.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { findTarget, type Target } from "../target/target.ts";
import { count } from "../output/words.ts";
import type { Declare } from "../act.ts";
import { examples, type Command, type FlagsOf } from "../commander.ts";

const withRevokeFlags = (command: Command) =>
  command
    .option("--user <username>", "the grants of this user")
    .option("--client <client_id>", "the grants for this client")
    .option("--all", "all grants of all users");
type RevokeFlags = FlagsOf<typeof withRevokeFlags>;

/**
 * `idp revoke`: grants by user and client, either alone, one by its id, or all; without any of them the grant is asked for. The operation `revoke`
 * does it: `revokeGrants` in core/sign-in/grants/revoke.ts.
 */
export async function revoke(
  cli: Invocation,
  given: string | undefined,
  flags: RevokeFlags,
  example: readonly string[] = ["idp", "revoke", "--user", "USERNAME", "--client", "CLIENT_ID"],
): Promise<Outcome> {
  const { user, client, all } = flags;
  const named = user !== undefined || client !== undefined || all === true;
  checkArguments(given, named);
  const target = await findTarget(cli);
  const selection = named ? flags : { grant: await grantOr(cli, target, given, example, "active") };
  if (named && (user === undefined || client === undefined)) {
    const whose = `${user ?? "all users"} for ${client ?? "all clients"}`;
    const find = async (): Promise<void> => {
      if (user !== undefined) await target.call("users.show", { username: user });
      if (client !== undefined) await target.call("clients.show", { client_id: client });
    };
    if (!(await confirmed(cli, `Revoke the grants of ${whose}?`, { find }))) throw notConfirmed("nothing was revoked");
  }
  const result = await target.call("revoke", selection);
  const isOfSaml =
    client !== undefined && (await target.call("clients.show", { client_id: client }))["saml"] !== undefined;
  const aboutSaml = isOfSaml
    ? [`${client} is a service provider of SAML, which has no grants: idp sessions end ends sessions.`]
    : [];
  const others = result.revoked.length > 0 || user === undefined ? [] : await granted(target, user);
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
          ? [...aboutSaml, ...others]
          : [
              "Their tokens get 403 from now on. Users must consent again at the next sign-in. Sessions are kept.",
              target.where,
            ],
    },
  );
}

/** The clients to which a user did grant something, where the one that was named is not among them. */
async function granted(target: Target, user: string): Promise<readonly string[]> {
  const grants = await target.call("grants.list", { user });
  const clients = grants.filter(({ status }) => status === "active").map(({ client }) => client);
  return clients.length === 0 ? [] : [`${user} has grants for ${clients.join(", ")}.`];
}

function checkArguments(grant: string | undefined, named: boolean): void {
  if (grant === undefined) return;
  if (grant === "-" || grant.split(".").length >= 3) {
    throw new OperationError("usage", "that looks like a token; this command revokes grants", {
      hint: { text: "To revoke one token", command: ["idp", "token", "revoke", "-"] },
    });
  }
  if (named) {
    throw new OperationError("usage", "give a grant id, or --user, --client or --all, not both", {
      hint: { text: "For one grant", command: commandOn(["idp", "revoke"], grant) },
    });
  }
}

/** Declares `idp revoke`. */
export const declareRevoke: Declare = (command, { act }) => {
  withRevokeFlags(command)
    .argument("[grant_id]")
    .addHelpText("after", examples("idp revoke --user alice --client demo-app", "idp revoke --client demo-app --yes"))
    .action(act((cli, id: string | undefined, flags: RevokeFlags) => revoke(cli, id, flags)));
};
