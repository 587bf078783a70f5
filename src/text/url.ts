/** Addresses, as they are typed. */

/** An http or https URL with a host. */
export const isWebUrl = (value: string): boolean => URL.canParse(value) && /^https?:\/\/[^/]/.test(value);

/** A value of an address without its URL encoding; as it is, if that is not valid. */
export function decoded(value: string): string {
  try {
    return decodeURIComponent(value.replaceAll("+", " "));
  } catch {
    return value;
  }
}
