import type { ClientView } from "../../../core/records/clients/admin.ts";
import { OperationError } from "../../../core/base/errors.ts";
import { checkRedirectUri } from "../../../core/records/redirect-uri.ts";
import { commandOn } from "../../../core/base/hint.ts";
import { askText, clientOr, needed } from "../../input/ask.ts";
import { providerIn, said } from "./client-lines.ts";
import { fixtureNotes } from "./fixture-notes.ts";
import { given, nameOr, readSecret, refuseName, renaming, requireChange } from "../../flags/entry-flags.ts";
import type { Invocation } from "../../invocation.ts";
import { answer, type Outcome, changesText } from "../../output/print.ts";
import { splitScope } from "../../../core/records/scopes/scopes.ts";
import { scopeNotes } from "../../output/scope-notes.ts";
import { findTarget, type Target } from "../../target/target.ts";
import { collect } from "../../flags/flag-values.ts";
import { isObject } from "../../../text/json.ts";
import { setOption, type SetFields } from "../../flags/set-field.ts";
import type { Declare } from "../../act.ts";
import { examples, type Command, type Flags } from "../../commander.ts";

interface ClientFlags {
  readonly name?: string;
  readonly redirectUri?: readonly string[];
  readonly scope?: string;
  readonly public?: true;
  readonly secretStdin?: true;
  readonly set?: SetFields;
  readonly samlMetadata?: string;
  readonly samlAcs?: readonly string[];
}

interface ClientEditFlags extends ClientFlags {
  readonly addSamlAcs?: readonly string[];
  readonly addRedirectUri?: readonly string[];
  readonly removeRedirectUri?: readonly string[];
  readonly addPostLogoutUri?: readonly string[];
  readonly addScope?: readonly string[];
  readonly scimTokenStdin?: true;
}

function refuseBoth(flags: ClientFlags): void {
  if (flags.public === true && flags.secretStdin === true) {
    throw new OperationError("usage", "a public client has no secret: give --public or --secret-stdin, not both");
  }
}

async function entryOf(cli: Invocation, flags: ClientFlags): Promise<SetFields> {
  return given({
    ...flags.set,
    ...given({
      client_name: flags.name,
      redirect_uris: flags.redirectUri,
      scope: flags.scope,
      client_secret: await readSecret(cli, flags.secretStdin, "secret"),
    }),
    ...(flags.public === true && { token_endpoint_auth_method: "none" }),
  });
}

/** `idp clients add` */
async function addClient(cli: Invocation, name: string | undefined, flags: ClientFlags): Promise<Outcome> {
  refuseName(flags.set, "client_id");
  refuseBoth(flags);
  if (flags.samlMetadata !== undefined || flags.samlAcs !== undefined) {
    const target = await findTarget(cli);
    const { providerEntry } = await import("./service-provider.ts");
    const fields = await entryOf(cli, flags);
    const entry = { ...fields, ...(await providerEntry(cli, name, { ...flags, saml: fields["saml"] })) };
    const client = await target.call("clients.add", entry);
    const { providerRemarks } = await import("../../../core/records/service-providers/remarks.ts");
    const about = [
      ...providerRemarks(client, Date.now()),
      ...(await fixtureNotes(target, { after: client, metadata: flags.samlMetadata })),
    ];
    return said("Added", client, { target, about, provider: await providerIn(client) });
  }
  const client_id = await nameOr(cli, name, "client_id", [
    "idp",
    "clients",
    "add",
    "shop",
    "--redirect-uri",
    "http://localhost:3000/cb",
  ]);
  const redirectUri = flags.redirectUri ?? (await askedRedirectUri(cli, flags, client_id));
  const fields = await entryOf(cli, { ...flags, ...(redirectUri !== undefined && { redirectUri }) });
  const target = await findTarget(cli);
  const client = await target.call("clients.add", { ...fields, client_id });
  return said("Added", client, {
    target,
    about: [
      ...(await scopeNotes(target, fields["scope"])),
      ...(await patternNotes(client)),
      ...(await fixtureNotes(target, { after: client })),
    ],
  });
}

/** Names that anybody can take, and that a pattern lets in. */
async function patternNotes(client: ClientView): Promise<readonly string[]> {
  if (client.redirect_patterns === undefined) return [];
  const { patternRemarks } = await import("../../../core/records/clients/redirect-patterns.ts");
  return patternRemarks(client);
}

