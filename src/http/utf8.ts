/** Whether percent-encoded bytes are UTF-8 (RFC 6749 B). What would stand for others is another text, and `state` goes back as it came. */

const encodedBytes = /(?:%[0-9a-f]{2})+/gi;

function decodes(encoded: string): boolean {
  try {
    decodeURIComponent(encoded);
    return true;
  } catch {
    return false;
  }
}

/** @param text of a query or a form; a "%" that encodes nothing stands for itself */
export function isUtf8Encoded(text: string): boolean {
  // ASCII alone, as most requests are.
  if (!/%[89a-f]/i.test(text)) return true;
  return (text.match(encodedBytes) ?? []).every(decodes);
}
