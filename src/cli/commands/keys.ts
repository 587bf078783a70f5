import type { KeyView } from "../../core/records/keys/admin.ts";
import type { OperationInput } from "../../core/admin/operations/table.ts";
import { confirmed, notConfirmed } from "../input/ask.ts";
import type { Invocation } from "../invocation.ts";
import { answer, type Outcome } from "../output/print.ts";
import type { Style } from "../output/style.ts";
import { table } from "../output/table.ts";
import { findTarget } from "../target/target.ts";
import type { Declare } from "../act.ts";
import { examples, Option } from "../commander.ts";

const keyTable = (cli: Invocation, keys: readonly KeyView[], style: Style): string =>
  [keyRows(cli, keys, style), ...keys.flatMap(({ kid, fingerprints }) => fingerprintLines(kid, fingerprints))].join(
    "\n",
  );

/** What a service provider may be configured with in place of the certificate. */
const fingerprintLines = (kid: string, fingerprints: KeyView["fingerprints"]): readonly string[] =>
  fingerprints === null
    ? []
    : ["", `The certificate of ${kid}:`, `  SHA-256  ${fingerprints.sha256}`, `  SHA-1    ${fingerprints.sha1}`];

const keyRows = (cli: Invocation, keys: readonly KeyView[], style: Style): string =>
  table(
    [
      { title: "KEY", value: (key) => key.kid },
      { title: "ALG", value: (key) => key.alg },
      { title: "USE", value: (key) => key.use },
      {
        title: "STATUS",
        // The day is enough here, and fits beside the key; --json has the time.
        value: (key) => (key.expiresAt === null ? key.status : `verifies until ${key.expiresAt.slice(0, 10)}`),
        color: (text, key) => (key.status === "signing" ? style.green(text) : style.dim(text)),
      },
    ],
    keys,
    style,
    cli.width,
  );

/** `idp keys list` */
async function listKeys(cli: Invocation): Promise<Outcome> {
  const keys = await (await findTarget(cli)).call("keys.list", {});
  return answer(keys, (shown, style) => keyTable(cli, shown, style));
}

/** `idp keys rotate` */
async function rotateKeys(cli: Invocation, flags: OperationInput<"keys.rotate">): Promise<Outcome> {
  const target = await findTarget(cli);
  const keys = await target.call("keys.rotate", { alg: flags.alg, saml: flags.saml });
  return answer(keys, (shown, style) => keyTable(cli, shown, style), {
    notes: [
      flags.saml === true
        ? "The metadata lists the new certificate, then the old one until its key is removed."
        : "The old keys stay published until the tokens that they signed have expired.",
      target.where,
    ],
  });
}

/** `idp keys remove` */
async function removeKey(cli: Invocation, kid: string): Promise<Outcome> {
  const target = await findTarget(cli);
  const isThere = (await target.call("keys.list", {})).some((key) => key.kid === kid);
  if (isThere && !(await confirmed(cli, `Remove key ${kid}? Tokens that it signed become invalid.`))) {
    throw notConfirmed(`key ${kid} is not removed`);
  }
  await target.call("keys.remove", { id: kid });
  return answer({ removed: kid }, ({ removed }) => `Removed key ${removed}.`, {
    notes: ["Tokens that it signed are invalid from now on.", target.where],
  });
}

/** Declares the commands of `idp keys`. */
export const declareKeys: Declare = (keys, { act }) => {
  keys
    .command("list", { isDefault: true })
    .description("list the keys that sign tokens or still verify them")
    .addHelpText("after", examples("idp keys list", "idp keys list --json | jq -r '.[].kid'"))
    .action(act(listKeys));
  keys
    .command("rotate")
    .description("sign with new keys; old keys verify until their tokens expire")
    .addOption(
      new Option("--alg <alg>", "replace only this kind of key").choices(["RS256", "PS256", "ES256", "EdDSA", "HS256"]),
    )
    .addOption(
      new Option("--saml", "replace only the key of SAML; the metadata lists both certificates").conflicts("alg"),
    )
    .addHelpText("after", examples("idp keys rotate", "idp keys rotate --alg RS256", "idp keys rotate --saml"))
    .action(act(rotateKeys));
  keys
    .command("remove")
    .description("remove a key that no longer signs; tokens that it signed become invalid")
    .argument("<kid>", "the key, as idp keys lists it")
    .addHelpText("after", examples("idp keys remove 7yQ2mXk0aLw", "idp keys remove 7yQ2mXk0aLw --yes --json"))
    .action(act(removeKey));
};
