import { OperationError } from "../../../core/base/errors.ts";
import type { Flag, FlagsOf } from "../flags.ts";
import { idPlaceOf, markHeaderOf, markPlaceOf, type AccountPlace, type MarkHeader } from "./account-place.ts";

/** The flags that say how an account of the app is known, and which other connection it has. */

export const accountFlags = [
  {
    flag: "--mark <url>",
    help: 'a page with a form that keeps a text of the user, or \'POST URL {"note":"{mark}"}\'',
  },
  { flag: "--mark-field <name>", help: "the field of that form (default: the first one for text that is empty)" },
  {
    flag: "--mark-header <header>",
    help: "a header of --mark and --show: 'NAME: VALUE', where {URL /REGEX/} is read from that page; repeatable",
    repeats: true,
  },
  { flag: "--show <url>", help: "the address that shows the text (default: that of --mark)", is: "url" },
  {
    flag: "--account <url>",
    help: "in place of --mark: a page or JSON with the id that the app gave the account",
    is: "url",
  },
  {
    flag: "--account-id <place>",
    help: "where that id is: a JSON pointer such as /data/id, or a /REGEX/ with one group",
  },
  {
    flag: "--second-start <url>",
    help: "the address behind the Sign in button of another connection of the app",
    is: "url",
  },
  {
    flag: "--second-issuer <name>",
    help: "the issuer of that connection (default: the only one of issuers: in the fixtures)",
  },
] as const satisfies readonly Flag[];
export type AccountFlags = FlagsOf<typeof accountFlags>;

const usage = (message: string, hint?: string): OperationError =>
  new OperationError("usage", message, hint === undefined ? {} : { hint });

/** @throws {OperationError} usage */
export function accountOf(flags: AccountFlags): AccountPlace | null {
  const { mark, markField, markHeader = [], show, account, accountId, secondStart, secondIssuer } = flags;
  if (secondIssuer !== undefined && secondStart === undefined) {
    throw usage("--second-issuer needs --second-start, the address that signs in there");
  }
  if (mark === undefined) {
    const without = Object.entries({ "--mark-field": markField, "--mark-header": markHeader[0], "--show": show });
    const stray = without.find(([, value]) => value !== undefined);
    if (stray !== undefined) throw usage(`${stray[0]} needs --mark, which writes the text`);
  }
  if (account !== undefined && mark !== undefined)
    throw usage("--account takes the place of --mark; leave one of them out");
  if (accountId !== undefined && account === undefined)
    throw usage("--account-id needs --account, the address that shows the id");
  if (account !== undefined) {
    if (accountId === undefined)
      throw usage("--account needs --account-id, which says where the id is", "For JSON: --account-id /data/id");
    const id = idPlaceOf(accountId);
    if (typeof id === "string") throw usage(`--account-id ${id}`);
    return { kind: "id", url: account, id };
  }
  if (mark === undefined) return null;
  const place = markPlaceOf(mark, markField ?? null);
  if (typeof place === "string")
    throw usage(
      `--mark ${place}`,
      `A page with a form, or a request: 'POST http://localhost:3000/api/note {"note":"{mark}"}'`,
    );
  if (place.kind === "request" && markField !== undefined)
    throw usage("--mark-field is for a form; a request says itself where the text goes");
  return { kind: "mark", mark: place, headers: markHeader.map(headerOf), show: show ?? place.url };
}

function headerOf(text: string): MarkHeader {
  const header = markHeaderOf(text);
  // The value may be a secret.
  if (typeof header === "string") throw usage(`--mark-header ${header}`);
  return header;
}

/** The addresses in these flags, by the flags. */
export function addressesOf(
  place: AccountPlace | null,
  { secondStart }: AccountFlags,
): Record<string, string | undefined> {
  const second = { "--second-start": secondStart };
  if (place === null) return second;
  if (place.kind === "id") return { "--account": place.url, ...second };
  const pages = place.headers.flatMap(({ from }) => (from === null ? [] : [["--mark-header", from.url] as const]));
  return { "--mark": place.mark.url, "--show": place.show, ...second, ...Object.fromEntries(pages) };
}
