/*
 * `idp scim`: the provisioning client. Push, status and test are operations; this says what they found.
 */
import { OperationError } from "../../core/base/errors.ts";
import type { PushReport } from "../../core/scim/push.ts";
import type { ScimStatus, ScimTest } from "../../core/scim/status.ts";
import { failureOf, type Failure } from "../failure.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import { showProgress } from "../output/progress.ts";
import type { Style } from "../output/style.ts";
import { count } from "../output/words.ts";
import { findTarget } from "../target/target.ts";
import { wholeNumber, collect } from "../flags/flag-values.ts";
import { profileNames, type Profile } from "../../scim/profiles.ts";
import type { Declare } from "../act.ts";
import { examples, type Command, type Flags, Option } from "../commander.ts";

interface ScimFlags {
  readonly client?: string;
  readonly profile?: Profile;
}

interface PushFlags extends ScimFlags {
  readonly user?: readonly string[];
  readonly dryRun?: true;
  readonly full?: true;
  readonly parallel?: number;
}

const listed = <T>(one: T | readonly T[]): readonly T[] => [one].flat() as readonly T[];

const nobody = "No client has scim.";

/** The lines of an error: its only line break is ours, and may be escaped for the terminal already. */
const linesOf = (error: string): readonly string[] => error.split(/\n|\\u000a/);

const refusal = (message: string): Failure => failureOf(new OperationError("refused", message));

const noServer = (url: string): Failure =>
  failureOf(new OperationError("no_server", `the SCIM server ${url} does not answer`, { hint: "Is the app running?" }));

type PushedUser = PushReport["users"][number];

/** Whether nobody answered a single request. */
const isUnreached = ({ users, groups }: PushReport): boolean =>
  [...users, ...groups].some(({ action }) => action === "failed") &&
  [...users, ...groups].every(({ status }) => status === null);

/** `idp scim push`: exit 0; 5 if the server does not answer; 6 if something failed. */
async function pushScim(cli: Invocation, flags: PushFlags): Promise<Outcome> {
  const { client, user, profile, dryRun, full, parallel } = flags;
  const target = await findTarget(cli);
  const progress = showProgress(cli, "Pushing users");
  const input = { client, user: user === undefined ? undefined : [...user], profile, dry_run: dryRun, full, parallel };
  const result = await target.call("scim.push", input, progress.update).finally(progress.end);
  const reports = listed(result);
  const unreached = reports.find(isUnreached);
  const failed = reports.flatMap(({ users, groups }) => [...users, ...groups]).filter((one) => one.action === "failed");
  const failure =
    unreached !== undefined
      ? noServer(unreached.url)
      : failed.length > 0
        ? refusal(`${failed.length} of what was sent failed; the next push tries again`)
        : null;
  return answer(
    result,
    (shown, style) =>
      listed(shown)
        .map((report) => (dryRun === true ? plannedText(report) : reportText(report, style)))
        .join("\n\n") || nobody,
    { failure, notes: dryRun === true ? ["Nothing was sent."] : [] },
  );
}

function reportText({ client, url, profile, users, groups }: PushReport, style: Style): string {
  const names = [...users.map(({ username }) => username), ...groups.map(({ name }) => name)];
  const wide = Math.max(...names.map(({ length }) => length), 1);
  const line = (
    { action, status, id, error }: Omit<PushedUser, "username">,
    what: string,
    name: string,
    more: string,
  ) => {
    const [reason = "", ...below] = linesOf(error ?? "");
    const told = error === null ? [id === null ? "" : `id ${id}`, more].filter((one) => one !== "").join(" ") : reason;
    const first = `  ${what.padEnd(11)} ${name.padEnd(wide)}  ${String(status ?? "-").padEnd(3)}  ${told}`.trimEnd();
    return [action === "failed" ? style.red(first) : first, ...below.map((one) => `            ${one}`)].join("\n");
  };
  const good = (all: readonly Pick<PushedUser, "action">[]) => all.filter(({ action }) => action !== "failed").length;
  return [
    `${client}  ${url}  ${profile}`,
    ...users.map((user) => line(user, user.action, user.username, user.action === "matched" ? "(userName)" : "")),
    ...groups.map((group) =>
      line(
        { ...group, id: null },
        group.action === "failed" ? "failed" : "group",
        group.name,
        count(group.members, "member"),
      ),
    ),
    `${good(users)} of ${users.length} users and ${good(groups)} of ${groups.length} groups are in sync`,
  ].join("\n");
}

