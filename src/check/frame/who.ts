import type { Visit } from "../../client/app/visit.ts";

/** Who is signed in, by the names on a page. */

/** Whose names a page shows. */
export interface Shown {
  readonly user: boolean;
  readonly attacker: boolean;
}

/** Somebody, by what a page may show of them, and of no other. */
interface Named {
  readonly names: readonly string[];
}

const nobody: Shown = { user: false, attacker: false };

/**
 * Whose names are on a page. At each place the longest one counts: the attacker's address begins with that of the user.
 * @param visit of the page
 */
export function shownBy({ end }: Visit, user: Named, attacker: Named): Shown {
  if (end.kind !== "page") return nobody;
  const text = plain(end.text);
  const ofUser = user.names.map((name) => name.toLowerCase());
  const ofAttacker = attacker.names.map((name) => name.toLowerCase()).filter((name) => !ofUser.includes(name));
  const found = new Set<string>();
  const all = [...ofUser, ...ofAttacker].sort((one, other) => other.length - one.length);
  let rest = text;
  for (const name of all) {
    const parts = rest.split(name);
    if (parts.length > 1) found.add(name);
    // What is left out may be part of no shorter name.
    rest = parts.join("\n");
  }
  return { user: ofUser.some((name) => found.has(name)), attacker: ofAttacker.some((name) => found.has(name)) };
}

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** The text of HTML or JSON as a person reads it, in lower case. */
const plain = (text: string): string =>
  text
    .replaceAll(/\\u([\da-f]{4})/gi, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)))
    .replaceAll(
      /&(?:#x([\da-f]{1,6})|#(\d{1,7})|(amp|lt|gt|quot|apos));/gi,
      (all, hex?: string, digits?: string, name?: string) => {
        const code = hex === undefined ? Number(digits) : Number.parseInt(hex, 16);
        if (name !== undefined) return entities[name.toLowerCase()] ?? all;
        return code <= 0x10ffff ? String.fromCodePoint(code) : all;
      },
    )
    .toLowerCase();
