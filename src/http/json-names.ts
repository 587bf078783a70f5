/** A text, or what an object of JSON is made of besides. In whole texts only, so that nothing inside of one is taken for anything else. */
const tokens = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:]/g;

/**
 * `JSON.parse` takes the last of two values of one name and says nothing, another reader the first (RFC 8259 4): so one could check a parameter
 * that the other does not use (RFC 6749 3.2).
 * @param text JSON: in any other, one quotation mark could be looked through to its end for each that it holds
 * @returns the first name that one object has twice
 */
export function repeatedName(text: string): string | undefined {
  /** The names of what is open at this place; a list has none. */
  const open: (Set<string> | null)[] = [];
  let last = "";
  for (const [token] of text.matchAll(tokens)) {
    if (token === "{") open.push(new Set());
    else if (token === "[") open.push(null);
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":") {
      const names = open.at(-1);
      // Two that are spelt differently may be the same.
      const name = last.includes("\\") ? (JSON.parse(last) as string) : last.slice(1, -1);
      if (names?.has(name) === true) return name;
      names?.add(name);
    }
    last = token;
  }
  return undefined;
}
