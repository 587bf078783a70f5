import type { Client, User } from "../../store/store.ts";
import { clientIdForm, usernameForm } from "../base/identifiers.ts";
import { commandOn, flagWith, type Hint } from "../base/hint.ts";
import { checkHttpHost, checkEndpointUri, checkRedirectUri, isOfSystem, type UriSettings } from "./redirect-uri.ts";
import { isLoopbackHost } from "../../net/address.ts";
import { typoOf } from "../base/nearest.ts";

/**
 * The commands that make a refused request pass, for the log and the error page. They contain values of the request, which may come from
 * anybody. If no command would help, there is none.
 */

const fix = (command: readonly string[]): Hint => ({ text: "", command });

/** A command must not contain line breaks or right-to-left letters, which could disguise what it does. */
const printable = (command: readonly string[]): Hint | undefined =>
  command.every((word) => /^[\x20-\x7e]+$/.test(word)) ? fix(command) : undefined;

const editClient = (clientId: string, flags: readonly string[]): Hint | undefined =>
  printable(commandOn(["idp", "clients", "edit"], clientId, flags));

/** Whether a URI can be registered under the present settings, and may be for a request of anybody. */
const isUsable = (uri: string, settings: UriSettings): boolean =>
  checkRedirectUri(uri) === null && !isOfSystem(uri) && checkHttpHost(uri, settings) === null;

/** Says first what the app has to send, where it probably meant another value. @param what `parameter`: its name; `other`: what the command is for */
const correctFirst = (
  hint: Hint,
  meant: string | undefined,
  what: { readonly parameter: string; readonly other: string },
): Hint => {
  if (meant === undefined) return hint;
  const sentence = `Send ${what.parameter} ${meant} in your app`;
  return { ...hint, text: `${sentence}. ${what.other}`, sentence };
};

interface UriParts {
  /** All names of this machine count as one. */
  readonly site: string;
  readonly port: string;
  readonly path: string;
}

function uriPartsOf(uri: string): UriParts | null {
  if (!URL.canParse(uri)) return null;
  const { protocol, hostname, port, pathname, search } = new URL(uri);
  return { site: `${protocol}//${isLoopbackHost(hostname) ? "" : hostname}`, port, path: pathname + search };
}

/**
 * The registered address that an app probably meant: the same one at another name of this machine, with another path, or with a typo. An app
 * that runs on another port means that port, which is then to be registered.
 */
function meantAddress(sent: string, registered: readonly string[]): string | undefined {
  const own = uriPartsOf(sent);
  if (own === null) return typoOf(sent, registered);
  const onPort = registered.filter((uri) => (uriPartsOf(uri)?.port ?? own.port) === own.port);
  const atSite = onPort.filter((uri) => uriPartsOf(uri)?.site === own.site);
  const named = atSite.find((uri) => uriPartsOf(uri)?.path === own.path);
  return named ?? (atSite.length === 1 ? atSite[0] : typoOf(sent, onPort));
}

/** For a client that nobody registered. */
const inDocument = ({ client_id: url }: Client): Hint => ({
  text: `Add it to the metadata document of the client, ${url}`,
  letsIn: "this client",
});

/** @param issuer its address, or words for it */
export const trustIssuer = (issuer: string): Hint => ({
  text: `add ${issuer} to trusted_issuers in the settings of a fixture file`,
  letsIn: "this issuer",
});

/** Registers one more URI by these flags; if that URI cannot be registered, shows those that are. */
function addUri(client: Client, uri: string, registered: readonly string[], flags: Flags): Hint {
  if (client.fromDocument === true) return inDocument(client);
  const { parameter } = flags;
  const meant = meantAddress(uri, registered);
  const add = isUsable(uri, flags.settings) ? editClient(client.client_id, flags.words) : undefined;
  const show = correctFirst(showClient(client), meant, { parameter, other: "To see what is registered" });
  return add === undefined ? show : correctFirst(add, meant, { parameter, other: "To register the other one too" });
}

interface Flags {
  readonly parameter: string;
  readonly words: readonly string[];
  readonly settings: UriSettings;
}

/** Registers one more redirect URI. */
export const addRedirectUri = (client: Client, uri: string, settings: UriSettings): Hint =>
  addUri(client, uri, client.redirect_uris, {
    parameter: "redirect_uri",
    words: flagWith("--add-redirect-uri", uri),
    settings,
  });