/** Asks for a redirect URI, which every client needs unless `--set` says that it signs nobody in, or signs users in by SAML. */
async function askedRedirectUri(
  cli: Invocation,
  { set, public: isPublic }: ClientFlags,
  client_id: string,
): Promise<readonly string[] | undefined> {
  if ([set?.grant_types, set?.redirect_uris, set?.redirect_patterns, set?.saml].some((one) => one !== undefined))
    return undefined;
  if (!cli.interactive) {
    const flags = [...(isPublic === true ? ["--public"] : []), "--redirect-uri", "http://localhost:3000/callback"];
    const instead = `For a client without sign-ins, add --set 'grant_types=["client_credentials"]' instead. `;
    throw needed("the redirect URI", {
      text: `${isPublic === true ? "" : instead}Give it`,
      command: commandOn(["idp", "clients", "add"], client_id, flags),
    });
  }
  const proposal = "http://localhost:3000/callback";
  return [await askText(cli, "Where users are sent back to", { proposal, problem: checkRedirectUri })];
}

/**
 * The redirect URIs after `--add-redirect-uri` and `--remove-redirect-uri`; undefined if neither was given.
 * @throws {OperationError} usage if a URI to remove is not registered
 */
function redirectUrisOf(flags: ClientEditFlags, before: ClientView): readonly string[] | undefined {
  const { addRedirectUri: added = [], removeRedirectUri: removed = [] } = flags;
  if (added.length + removed.length === 0) return undefined;
  const { redirect_uris: registered } = before;
  const unknown = removed.find((uri) => !registered.includes(uri));
  if (unknown !== undefined) {
    throw new OperationError("usage", `redirect URI ${unknown} is not registered for ${before.client_id}`, {
      hint: registered.length === 0 ? "It has no redirect URIs." : `Registered: ${registered.join(" ")}`,
    });
  }
  return [...new Set([...registered, ...added])].filter((uri) => !removed.includes(uri));
}

const postLogoutUrisOf = ({ post_logout_redirect_uris: registered }: ClientView): readonly unknown[] =>
  Array.isArray(registered) ? registered : [];

/** The scopes after `--add-scope`; undefined without it. @throws {OperationError} usage for a client that may request every scope */
function scopeOf({ addScope: added }: ClientEditFlags, { client_id, scope }: ClientView): string | undefined {
  if (added === undefined) return undefined;
  if (typeof scope === "string") return [...new Set([...splitScope(scope), ...added.flatMap(splitScope)])].join(" ");
  throw new OperationError("usage", `client "${client_id}" has no scope: it may request every scope already`, {
    hint: {
      text: "To let it request only some",
      command: commandOn(["idp", "clients", "edit"], client_id, ["--scope", added.join(" ")]),
    },
  });
}

/** The SCIM server of a client with another token, of the same kind. @throws {OperationError} usage for a client that has none */
async function scimWith(target: Target, client_id: string, token: string): Promise<object> {
  const { scim } = await target.call("clients.show", { client_id, secrets: true });
  if (isObject(scim)) return { ...scim, token: isObject(scim["token"]) ? { basic: token } : token };
  throw new OperationError("usage", `client "${client_id}" has no scim, so it needs no token`, {
    hint: {
      text: "Give it the address first",
      command: commandOn(["idp", "clients", "edit"], client_id, [
        "--set",
        'scim={"url":"http://localhost:3000/scim/v2"}',
      ]),
    },
  });
}

