/*
 * cli/commands/grants: `grants` and `revoke`.
 */
import type { GrantView } from "../../core/sign-in/grants/admin.ts";
import { grantOr } from "../input/ask.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import type { Style } from "../output/style.ts";
import { pairs, table } from "../output/table.ts";
import { timeThere } from "../target/clock.ts";
import { findTarget } from "../target/target.ts";
import { since } from "../output/words.ts";
import { hintText } from "../../core/base/hint.ts";
import { commandLine } from "../output/command-line.ts";
import { examples } from "../commander.ts";
import type { Declare } from "../act.ts";
import { revoke } from "./revoke.ts";

/** `idp grants list` */
async function listGrants(
  cli: Invocation,
  flags: { readonly user?: string; readonly client?: string },
): Promise<Outcome> {
  const target = await findTarget(cli);
  const grants = await target.call("grants.list", { user: flags.user, client: flags.client });
  const now = await timeThere(cli, target);
  return answer(grants, (shown, style) =>
    shown.length === 0
      ? hintText(
          {
            text: "No grants yet. A user creates one by allowing access to a client. To create one",
            command: ["idp", "issue", "grant"],
          },
          commandLine(cli),
        )
      : table(
          [
            { title: "GRANT", value: (grant) => grant.id },
            { title: "USER", value: (grant) => grant.user },
            { title: "CLIENT", value: (grant) => grant.client },
            { title: "STATUS", value: (grant) => grant.status, color: (status, grant) => paint(grant, status, style) },
            { title: "CHANGED", value: (grant) => since(grant.updatedAt, now) },
            { title: "SCOPE", value: (grant) => grant.scope },
          ],
          shown,
          style,
          cli.width,
        ),
  );
}

const paint = ({ status }: GrantView, text: string, style: Style): string =>
  status === "active" ? style.green(text) : style.dim(text);

/** The lines of one grant, for `grants show` and `issue grant`. */
export const describeGrant = (grant: GrantView, style: Style, now: number): string =>
  [
    `${style.bold(grant.id)}  ${grant.user}  ${grant.client}  ${paint(grant, grant.status, style)}`,
    pairs(
      [
        ["scope", grant.scope],
        ...(grant.by === undefined ? [] : [["granted by", grant.by] as const]),
        ["created", `${grant.createdAt}  ${since(grant.createdAt, now)}`],
        ["updated", `${grant.updatedAt}  ${since(grant.updatedAt, now)}`],
        ...(grant.revokedAt === null
          ? []
          : [["revoked", `${grant.revokedAt}  ${since(grant.revokedAt, now)}`] as const]),
      ],
      style,
    ),
  ].join("\n");

/** `idp grants show` */
async function showGrant(cli: Invocation, given: string | undefined): Promise<Outcome> {
  const target = await findTarget(cli);
  const id = await grantOr(cli, target, given, ["idp", "grants", "show", "GRANT_ID"], "all");
  const grant = await target.call("grants.show", { id });
  const now = await timeThere(cli, target);
  return answer(grant, (shown, style) => describeGrant(shown, style, now));
}

/** Declares the commands of `idp grants`. */
export const declareGrants: Declare = (grants, { act }) => {
  grants
    .command("list", { isDefault: true })
    .description("list grants, active and revoked")
    .option("--user <username>", "only those of this user")
    .option("--client <client_id>", "only those of this client")
    .addHelpText("after", examples("idp grants list", "idp grants list --user alice --json"))
    .action(act(listGrants));
  grants
    .command("show")
    .description("show one grant")
    .argument("[grant_id]")
    .addHelpText("after", examples("idp grants show g_8fK2aQxYz01b", "idp grants show g_8fK2aQxYz01b --json"))
    .action(act(showGrant));
  grants
    .command("revoke")
    .description("revoke one grant: all tokens of that user and client become invalid, permanently")
    .argument("[grant_id]")
    .addHelpText("after", examples("idp grants revoke g_8fK2aQxYz01b", "idp grants revoke g_8fK2aQxYz01b --json"))
    .action(act((cli, id: string | undefined) => revoke(cli, id, {}, ["idp", "grants", "revoke", "GRANT_ID"])));
};
