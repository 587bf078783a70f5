/** Reads from HTML what a browser without scripts needs to go on. */

const entities: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

const decoded = (text: string): string =>
  text.replaceAll(/&(?:#x([\da-f]{1,6})|#(\d{1,7})|(\w+));/gi, (whole, hex?: string, decimal?: string, name = "") => {
    const point = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
    if (Number.isNaN(point)) return entities[String(name)] ?? whole;
    return point > 0x10ffff ? whole : String.fromCodePoint(point);
  });

function attribute(tag: string, name: string): string | null {
  const found = new RegExp(`\\s${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s"'>]+))`, "i").exec(tag);
  return found === null ? null : decoded(found[1] ?? found[2] ?? found[3] ?? "");
}

export interface Form {
  readonly action: string;
  readonly fields: URLSearchParams;
}

/** The form of a page that has a single form with nothing to fill in, as "Sign in with …" often is; null: a person has to decide. */
export function onlyForm(html: string, address: string): Form | null {
  const forms = [...html.matchAll(/<form\b[^>]*>[\s\S]*?<\/form>/gi)].map(([whole]) => whole);
  const [form = "", ...others] = forms;
  const open = /^<form\b[^>]*>/i.exec(form)?.[0] ?? "";
  if (others.length > 0 || attribute(open, "method")?.toLowerCase() !== "post") return null;
  const inputs = Array.from(form.matchAll(/<input\b[^>]*>/gi), ([tag]) => tag);
  const isHidden = (tag: string): boolean => attribute(tag, "type")?.toLowerCase() === "hidden";
  const isButton = (tag: string): boolean => attribute(tag, "type")?.toLowerCase() === "submit";
  if (/<(select|textarea)\b/i.test(form) || !inputs.every((tag) => isHidden(tag) || isButton(tag))) return null;
  const fields = inputs.filter(isHidden).map((tag): [string, string] => {
    return [attribute(tag, "name") ?? "", attribute(tag, "value") ?? ""];
  });
  return { action: new URL(attribute(open, "action") ?? address, address).href, fields: new URLSearchParams(fields) };
}

/** Where a page sends the browser on by itself (`<meta http-equiv="refresh">`). */
export function refreshOf(html: string, address: string): string | null {
  const tag = /<meta\b[^>]*http-equiv\s*=\s*["']?refresh[^>]*>/i.exec(html)?.[0] ?? "";
  const target = /;\s*url\s*=\s*['"]?(.+?)['"]?\s*$/i.exec(attribute(tag, "content") ?? "")?.[1];
  return target !== undefined && URL.canParse(target, address) ? new URL(target, address).href : null;
}