/** `idp clients edit`: `--public` removes the secret; a secret makes a public client confidential. */
async function editClient(cli: Invocation, name: string | undefined, flags: ClientEditFlags): Promise<Outcome> {
  const { addRedirectUri, removeRedirectUri, addPostLogoutUri, addScope } = flags;
  const example = ["idp", "clients", "edit", "CLIENT_ID", "--redirect-uri", "http://localhost:3000/cb"];
  refuseBoth(flags);
  if (flags.secretStdin === true && flags.scimTokenStdin === true)
    throw new OperationError(
      "usage",
      "standard input has one secret: give --secret-stdin or --scim-token-stdin, not both",
    );
  const entry = await entryOf(cli, flags);
  const scimToken = await readSecret(cli, flags.scimTokenStdin, "token");
  if (entry["redirect_uris"] !== undefined && (addRedirectUri ?? removeRedirectUri) !== undefined) {
    throw new OperationError("usage", "give all redirect URIs, or those to add and to remove, not both", {
      hint: "--redirect-uri replaces the whole list",
    });
  }
  for (const [flag, added, whole] of [
    ["--add-scope", addScope, "scope"],
    ["--add-post-logout-uri", addPostLogoutUri, "post_logout_redirect_uris"],
  ] as const) {
    if (added !== undefined && entry[whole] !== undefined)
      throw new OperationError("usage", `give ${flag} or the whole ${whole}, not both`);
  }
  const { addSamlAcs } = flags;
  await requireChange(
    cli,
    {
      ...entry,
      ...given({ addRedirectUri, removeRedirectUri, addPostLogoutUri, addScope, addSamlAcs, scimToken }),
    },
    commandOn(["idp", "clients", "edit"], name ?? "CLIENT_ID", ["--name", "Another name"]),
  );
  const target = await findTarget(cli);
  const client_id = await clientOr(cli, target, name, example);
  const before = await target.call("clients.show", { client_id });
  const changed = {
    ...entry,
    ...(scimToken !== undefined && { scim: await scimWith(target, client_id, scimToken) }),
    ...given({
      redirect_uris: redirectUrisOf(flags, before) ?? entry["redirect_uris"],
      scope: scopeOf(flags, before) ?? entry["scope"],
    }),
    ...(addPostLogoutUri !== undefined && {
      post_logout_redirect_uris: [...new Set([...postLogoutUrisOf(before), ...addPostLogoutUri])],
    }),
    ...(addSamlAcs !== undefined && {
      saml: (await import("./service-provider.ts")).withAcs(before["saml"], addSamlAcs),
    }),
    ...(flags.public === true && { client_secret: null }),
    ...(flags.secretStdin === true && before.public && { token_endpoint_auth_method: null }),
  };
  const client = await target.call("clients.edit", { ...renaming(changed, "client_id"), client_id });
  const secrets = "client_secret" in entry ? ["client_secret"] : [];
  const unseen = [
    ...secrets,
    ...(isObject(changed.scim) && "token" in changed.scim ? ["scim.token"] : []),
    ...("env" in changed ? ["env"] : []),
  ];
  return answer(client, (_shown, style) => changesText(client_id, before, client, unseen, style), {
    notes: [
      ...(flags.public === true && !before.public ? ["Its client_secret is gone: a public client has none."] : []),
      ...(await scopeNotes(target, addScope?.join(" ") ?? entry["scope"])),
      ...("redirect_patterns" in changed ? await patternNotes(client) : []),
      ...(await fixtureNotes(target, { before, after: client, secret: secrets.length > 0 })),
      target.where,
    ],
  });
}

const clientFields = <A extends unknown[], F extends Flags, G extends Flags>(
  command: Command<A, F, G>,
  unscoped: string,
) =>
  command
    .option("--name <name>", "the display name")
    .option("--redirect-uri <uri>", "a redirect URI; repeatable", collect)
    .option("--scope <scopes>", `the scopes it may request, separated by spaces${unscoped}`)
    .option("--public", "make it a public client: no secret, PKCE required")
    .option("--secret-stdin", "read the secret from standard input")
    .addOption(setOption());

/** Declares the commands that add and edit clients. */
export const declareClientChanges: Declare = (clients, { act }) => {
  clientFields(clients.command("add"), " (default: all)")
    .option("--saml-metadata <file|url|->", "a service provider of SAML, by its metadata; an address is read once")
    .option(
      "--saml-acs <url>",
      "a service provider of SAML, by the address that responses are posted to; repeatable",
      collect,
    )
    .description("add a client; a confidential client gets a secret, which is shown")
    .argument("[client_id]")
    .addHelpText(
      "after",
      examples(
        "idp clients add shop --redirect-uri http://localhost:3000/callback",
        "idp clients add spa --public --redirect-uri http://localhost:5173/callback",
        "idp clients add --saml-metadata sp.xml",
        "idp clients add http://localhost:3000/saml/metadata --saml-acs http://localhost:3000/saml/acs",
      ),
    )
    .action(act(addClient));
  clientFields(clients.command("edit"), "")
    .option("--add-redirect-uri <uri>", "add a redirect URI; repeatable", collect)
    .option("--remove-redirect-uri <uri>", "remove a redirect URI; repeatable", collect)
    .option("--add-post-logout-uri <uri>", "add an address to return to after a sign-out; repeatable", collect)
    .option("--add-scope <scope>", "let it request one more scope; repeatable", collect)
    .option("--add-saml-acs <url>", "add an address that responses of SAML are posted to; repeatable", collect)
    .option("--scim-token-stdin", "read the token of the app's SCIM server from standard input")
    .description("change a client: flags replace the old value, --add- flags add one")
    .argument("[client_id]")
    .addHelpText(
      "after",
      examples(
        "idp clients edit demo-app --add-redirect-uri http://localhost:3001/callback",
        "idp clients edit demo-app --add-scope orders:read",
        "idp clients edit demo-app --set require_pkce=true --set audience=null",
      ),
    )
    .action(act(editClient));
};
