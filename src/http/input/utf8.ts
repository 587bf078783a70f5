const encodedBytes = /(?:%[0-9a-f]{2})+/gi;

function decodes(encoded: string): boolean {
  try {
    decodeURIComponent(encoded);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether percent-encoded bytes are UTF-8 (RFC 6749 B). Decoders replace other bytes, and `state` has to be returned unchanged.
 * @param text of a query or a form; a "%" that encodes nothing stands for itself
 */
export const isUtf8Encoded = (text: string): boolean => (text.match(encodedBytes) ?? []).every(decodes);