/** Registers one more address to come back to after a sign-out. */
export function addPostLogoutUri(client: Client, uri: string, settings: UriSettings): Hint {
  const registered = client.post_logout_redirect_uris ?? [];
  const words = flagWith("--add-post-logout-uri", uri);
  return addUri(client, uri, registered, { parameter: "post_logout_redirect_uri", words, settings });
}

/** Shows what is registered for a client. */
export const showClient = (client: Client): Hint => fix(commandOn(["idp", "clients", "show"], client.client_id));

/** Lets a client ask for more scopes. */
export const addScopes = (client: Client, scopes: readonly string[]): Hint =>
  client.fromDocument === true
    ? inDocument(client)
    : (editClient(
        client.client_id,
        // Without a scope of its own the client may request every one, and a list would take the others away.
        client.scope === undefined
          ? flagWith("--scope", scopes.join(" "))
          : scopes.flatMap((one) => flagWith("--add-scope", one)),
      ) ?? showClient(client));

/** Lets a client use one more grant type. @param present those that it may use */
export const addGrantType = (client: Client, present: readonly string[], name: string): Hint =>
  client.fromDocument === true
    ? inDocument(client)
    : (editClient(client.client_id, ["--set", `grant_types=${JSON.stringify([...present, name])}`]) ??
      showClient(client));

export const listClients: Hint = fix(["idp", "clients", "list"]);

/**
 * Adds an unknown client, public and with PKCE, as the button of the error page does; if that would be refused, shows those that are known.
 * @param redirectUri where it wanted to return to: a client that signs users in needs one
 * @param known ids that may have been meant
 */
export function addUnknownClient(clientId: string, redirectUri: string | undefined, known: readonly string[]): Hint {
  const usable = redirectUri !== undefined && checkRedirectUri(redirectUri) === null && !isOfSystem(redirectUri);
  const add =
    usable && clientIdForm.test(clientId) && !clientId.startsWith("-")
      ? printable(["idp", "clients", "add", clientId, "--public", ...flagWith("--redirect-uri", redirectUri)])
      : undefined;
  const meant = typoOf(clientId, known);
  return add === undefined
    ? correctFirst(listClients, meant, { parameter: "client_id", other: "To see all clients" })
    : correctFirst(add, meant, { parameter: "client_id", other: "To add a client of the other name" });
}

/**
 * Adds a service provider of SAML with the address that it named, or one more address to one that is known. Without an address it needs its metadata.
 */
export function addServiceProvider(entityId: string, acs: string | null, isKnown = false): Hint | undefined {
  const words = isKnown ? ["idp", "clients", "edit"] : ["idp", "clients", "add"];
  const isRegistrable = acs !== null && checkEndpointUri(acs) === null && clientIdForm.test(entityId);
  if (!isRegistrable)
    return isKnown
      ? undefined
      : { text: "Register its metadata", command: ["idp", "clients", "add", "--saml-metadata", "FILE"] };
  return printable(commandOn(words, entityId, [isKnown ? "--add-saml-acs" : "--saml-acs", acs]));
}

/** Adds an unknown user. @param name a username or an e-mail address */
export function addUnknownUser(name: string): Hint | undefined {
  const [local = "", domain] = name.split("@");
  if (!usernameForm.test(local)) return undefined;
  return printable(["idp", "users", "add", local, ...(domain === undefined ? [] : ["--email", name])]);
}

/** Grants beforehand what a consent page would ask for. */
export const allowBeforehand = (
  { username }: Pick<User, "username">,
  { clientId, scopes }: { readonly clientId: string; readonly scopes: readonly string[] },
): Hint => ({
  text: "Send the request again without prompt=none; to allow it without the page",
  command: ["idp", "issue", "grant", "--user", username, "--client", clientId, "--scope", scopes.join(" ")],
});

/** Lets a server answer under one more host name. */
export const allowHost = (host: string): Hint | undefined => printable(["idp", "start", "--allow-host", host]);

/** For an app that refreshes in parallel: it sends a token that one of its own requests has rotated. */
export const acceptRetries: Hint = {
  text: "If the app refreshes in parallel, set refresh_grace: the seconds that a rotated token still works",
  command: ["idp", "start", "--refresh-grace", "10"],
};

/** Gives a user another password. */
export const setPassword = ({ username }: Pick<User, "username">): Hint => ({
  text: "To set a password",
  command: ["idp", "users", "edit", username, "--password-stdin"],
});

/** Makes a suspended or banned user active again. */
export const restoreUser = ({ username }: Pick<User, "username">): Hint => fix(["idp", "users", "restore", username]);
