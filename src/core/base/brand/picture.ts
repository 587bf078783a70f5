/** A logo: a picture in a data URL (RFC 2397). What it is said to be must be what it is, because browsers are told not to guess. */

interface Kind {
  /** The media type. */
  readonly type: string;
  readonly name: string;
  /** The ends of file names. */
  readonly ends: readonly string[];
  readonly is: (bytes: Buffer) => boolean;
}

export interface Picture {
  /** The media type. */
  readonly type: string;
  readonly bytes: Buffer;
}

/** The size limit in bytes: 100 kB. */
const maxPicture = 100_000;

const begins = (bytes: Buffer, hex: string, at = 0): boolean =>
  bytes.subarray(at, at + hex.length / 2).toString("hex") === hex;

/** The root element of an SVG, after a byte order mark, the XML declaration, comments and a document type without its own declarations. */
const svgForm =
  /^\ufeff?\s*(?:<\?xml[^>]*>\s*)?(?:(?:<!--(?:(?!-->)[\s\S])*-->|<!DOCTYPE\s+svg\b[^>[]*>)\s*)*<svg[\s>/]/;

const kinds: readonly Kind[] = [
  { type: "image/png", name: "PNG", ends: ["png"], is: (bytes) => begins(bytes, "89504e470d0a1a0a") },
  { type: "image/jpeg", name: "JPEG", ends: ["jpg", "jpeg"], is: (bytes) => begins(bytes, "ffd8ff") },
  {
    type: "image/webp",
    name: "WebP",
    ends: ["webp"],
    is: (bytes) => begins(bytes, "52494646") && begins(bytes, "57454250", 8),
  },
  { type: "image/svg+xml", name: "SVG", ends: ["svg"], is: (bytes) => svgForm.test(bytes.toString()) },
];

/** The media type of a file name; undefined for no picture. */
export const pictureType = (file: string): string | undefined =>
  kinds.find(({ ends }) => ends.some((end) => file.toLowerCase().endsWith(`.${end}`)))?.type;

/** A picture as a data URL. */
export const pictureUrl = (type: string, bytes: Buffer): string => `data:${type};base64,${bytes.toString("base64")}`;

export const isDataUrl = (text: string): boolean => /^data:/i.test(text);

const tooLarge = "has more than 100 kB; a logo may have 100,000 bytes";

/** What is wrong with a picture of that many bytes; null: nothing. */
export const sizeProblem = (bytes: number): string | null => (bytes > maxPicture ? tooLarge : null);

/** The bytes of a data URL, or what is wrong with them. */
function bytesOf(content: string, isBase64: boolean): Buffer | string {
  // Three characters for each byte, at most.
  if (content.length > 3 * maxPicture) return tooLarge;
  if (isBase64) {
    const bytes = Buffer.from(content, "base64");
    return bytes.toString("base64") === content ? bytes : "is a data URL whose content is not base64";
  }
  try {
    return Buffer.from(decodeURIComponent(content));
  } catch {
    return "is a data URL whose content is not percent-encoded UTF-8";
  }
}

/** Reads a logo. @returns a sentence, without its subject, if it is not one */
export function readPicture(url: string): Picture | string {
  if (!isDataUrl(url)) {
    return `must be a data URL such as data:image/png;base64,…; a path counts only in a fixture file`;
  }
  const comma = url.indexOf(",");
  const [type = "", ...parameters] = url.slice("data:".length, Math.max(comma, 0)).toLowerCase().split(";");
  const kind = kinds.find((one) => one.type === type);
  const known = parameters.every((one) => ["base64", "charset=utf-8", "utf8"].includes(one));
  if (comma === -1 || kind === undefined || !known) {
    return `must be a data URL of one of ${kinds.map((one) => one.type).join(", ")}`;
  }
  const bytes = bytesOf(url.slice(comma + 1), parameters.includes("base64"));
  if (typeof bytes === "string") return bytes;
  const problem = sizeProblem(bytes.length);
  if (problem !== null) return problem;
  return kind.is(bytes) ? { type, bytes } : `has the type ${type}, but its content is not ${kind.name}`;
}
