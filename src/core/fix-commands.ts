import type { Client, User } from "../store/store.ts";
import { clientIdForm } from "./client-id.ts";
import { checkRedirectUri, hasOpenPort } from "./redirect-uri.ts";
import { commandFor, shellWord } from "../shell-word.ts";
import { usernameForm } from "./username.ts";

/**
 * The command that mends a refused request: for the log and the error page. It holds what the request sent, which anybody may have
 * written, so every word of it is quoted for the shell; where no command would mend it, there is none.
 */

function command(words: readonly string[]): string | undefined {
  const quoted = words.map(shellWord);
  return quoted.includes(null) ? undefined : quoted.join(" ");
}

/** An id that looks like a flag stands last, behind `--`. */
const editClient = (clientId: string, flags: readonly string[]): string | undefined =>
  command([
    "idp",
    "clients",
    "edit",
    ...(clientId.startsWith("-") ? [...flags, "--", clientId] : [clientId, ...flags]),
  ]);

const option = (name: string, values: readonly string[]): string[] => values.flatMap((value) => [name, value]);

/** Registers one more redirect URI; where that URI cannot be registered, shows those that are. */
export const addRedirectUri = (client: Client, uri: string): string =>
  (checkRedirectUri(uri) === null
    ? editClient(client.client_id, option("--redirect-uri", [...client.redirect_uris, uri]))
    : undefined) ?? showClient(client);

/** Registers one more address to come back to after a sign-out; where it cannot be registered, shows those that are. */
export const addPostLogoutUri = (client: Client, uri: string): string =>
  (checkRedirectUri(uri) === null && !hasOpenPort(uri)
    ? editClient(client.client_id, [
        "--set",
        `post_logout_redirect_uris=${JSON.stringify([...(client.post_logout_redirect_uris ?? []), uri])}`,
      ])
    : undefined) ?? showClient(client);

/** Shows what is registered for a client. */
export const showClient = (client: Client): string => commandFor("idp clients show", client.client_id);

/** Lets a client ask for more scopes. */
export const addScopes = (client: Client, scopes: readonly string[]): string | undefined =>
  editClient(client.client_id, ["--scope", [client.scope ?? "", ...scopes].join(" ").trim()]);

export const listClients = "idp clients list";

/**
 * Adds a client that nobody knows; where that would be refused, shows those that are known.
 * @param redirectUri where it wanted to return to: a client that signs users in needs one
 */
export function addUnknownClient(clientId: string, redirectUri: string | undefined): string {
  const usable = redirectUri !== undefined && checkRedirectUri(redirectUri) === null;
  const add =
    usable && clientIdForm.test(clientId) && !clientId.startsWith("-")
      ? command(["idp", "clients", "add", clientId, "--redirect-uri", redirectUri])
      : undefined;
  return add ?? listClients;
}

/** Adds a user whom nobody knows. @param name a username or an e-mail address */
export function addUnknownUser(name: string): string | undefined {
  const [local = "", domain] = name.split("@");
  if (!usernameForm.test(local)) return undefined;
  return command(["idp", "users", "add", local, ...(domain === undefined ? [] : ["--email", name])]);
}

/** Makes a suspended or banned user active again. A username is a word of any shell. */
export const restoreUser = ({ username }: User): string => `idp users restore ${username}`;
