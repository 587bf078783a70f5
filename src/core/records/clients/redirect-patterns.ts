import { domainToUnicode } from "node:url";
import type { Client } from "../../../store/store.ts";
import type { Context } from "../../context.ts";
import { hasUriCharacters, redirectPatternForm } from "../../base/identifiers.ts";
import { isPublic, openPortsOf } from "./clients.ts";
import { matchRedirectUri } from "../redirect-uri.ts";

/**
 * Patterns of redirect URIs, for preview deployments, whose hosts nobody knows beforehand. RFC 9700 2.1 wants exact addresses, so a pattern
 * leaves open one piece of the leftmost label and nothing else, and only clients that prove who they are have one: a code that reaches a
 * wrong host is worthless without their secret and the verifier.
 */

/**
 * Whether a pattern can be registered, as far as its text alone says that.
 * @returns null, or the sentence that says what is wrong and what to write
 */
export function checkRedirectPattern(pattern: string): string | null {
  if (redirectPatternForm.test(pattern)) {
    return namesLetters(example(pattern)) ? null : `"${pattern}" has an encoded name (xn--) that stands for no letters`;
  }
  const [, authority = "", rest = ""] = /^https:\/\/([^/?#]*)(.*)$/.exec(pattern) ?? [];
  const what =
    authority === ""
      ? "does not begin with https:// and a host name"
      : !hasUriCharacters(pattern)
        ? "has a character that a URI cannot have; write names of other alphabets as xn--…"
        : rest.includes("#")
          ? "has a fragment; leave it out"
          : rest.includes("?")
            ? "has a query; leave it out"
            : authority.includes("@")
              ? "has user info; leave it out"
              : authority.includes(":")
                ? "has a port; leave it out"
                : !pattern.includes("*")
                  ? "has no *; write the address into redirect_uris"
                  : pattern.split("*").length > 2 || !(authority.split(".")[0] ?? "").includes("*")
                    ? "may have one * alone, in the leftmost part of the host name"
                    : /[A-Z]/.test(authority)
                      ? "has capital letters in its host name; write them small, as browsers do"
                      : "is not an address of the form https://app-*.preview.example.com/callback";
  return `"${pattern}" ${what}`;
}

/** Whether each encoded name (xn--) of the host stands for letters: browsers go to no other. Node.js from 24 on parses those, too. */
const namesLetters = (uri: string): boolean =>
  URL.canParse(uri) && !/(?:^|\.)xn--/.test(domainToUnicode(new URL(uri).hostname));

/** The pattern with a letter in place of the `*`. */
const example = (pattern: string): string => pattern.replace("*", "a");

/** Whether a request's URI, as it was sent, is one of the pattern. It is never parsed and normalized first. */
function matchRedirectPattern(pattern: string, asked: string): boolean {
  const [before = "", after = ""] = pattern.split("*");
  if (!redirectPatternForm.test(pattern) || asked.length <= before.length + after.length) return false;
  if (!asked.startsWith(before) || !asked.endsWith(after)) return false;
  const piece = asked.slice(before.length, asked.length - after.length);
  const label = before.slice("https://".length) + piece + after.slice(0, after.indexOf("."));
  return /^[a-z0-9-]{1,63}$/.test(piece) && label.length <= 63 && namesLetters(asked);
}

/** The patterns of a client that count: it has to prove who it is, and an operator has to have set them. */
const patternsOf = (client: Client): readonly string[] =>
  isPublic(client) || client.fromDocument === true ? [] : (client.redirect_patterns ?? []);

/** What is registered for a client, as refusals list it. */
export const registeredAddresses = (client: Client): readonly string[] => [
  ...client.redirect_uris,
  ...patternsOf(client),
];

/** What lets a redirect URI in: a registered one, or the pattern. Null: nothing does. */
export function allowanceFor(
  ctx: Pick<Context, "settings">,
  client: Client,
  redirectUri: string,
): { readonly pattern: string | null } | null {
  const ports = openPortsOf(ctx, client);
  if (client.redirect_uris.some((uri) => matchRedirectUri(uri, redirectUri, ports))) return { pattern: null };
  const pattern = patternsOf(client).find((one) => matchRedirectPattern(one, redirectUri));
  return pattern === undefined ? null : { pattern };
}

/** The host that only a pattern lets in; null: the address itself is registered. */
export function patternHost(ctx: Pick<Context, "settings">, client: Client, redirectUri: string): string | null {
  const pattern = allowanceFor(ctx, client, redirectUri)?.pattern ?? null;
  return pattern === null ? null : new URL(redirectUri).host;
}

/** The public suffix whose names a pattern leaves open, so that anybody can register one of them; null: they belong to one owner. */
async function openSuffix(pattern: string): Promise<string | null> {
  const { getPublicSuffix } = await import("tldts");
  const { host } = new URL(example(pattern));
  const parent = host.slice(host.indexOf(".") + 1);
  const suffix = (name: string): string | null => getPublicSuffix(name, { allowPrivateDomains: true });
  // Below a rule such as *.kawasaki.jp the names are suffixes themselves.
  return suffix(parent) === parent || suffix(host) === host ? parent : null;
}

/** Why a pattern leaves too much open; null: it does not. */
export async function patternSuffixProblem(pattern: string): Promise<string | null> {
  const suffix = await openSuffix(pattern);
  const [label = ""] = pattern.slice("https://".length).split(".");
  if (suffix === null || (!label.startsWith("*") && !label.endsWith("*"))) return null;
  return `"${pattern}" lets in names that anybody can take below "${suffix}" (publicsuffix.org); write text on both sides of the *, as in https://app-*-team.${suffix}/callback, or register each address`;
}

/** What an operator should know of the patterns of a client. */
export async function patternRemarks(client: Readonly<Record<string, unknown>>): Promise<readonly string[]> {
  const { client_id: id, redirect_patterns: patterns } = client;
  const remarks: string[] = [];
  for (const pattern of Array.isArray(patterns) ? patterns : []) {
    if (typeof pattern !== "string" || checkRedirectPattern(pattern) !== null) continue;
    const suffix = await openSuffix(pattern);
    if (suffix !== null) {
      remarks.push(
        `Anybody can take a name below ${suffix} that matches ${pattern} of ${String(id)}: register each address with --add-redirect-uri where you can.`,
      );
    }
  }
  return remarks;
}
