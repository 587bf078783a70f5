import type { Invocation } from "../invocation.ts";
import { OperationError } from "../../core/base/errors.ts";
import { answer, say, type Outcome } from "../output/print.ts";
import { cannotBeWritten, putFile } from "../output/put-file.ts";
import { findTarget, type Target } from "../target/target.ts";
import type { Hint } from "../../core/base/hint.ts";
import { count } from "../output/words.ts";
import type { Declare } from "../act.ts";
import { examples, type Command, type FlagsOf, Option } from "../commander.ts";

const withExportFlags = (command: Command) =>
  command
    .option(
      "-o, --output <file>",
      "write to this file, readable only by you; fixtures in YAML if it ends in .yaml or .yml (default: stdout, JSON)",
    )
    .addOption(
      new Option(
        "--as <form>",
        "fixtures: a fixture file, without passwords, keys, and clients that registered themselves",
      ).choices(["state", "fixtures"]),
    )
    .option("--show-secrets", "with --as fixtures: the secrets of one-time codes and the tokens of SCIM servers too");
type ExportFlags = FlagsOf<typeof withExportFlags>;

/** The issuers that an export of the first one does not have. */
async function leftBehind(cli: Invocation, target: Target): Promise<readonly Hint[]> {
  const isFirst = cli.issuer === null && !/\/i\/[\w-]+\/?$/.test(cli.url ?? "");
  const names = isFirst ? (await target.call("issuers.list", {})).map(({ name }) => name) : [];
  const [first] = names;
  if (first === undefined) return [];
  const text = `It leaves behind the ${names.length === 1 ? "issuer" : "issuers"} ${names.join(", ")}. To export ${names.length === 1 ? "it" : "one"}`;
  return [{ text, command: ["idp", "export", "--issuer", first] }];
}

/** `idp export`: the answer is the document. With `--output` the document goes to a file, and the answer says what is in it. */
async function exportState(cli: Invocation, { output, as, showSecrets }: ExportFlags): Promise<Outcome> {
  const isYaml = /\.ya?ml$/i.test(output ?? "");
  if (isYaml && as !== "fixtures") {
    throw new OperationError("usage", "only fixtures are written as YAML", {
      hint: { text: "For example", command: ["idp", "export", "--as", "fixtures", "--output", output ?? ""] },
    });
  }
  const target = await findTarget(cli);
  const document = await target.call("export", { as, secrets: showSecrets });
  const warning =
    as === "fixtures"
      ? "It has no passwords, since only hashes are stored: give the users new ones. It has the secrets of clients, but no clients that registered themselves."
      : "It contains private keys, client secrets and password hashes: keep it safe.";
  // JSON fits a file of any name, because YAML includes it.
  const asYaml = {
    text: "It is JSON. For YAML",
    command: ["idp", "export", "--as", "fixtures", "--output", "exported.yaml"],
  };
  const behind = await leftBehind(cli, target);
  const notes = [warning, ...behind, ...(as === "fixtures" ? [asYaml] : [])];
  if (output === undefined) return answer(document, () => textOf(document), { notes });
  await writePrivate(output, isYaml ? await yamlOf(document) : `${textOf(document)}\n`);
  const { users, clients, grants } = document as Readonly<Record<string, readonly unknown[]>>;
  const counts = { users: users?.length ?? 0, clients: clients?.length ?? 0, grants: grants?.length ?? 0 };
  for (const note of [warning, ...behind]) say(cli, note);
  return answer(
    { file: output, ...counts },
    (shown) =>
      `Wrote ${shown.file}: ${count(shown.users, "user")}, ${count(shown.clients, "client")}, ${count(shown.grants, "grant")}.`,
  );
}

/** Readable, and always the same for the same data. */
const textOf = (document: object): string => JSON.stringify(document, null, 2);

/** A fixture file in YAML. */
async function yamlOf(document: object): Promise<string> {
  const { dump } = await import("js-yaml");
  return dump(document, { noRefs: true, lineWidth: -1, quoteStyle: "double" });
}

/** Writes a file that only its owner can read. */
async function writePrivate(file: string, text: string): Promise<void> {
  try {
    await putFile(file, text, 0o600);
  } catch (error) {
    throw cannotBeWritten(`--output ${file}`, error);
  }
}

/** Declares `idp export`. */
export const declareExport: Declare = (command, { act }) => {
  withExportFlags(command)
    .addHelpText(
      "after",
      examples("idp export --output state.json", "idp export --as fixtures --output idp.fixtures.yaml"),
    )
    .action(act(exportState));
};
