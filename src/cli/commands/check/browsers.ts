import type { Browser, Places } from "../../../client/app-check/browser.ts";
import type { Invocation } from "../../invocation.ts";
import { browserOf } from "./check-client.ts";
import { nearLookup, type CheckFlags } from "./flags.ts";
import type { Opened } from "./opened.ts";
import type { CheckPlace } from "./place.ts";

/** @returns what makes a browser in which a user, by the username, signs in to an app */
export async function browsersOf(
  cli: Invocation,
  flags: Pick<CheckFlags, "start" | "signedIn" | "signOut" | "browser" | "allowRemote">,
  { issuer, client }: Pick<CheckPlace, "issuer" | "client">,
  opened: Opened,
): Promise<(username: string) => Promise<Browser>> {
  const { start, signedIn, signOut, allowRemote } = flags;
  const redirectUris = client.redirect_uris;
  const addresses = [start, signedIn, ...(signOut === undefined ? [] : [signOut]), ...redirectUris];
  const origins = addresses
    .filter((address) => /^https?:/.test(address) && URL.canParse(address))
    .map((address) => new URL(address).origin);
  const placesFor = (user: string): Places => ({
    ...{ issuer, redirectUris, origins, user, lookup: nearLookup(allowRemote) },
  });
  const browserFor = await browserOf(cli, flags, placesFor(""), opened);
  return (username) => browserFor(placesFor(username));
}
