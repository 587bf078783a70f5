import { deepest, parseJson } from "../../../text/json.ts";
import { without } from "../../../text/redacted.ts";
import { decoded } from "../../../text/url.ts";
import { grantTypeNames } from "../tokens/grant-types/list.ts";
import { isOpenInAddress } from "./places.ts";

/** Whether a text is the value of something public that is registered here: a client ID, a username, a scope, part of a redirect URI. */
export type IsRegistered = (text: string) => boolean;

/** A value that is not registered and has so many characters is not shown. */
const minHiddenLength = 16;
/** Shorter parts of values may be parts of common words, so they are not searched for in texts. */
export const minPartLength = 4;

/**
 * Always shown: words of standards, and of our own paths. They stay whole where a hidden text is part of one: "client_credential" may be
 * hidden, "client_credentials" is not.
 */
export const openWords: ReadonlySet<string> = new Set([
  ...[...grantTypeNames, "client-assertion-type", "preferred_username"],
  ...["phone_number_verified", "client_secret_basic", "client_secret_post", "client_secret_jwt"],
  ...["okta_post_message", "device_authorization", "openid-configuration", "oauth-authorization-server", "interaction"],
]);

const isShown = (text: string, isRegistered: IsRegistered): boolean =>
  text.length < minHiddenLength || openWords.has(text) || isRegistered(text);

const uriForm = /^(?:urn:|[a-z][a-z0-9+.-]*:\/)\S*$/i;

/** The parts of a URI that may not be shown: its password, and parts of its host, path and parameters. */
function hiddenInUri(uri: string, isRegistered: IsRegistered): readonly string[] {
  const [, before = "", query = ""] = /^([^?#]*)(.*)$/s.exec(uri) ?? [];
  const [, authority = "", path = ""] = /^[^/]*:(?:\/\/([^/]*))?(.*)$/s.exec(before) ?? [];
  const [, user = "", host = ""] = /^(?:(.*)@)?(.*)$/s.exec(authority) ?? [];
  const parts = [...host.split(/[.:]/), ...path.split(before.startsWith("urn:") ? ":" : "/")];
  const named = query.split(/[?&#;]/).flatMap((parameter) => {
    const at = parameter.indexOf("=");
    const [name, value] = at < 0 ? ["", parameter] : [parameter.slice(0, at), parameter.slice(at + 1)];
    const isSecret = at >= 0 && !isOpenInAddress(name) && value.length >= minPartLength;
    return [...hiddenIn(name, isRegistered), ...(isSecret ? [value] : hiddenIn(value, isRegistered))];
  });
  const withoutExtension = (part: string): string => part.replace(/\.[a-z]{1,5}$/, "");
  const hidden = parts.filter((part) => !isShown(withoutExtension(part), isRegistered) && !isRegistered(part));
  return [...(user === "" ? [] : [user]), ...hidden, ...named];
}

/** Every text in a value of JSON, and the names in it. */
export function textsIn(value: unknown, depth = 0): readonly string[] {
  if (typeof value === "string") return [value];
  if (depth > deepest || typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, one]) => [
    ...(Array.isArray(value) ? [] : [name]),
    ...textsIn(one, depth + 1),
  ]);
}

function jsonIn(text: string): unknown {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/** A value with more hidden parts is hidden whole, because the sender chooses how many there are. */
const maxParts = 100;

/**
 * The parts of a value that may not be shown. Where the whole may not be shown, it is the first one, without the space around it, which hides
 * nothing: who sent it by mistake has to see it.
 * @param given of a parameter that is not meant to hold a secret
 * @param isList whether the parameter takes a list with spaces
 */
export function hiddenIn(given: string, isRegistered: IsRegistered, isList = false): readonly string[] {
  const value = given.trim();
  if (isShown(value, isRegistered)) return [];
  const hidden = hiddenParts(value, isRegistered, isList);
  return hidden.length > maxParts ? [value] : hidden;
}

function hiddenParts(value: string, isRegistered: IsRegistered, isList: boolean): readonly string[] {
  if (uriForm.test(value)) return hiddenInUri(value, isRegistered);
  const json = jsonIn(value);
  if (json !== undefined) return textsIn(json).flatMap((text) => hiddenIn(text, isRegistered));
  // A list, as of scopes. One unknown item of it is a value by itself; several may be one secret with spaces.
  const items = value.split(" ").filter((item) => item !== "");
  const ofUris = items.flatMap((item) => (uriForm.test(item) ? hiddenInUri(item, isRegistered) : []));
  const rest = items.filter((item) => !uriForm.test(item) && !openWords.has(item) && !isRegistered(item));
  if (isList && rest.length <= 1 && rest.every(({ length }) => length < minHiddenLength)) return ofUris;
  const parts = [...rest.filter(({ length }) => length >= minPartLength), ...ofUris];
  return isList && rest.length < items.length ? parts : [value, ...parts];
}

/** The parts of a path that may not be shown. */
export const hiddenInPath = (path: string, isRegistered: IsRegistered): readonly string[] =>
  path.split("/").flatMap((part) => (isShown(decoded(part), isRegistered) ? [] : [part]));

/** The name of an expected user as a page may show it. With passwords, the page must not tell which users exist, so a hint in the form of an e-mail address is shown. */
export const shownHint = (hint: string | null): string | null =>
  hint === null || /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/.test(hint) ? hint : shownValue(hint, () => false);

/** A value as it may be shown; null: nothing of it may. */
export function shownValue(value: string, isRegistered: IsRegistered, isList = false): string | null {
  const hidden = hiddenIn(value, isRegistered, isList);
  return hidden[0] === value.trim() ? null : without(hidden, openWords)(value);
}
