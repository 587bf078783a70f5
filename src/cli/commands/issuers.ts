import type { IssuerView } from "../../core/records/issuers/issuer-view.ts";
import { filesIn } from "../../core/base/fixture-files/source.ts";
import { readFixtures } from "../../serve/fixture-files.ts";
import { confirmed, notConfirmed } from "../input/ask.ts";
import type { Invocation } from "../invocation.ts";
import { escapeLine } from "../output/escape.ts";
import { answer, type Outcome } from "../output/print.ts";
import type { Style } from "../output/style.ts";
import { pairs, table } from "../output/table.ts";
import { commandLine } from "../output/command-line.ts";
import { withStdin, withFixtures } from "../flags/fixtures.ts";
import { findTarget } from "../target/target.ts";
import type { Declare } from "../act.ts";
import { collect } from "../flags/flag-values.ts";
import { examples, type Command, type FlagsOf } from "../commander.ts";

/** `idp issuers`: the issuers beside the first one. */

const withAddFlags = (command: Command) =>
  command.option(
    "--fixtures <path>",
    "a fixture file or folder; repeatable (default: those of the first issuer)",
    collect,
  );
type AddFlags = FlagsOf<typeof withAddFlags>;

/** `idp issuers list` */
async function listIssuers(cli: Invocation): Promise<Outcome> {
  const issuers = await (await findTarget(cli)).call("issuers.list", {});
  const add = commandLine(cli)(["idp", "issuers", "add", "tenant-a"]);
  return answer(issuers, (shown, style) =>
    shown.length === 0
      ? `No issuers beside the first one. Add one: ${add}`
      : table(
          [
            { title: "NAME", value: ({ name }) => name },
            { title: "ISSUER", value: ({ issuer }) => issuer },
            { title: "USERS", value: ({ users }) => String(users) },
            { title: "CLIENTS", value: ({ clients }) => String(clients) },
            { title: "", value: ({ problem }) => problem ?? "", color: style.red, shrinks: true },
          ],
          shown,
          style,
          cli.width,
        ),
  );
}

/** `idp issuers show` */
async function showIssuer(cli: Invocation, name: string): Promise<Outcome> {
  const issuer = await (await findTarget(cli)).call("issuers.show", { name });
  return answer(issuer, describe);
}

function describe({ name, issuer, data, users, clients, grants, problem }: IssuerView, style: Style): string {
  const content = [
    ["users", String(users)] as const,
    ["clients", String(clients)] as const,
    ["grants", String(grants)] as const,
  ];
  return [
    style.bold(name),
    pairs(
      [
        ["issuer", issuer],
        ...(data === null ? [] : [["data", data] as const]),
        ...(problem === null ? content : [["problem", escapeLine(problem)] as const]),
      ],
      style,
    ),
  ].join("\n");
}

/** `idp issuers add` */
async function addIssuer(cli: Invocation, name: string, { fixtures }: AddFlags): Promise<Outcome> {
  const read = fixtures && (await readFixtures(await withStdin(cli, fixtures), process.cwd()));
  const sources = read && filesIn(read.sources);
  const target = await findTarget(cli);
  const made = await withFixtures(sources ?? [], () => target.call("issuers.add", { name, sources }));
  return answer(made, ({ issuer }) => `Added ${name}: ${issuer}`, { notes: [target.where] });
}

/** `idp issuers remove` */
async function removeIssuer(cli: Invocation, name: string): Promise<Outcome> {
  const target = await findTarget(cli);
  const { users, clients } = await target.call("issuers.show", { name });
  const question = `Remove the issuer ${name} with its ${users} users, ${clients} clients and everything else?`;
  if (!(await confirmed(cli, question))) throw notConfirmed("nothing was removed");
  await target.call("issuers.remove", { name });
  return answer({ removed: name }, ({ removed }) => `Removed ${removed} and all of its data.`, {
    notes: [target.where],
  });
}

/** Declares the commands of `idp issuers`. */
export const declareIssuers: Declare = (group, { act }) => {
  group.addHelpText(
    "after",
    "\nAn issuer is at /i/NAME below the first one. Any command works on it with\n--issuer NAME, or with --url and its address.\n",
  );
  group
    .command("list", { isDefault: true })
    .description("list issuers")
    .addHelpText("after", examples("idp issuers list", "idp issuers list --json | jq -r '.[].issuer'"))
    .action(act(listIssuers));
  group
    .command("show")
    .description("show an issuer")
    .argument("<issuer>", "its name")
    .addHelpText("after", examples("idp issuers show tenant-a", "idp issuers show tenant-a --json"))
    .action(act(showIssuer));
  withAddFlags(group.command("add"))
    .description("make an issuer")
    .argument("<name>", "1 to 64 letters, digits, _ and -")
    .addHelpText("after", examples("idp issuers add tenant-a", "idp issuers add tenant-b --fixtures tenant-b.yaml"))
    .action(act(addIssuer));
  group
    .command("remove")
    .description("remove an issuer and all of its data")
    .argument("<issuer>", "its name")
    .addHelpText("after", examples("idp issuers remove tenant-a", "idp issuers remove tenant-a --yes"))
    .action(act(removeIssuer));
};
