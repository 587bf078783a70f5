/** Addresses, as they are typed. */

/** An http or https URL with a host. */
export const isWebUrl = (value: string): boolean => URL.canParse(value) && /^https?:\/\/[^/]/.test(value);
