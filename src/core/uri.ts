/** RFC 3986 2: what a URI may be made of. Everything else (spaces, quotes, backslashes, letters beyond ASCII) is to be percent-encoded. */
const uriCharacters = /^(?:[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})*$/;

export const hasUriCharacters = (text: string): boolean => uriCharacters.test(text);

/** Whether a URI is absolute and a URL parser can read it. It is never asked about other letters: a host of 50,000 of them takes it a second. */
export const isAbsoluteUri = (text: string): boolean => hasUriCharacters(text) && URL.canParse(text);
