import { sessionOr } from "../input/ask.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { table } from "../output/table.ts";
import { timeThere } from "../target/clock.ts";
import { findTarget } from "../target/target.ts";
import { count, since } from "../output/words.ts";
import { examples } from "../commander.ts";
import type { Declare } from "../act.ts";

/** `idp sessions list` */
async function listSessions(cli: Invocation, flags: { readonly user?: string }): Promise<Outcome> {
  const target = await findTarget(cli);
  const sessions = await target.call("sessions.list", { user: flags.user });
  const now = await timeThere(cli, target);
  return answer(sessions, (shown, style) =>
    shown.length === 0
      ? "No sessions: nobody is signed in."
      : table(
          [
            { title: "SESSION", value: (session) => session.id },
            { title: "USER", value: (session) => session.user },
            { title: "SIGNED IN", value: (session) => since(session.signedInAt, now) },
            { title: "EXPIRES", value: (session) => since(session.expiresAt, now) },
          ],
          shown,
          style,
          cli.width,
        ),
  );
}

/** Each user once, with how many sessions it had. */
function usersOf(ended: readonly { readonly user: string }[]): string {
  const users = ended.map(({ user }) => user);
  return [...new Set(users)]
    .map((name) => [name, users.filter((user) => user === name).length] as const)
    .map(([name, many]) => (many === 1 ? name : `${name} (${many})`))
    .join(", ");
}

/** `idp sessions end` */
async function endSessions(
  cli: Invocation,
  given: string | undefined,
  flags: { readonly user?: string },
): Promise<Outcome> {
  const target = await findTarget(cli);
  const id = flags.user === undefined ? await sessionOr(cli, target, given) : given;
  const result = await target.call("sessions.end", { id, user: flags.user });
  return answer(
    result,
    ({ ended, notices }) =>
      [
        ended.length === 0
          ? "Nothing to end: no session."
          : `Ended ${count(ended.length, "session")}: ${usersOf(ended)}`,
        ...notices.map(({ client, ok, detail }) => `  ${ok ? "notified" : "could not notify"} ${client}: ${detail}`),
      ].join("\n"),
    {
      notes: result.ended.length === 0 ? [] : ["Grants and tokens stay. The users must sign in again.", target.where],
    },
  );
}

/** Declares the commands of `idp sessions`. */
export const declareSessions: Declare = (sessions, { act }) => {
  sessions
    .command("list", { isDefault: true })
    .description("list the users who are signed in")
    .option("--user <username>", "only those of this user")
    .addHelpText("after", examples("idp sessions list", "idp sessions list --user alice --json"))
    .action(act(listSessions));
  sessions
    .command("end")
    .description("end sessions, and notify clients by back-channel logout")
    .argument("[session_id]")
    .option("--user <username>", "end all sessions of this user")
    .addHelpText("after", examples("idp sessions end --user alice", "idp sessions end s_7yQ2mXk0aLw3"))
    .action(act(endSessions));
};