const plannedText = ({ client, url, profile, requests = [] }: PushReport): string =>
  [
    `${client}  ${url}  ${profile}`,
    ...requests.map(({ method, url: address, body }) =>
      [`  ${method} ${address}`, ...(body === null ? [] : [`    ${JSON.stringify(body)}`])].join("\n"),
    ),
  ].join("\n");

/** `idp scim status` */
async function scimStatus(cli: Invocation, { client }: ScimFlags): Promise<Outcome> {
  const target = await findTarget(cli);
  const result = await target.call("scim.status", { client });
  return answer(
    result,
    (shown, style) =>
      listed(shown)
        .map((one) => statusText(one, style))
        .join("\n\n") || nobody,
  );
}

function statusText({ client, users, groups }: ScimStatus, style: Style): string {
  const line = (name: string, { id, pushedAt, pending, error }: Omit<ScimStatus["users"][number], "username">) => {
    const state = error !== null ? style.red(linesOf(error)[0] ?? "") : pending ? "pending" : "in sync";
    return `  ${name}  ${id ?? "-"}  ${pushedAt ?? "never"}  ${state}`;
  };
  return [
    client,
    ...users.map((user) => line(user.username, user)),
    ...groups.map((group) => line(`group ${group.name}`, group)),
  ].join("\n");
}

/** `idp scim test`: exit 0; 5 if the server does not answer; 6 if it answers otherwise. */
async function testScim(cli: Invocation, { client, profile }: ScimFlags): Promise<Outcome> {
  const target = await findTarget(cli);
  const result = await target.call("scim.test", { client, profile });
  const bad = listed(result).find(({ ok }) => !ok);
  const failure =
    bad === undefined
      ? null
      : bad.status === null
        ? noServer(bad.url)
        : refusal(`the connection of ${bad.client} failed`);
  return answer(
    result,
    (shown, style) =>
      listed(shown)
        .map((one) => testText(one, style))
        .join("\n") || nobody,
    {
      failure,
    },
  );
}

const testText = ({ client, url, profile, ok, status, error }: ScimTest, style: Style): string =>
  `${client}  ${url}  ${profile}  ${status ?? "-"}  ${ok ? style.green("works") : style.red(linesOf(error ?? "")[0] ?? "")}`;

/** `idp users leave`: exit 0; 6 if a signal failed. */
export async function leaveUser(cli: Invocation, username: string): Promise<Outcome> {
  const target = await findTarget(cli);
  const progress = showProgress(cli, "Telling the apps");
  const result = await target.call("users.leave", { username }, progress.update).finally(progress.end);
  const failed = result.signals.filter(({ error }) => error !== null);
  return answer(
    result,
    ({ user, signals }, style) =>
      [
        `${user} is suspended, and the sessions have ended.`,
        ...signals.map(({ client, signal, status, ms, error }) => {
          const line = `  ${client}  ${signal}  ${status ?? "-"}  ${ms} ms`;
          return error === null ? line : `${style.red(line)}  ${linesOf(error).join("\n    ")}`;
        }),
      ].join("\n"),
    {
      notes: [{ text: "Undo", command: ["idp", "users", "restore", result.user] }, target.where],
      failure:
        failed.length === 0
          ? null
          : refusal(`${count(failed.length, "signal")} failed; ${result.user} stays suspended`),
    },
  );
}

const profile = () =>
  new Option("--profile <profile>", "whose requests are sent (default: the client's own)").choices(profileNames);

/** Declares the commands of `idp scim`. */
export const declareScim: Declare = (scim, { act }) => {
  const withClient = <A extends unknown[], F extends Flags, G extends Flags>(command: Command<A, F, G>) =>
    command.option("--client <client_id>", "only this client (default: every client that has scim)");
  withClient(scim.command("push"))
    .description("send what differs from the last push")
    .option("--user <username>", "only this user, and no groups; repeatable", collect)
    .addOption(profile())
    .option("--dry-run", "print the requests and send none")
    .option("--full", "send everything, also what did not change")
    .addOption(new Option("--parallel <n>", "how many users at a time (default: 1)").argParser(wholeNumber))
    .addHelpText("after", examples("idp scim push", "idp scim push --client demo-app --profile entra --dry-run"))
    .action(act(pushScim));
  withClient(scim.command("status", { isDefault: true }))
    .description("list what each app has, and what is pending")
    .addHelpText(
      "after",
      examples("idp scim status", "idp scim status --client demo-app --json | jq '.users[] | select(.pending)'"),
    )
    .action(act(scimStatus));
  withClient(scim.command("test"))
    .description("ask what the console of the vendor asks at Test Connection")
    .addOption(profile())
    .addHelpText("after", examples("idp scim test", "idp scim test --client demo-app --profile okta"))
    .action(act(testScim));
};
