/** The address of a shared store, `postgres://USER:PASSWORD@HOST/DB`, and how it is shown: never with its password. */

const begins = /^postgres(?:ql)?:\/\//;

/** @returns what is wrong with an address, without repeating more of it than its scheme; null: nothing */
export function problemOfAddress(text: string): string | null {
  const example = "takes an address such as postgres://idp@db.example.test/idp";
  if (!begins.test(text)) {
    const [scheme] = /^[a-z][a-z\d+.-]*:/i.exec(text) ?? [null];
    return scheme === null ? example : `${example}; this one begins with ${scheme}`;
  }
  return URL.canParse(text) ? null : `${example}; this one is not a URL. Encode special characters, such as @ as %40`;
}

/** The error of Node.js would hold the password. @throws {TypeError} it is not a URL */
function parse(address: string): URL {
  if (!URL.canParse(address)) throw new TypeError("the address of the store is not a URL");
  return new URL(address);
}

/** Other users of a machine can list the arguments of its processes. */
export function holdsPassword(address: string): boolean {
  const { password, searchParams } = parse(address);
  return password !== "" || searchParams.has("password");
}

/** An address without its password. */
export function withoutPassword(address: string): string {
  if (!holdsPassword(address)) return address;
  const url = parse(address);
  url.password = "";
  url.searchParams.delete("password");
  return url.href;
}

/** The words of a command line, without the passwords of addresses. */
export const wordsWithoutPassword = (words: readonly string[]): readonly string[] =>
  words.map((word) => {
    const address = word.replace(/^--store=/, "");
    if (!begins.test(address)) return word;
    const shown = problemOfAddress(address) === null ? withoutPassword(address) : "postgres://…";
    return word.slice(0, word.length - address.length) + shown;
  });
