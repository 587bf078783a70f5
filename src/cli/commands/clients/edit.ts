import type { ClientView } from "../../../core/clients/admin.ts";
import { OperationError } from "../../../core/errors.ts";
import { checkRedirectUri } from "../../../core/clients/redirect-uri.ts";
import { commandOn, type Hint } from "../../../core/hint.ts";
import { changesText } from "../../output/changes.ts";
import { askText, clientOr, confirmed, needed, notConfirmed } from "../../input/ask.ts";
import { describeClient } from "./clients.ts";
import { fixtureNotes } from "./fixture-notes.ts";
import { given, nameOr, readSecret, refuseName, renaming, requireChange } from "../../flags/entry-flags.ts";
import type { Invocation } from "../../invocation.ts";
import { answer, type Outcome } from "../../output/print.ts";
import { scopeNotes } from "../../output/scope-notes.ts";
import type { SetFields } from "../../flags/set-field.ts";
import { findTarget, type Target } from "../../target/target.ts";

export interface ClientFlags {
  readonly name?: string;
  readonly redirectUri?: readonly string[];
  readonly scope?: string;
  readonly public?: true;
  readonly secretStdin?: true;
  readonly set?: SetFields;
  readonly samlMetadata?: string;
  readonly samlAcs?: readonly string[];
}

export interface ClientEditFlags extends ClientFlags {
  readonly addSamlAcs?: readonly string[];
  readonly addRedirectUri?: readonly string[];
  readonly removeRedirectUri?: readonly string[];
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

/** A new secret is shown once. Later, only `clients show --show-secrets` shows it. */
const said = (
  verb: string,
  client: ClientView,
  { target, about = [] }: { readonly target: Target; readonly about?: readonly (string | Hint)[] },
): Outcome =>
  answer(client, (shown, style) => `${verb} ${describeClient(shown, style)}`, {
    notes: [
      ...about,
      ...(client.client_secret === undefined
        ? []
        : [
            {
              text: "The client_secret was made here. To see it again",
              command: commandOn(["idp", "clients", "show"], client.client_id, ["--show-secrets"]),
            },
          ]),
      target.where,
    ],
  });

/** `idp clients add` */
export async function addClient(cli: Invocation, name: string | undefined, flags: ClientFlags): Promise<Outcome> {
  refuseName(flags.set, "client_id");
  refuseBoth(flags);
  if (flags.samlMetadata !== undefined || flags.samlAcs !== undefined) {
    const target = await findTarget(cli);
    const { providerEntry } = await import("./service-provider.ts");
    const entry = { ...(await entryOf(cli, flags)), ...(await providerEntry(cli, name, flags)) };
    const client = await target.call("clients.add", entry);
    return said("Added", client, { target, about: await fixtureNotes(target, { after: client }) });
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
    about: [...(await scopeNotes(target, fields["scope"])), ...(await fixtureNotes(target, { after: client }))],
  });
}

/** Asks for a redirect URI, which every client needs unless `--set grant_types` says that it signs nobody in. */
async function askedRedirectUri(
  cli: Invocation,
  { set, public: isPublic }: ClientFlags,
  client_id: string,
): Promise<readonly string[] | undefined> {
  if (set?.grant_types !== undefined || set?.redirect_uris !== undefined) return undefined;
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

/** The SCIM server of a client with another token. @throws {OperationError} usage for a client that has none */
async function scimWith(target: Target, client_id: string, token: string): Promise<object> {
  const { scim } = await target.call("clients.show", { client_id, secrets: true });
  if (typeof scim === "object" && scim !== null) return { ...scim, token };
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
export async function editClient(cli: Invocation, name: string | undefined, flags: ClientEditFlags): Promise<Outcome> {
  const { addRedirectUri, removeRedirectUri } = flags;
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
  await requireChange(
    cli,
    { ...entry, ...given({ addRedirectUri, removeRedirectUri, addSamlAcs: flags.addSamlAcs, scimToken }) },
    commandOn(["idp", "clients", "edit"], name ?? "CLIENT_ID", ["--name", "Another name"]),
  );
  const target = await findTarget(cli);
  const client_id = await clientOr(cli, target, name, example);
  const before = await target.call("clients.show", { client_id });
  const changed = {
    ...entry,
    ...(scimToken !== undefined && { scim: await scimWith(target, client_id, scimToken) }),
    ...given({ redirect_uris: redirectUrisOf(flags, before) ?? entry["redirect_uris"] }),
    ...(flags.addSamlAcs !== undefined && {
      saml: (await import("./service-provider.ts")).withAcs(before["saml"], flags.addSamlAcs),
    }),
    ...(flags.public === true && { client_secret: null }),
    ...(flags.secretStdin === true && before.public && { token_endpoint_auth_method: null }),
  };
  const client = await target.call("clients.edit", { ...renaming(changed, "client_id"), client_id });
  const secrets = "client_secret" in entry ? ["client_secret"] : [];
  return answer(client, (_shown, style) => changesText(client_id, before, client, secrets, style), {
    notes: [
      ...(flags.public === true && !before.public ? ["Its client_secret is gone: a public client has none."] : []),
      ...(await scopeNotes(target, entry["scope"])),
      ...(await fixtureNotes(target, { before, after: client, secret: secrets.length > 0 })),
      target.where,
    ],
  });
}

/** `idp clients rotate-secret` */
export async function rotateSecret(
  cli: Invocation,
  name: string | undefined,
  flags: { readonly secretStdin?: true },
): Promise<Outcome> {
  const client_secret = await readSecret(cli, flags.secretStdin, "secret");
  const target = await findTarget(cli);
  const client_id = await clientOr(cli, target, name, ["idp", "clients", "rotate-secret", "CLIENT_ID"]);
  if (!(await confirmed(cli, `Rotate the secret of ${client_id}? The old one stops working at once.`))) {
    throw notConfirmed("the secret stays");
  }
  const client = await target.call("clients.rotate-secret", { client_id, client_secret });
  const about = await fixtureNotes(target, { before: client, after: client, secret: true });
  return said("Rotated the secret of", client, { target, about });
}

/** `idp clients remove` */
export async function removeClient(cli: Invocation, name: string | undefined): Promise<Outcome> {
  const target = await findTarget(cli);
  const client_id = await clientOr(cli, target, name, ["idp", "clients", "remove", "CLIENT_ID"]);
  if (!(await confirmed(cli, `Remove ${client_id}, with its grants?`)))
    throw notConfirmed(`${client_id} is not removed`);
  const before = await target.call("clients.show", { client_id });
  await target.call("clients.remove", { client_id });
  return answer({ removed: client_id }, ({ removed }) => `Removed ${removed}, with its grants.`, {
    notes: ["Its tokens get 401 from now on.", ...(await fixtureNotes(target, { before })), target.where],
  });
}
