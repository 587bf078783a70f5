/** RFC 6749 A.1, of a length that fits anywhere. `.` and `..` are excluded: HTTP clients remove them from the paths of the control API. */
export const clientIdForm = /^(?!\.{1,2}$)[\x20-\x7e]{1,200}$/;
export const clientIdRule = "1 to 200 characters of ASCII (RFC 6749 A.1), not . or ..";

/** The client that `idp login` uses by default. */
export const loginClient = "idp-cli";

/** The built-in app "Try it" (`core/try-it`). */
export const tryItClientId = "idp-try-it";
