/** What XML 1.0 and Namespaces 1.0 say of characters, names and references. */

/** Why a text is not read as XML. */
export class XmlProblem extends Error {
  override readonly name = "XmlProblem";
}

export function refuse(message: string): never {
  throw new XmlProblem(message);
}

/** A place in a text. */
export interface Cursor {
  readonly text: string;
  at: number;
}

/** Refuses what is at the cursor, by its line. */
export function wrong({ text, at }: Cursor, message: string): never {
  refuse(`it is not well-formed XML: line ${text.slice(0, at).split("\n").length}: ${message}`);
}

/** Reads what has this form at the cursor. */
export function matchAt(pattern: RegExp, cursor: Cursor): RegExpExecArray | null {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.text);
  if (found !== null) cursor.at = pattern.lastIndex;
  return found;
}

/** A character that XML 1.0 cannot have (2.2): also a lone surrogate. */
export const impossible =
  /[^\t\n\r\u0020-\ud7ff\ud800-\udfff\ue000-\ufffd]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

/** Whether a text can be in XML. */
export const isXmlText = (text: string): boolean => !impossible.test(text);

/** Letters that begin a name, and those that go on with it (XML 1.0 2.3), without the colon, which Namespaces 1.0 gives to prefixes. */
const first =
  "A-Z_a-z\\u{c0}-\\u{d6}\\u{d8}-\\u{f6}\\u{f8}-\\u{2ff}\\u{370}-\\u{37d}\\u{37f}-\\u{1fff}\\u{200c}-\\u{200d}\\u{2070}-\\u{218f}\\u{2c00}-\\u{2fef}\\u{3001}-\\u{d7ff}\\u{f900}-\\u{fdcf}\\u{fdf0}-\\u{fffd}\\u{10000}-\\u{effff}";
const name = `[${first}][\\u{300}-\\u{36f}${first}\\-.0-9\\u{b7}\\u{203f}\\u{2040}]*`;

// Each is tried at one place (flag y), and none can be tried in many ways there.
export const declaration =
  /<\?xml[ \t\n]+version[ \t\n]*=[ \t\n]*(?:"1\.0"|'1\.0')(?:[ \t\n]+encoding[ \t\n]*=[ \t\n]*(?:"([A-Za-z][\w.-]*)"|'([A-Za-z][\w.-]*)'))?(?:[ \t\n]+standalone[ \t\n]*=[ \t\n]*(?:"(?:yes|no)"|'(?:yes|no)'))?[ \t\n]*\?>/y;
export const space = /[ \t\n]*/y;
export const qualified = new RegExp(`(?:(${name}):)?(${name})`, "uy");
export const target = new RegExp(`${name}(?=[ \\t\\n]|\\?>)`, "uy");
export const equals = /[ \t\n]*=[ \t\n]*(?=["'])/y;
const reference = /&(?:(lt|gt|amp|quot|apos)|#0*(\d{1,7})|#x0*([\dA-Fa-f]{1,6}));|&/g;
const named: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

/** Puts the characters in place of references (XML 1.0 4.1, 4.6). */
export const resolve = (cursor: Cursor, piece: string): string =>
  piece.replaceAll(reference, (_, entity?: string, decimal?: string, hex?: string) => {
    if (entity !== undefined) return named[entity] ?? "";
    const code = decimal === undefined ? Number.parseInt(hex ?? "", 16) : Number(decimal);
    if (Number.isNaN(code)) wrong(cursor, '"&" begins no reference to a character, nor &lt; &gt; &amp; &quot; &apos;');
    const character = code <= 0x10_ffff ? String.fromCodePoint(code) : "\0";
    return isXmlText(character) ? character : wrong(cursor, "a reference to a character that XML 1.0 does not allow");
  });
