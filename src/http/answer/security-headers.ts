/**
 * The security headers of every response. Some that are usual elsewhere would break an identity provider
 * that runs on plain http:
 *
 * - No `form-action`: browsers apply it to the redirect that follows a form too, so it would block the redirect to the client.
 * - No Cross-Origin-Opener-Policy: it cuts `window.opener` permanently, and sign-in in a popup answers through that.
 * - No Strict-Transport-Security, no `upgrade-insecure-requests`: `http://localhost` would stop working, for every port.
 */
type Headers = Readonly<Record<string, string>>;

const pageHeaders = (referrerPolicy: string, scripts = ""): Headers => ({
  "Content-Security-Policy": `default-src 'none'; style-src 'self';${scripts} img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'`,
  "X-Content-Type-Options": "nosniff",
  // For browsers without frame-ancestors.
  "X-Frame-Options": "DENY",
  "Referrer-Policy": referrerPolicy,
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "no-store",
});

/** For a page with a form. Under `no-referrer` browsers send `Origin: null` with a form, and the form would be refused. */
export const formPageHeaders = pageHeaders("same-origin");

/** For a page of the inspector that follows the requests as they come. Its script, and what that loads, come from this server. */
const liveScripts = " script-src 'self'; connect-src 'self';";
export const livePageHeaders = pageHeaders("no-referrer", liveScripts);
export const liveFormPageHeaders = pageHeaders("same-origin", liveScripts);

/** For a page that may ask the browser for a passkey. Its script comes from this server. */
export const passkeyPageHeaders = pageHeaders("same-origin", " script-src 'self';");

/** The same, for a page whose script is a file of this server. */
export const withOwnScript = (headers: Headers): Headers => ({
  ...headers,
  "Content-Security-Policy": (headers["Content-Security-Policy"] ?? "").replace(
    " img-src",
    " script-src 'self'; img-src",
  ),
});

/** For a page without a form. */
export const plainPageHeaders = pageHeaders("no-referrer");

/**
 * For the page that posts an answer to a client by itself (OAuth 2.0 Form Post Response Mode 2). Its one script, in
 * `templates/form-post.eta`, is allowed by its hash. The client sees which origin posts.
 */
export const formPostHeaders = pageHeaders(
  "strict-origin",
  " script-src 'sha256-ePniVEkSivX/c7XWBGafqh8tSpiRrKiqYeqbG7N1TOE=';",
);

/** For a JSON answer. Without Cross-Origin-Resource-Policy, because apps of other origins read these answers (CORS). */
export const apiHeaders: Headers = {
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};

/** For a JSON answer that no cache may keep: everything that carries tokens or data of a user (RFC 6749 5.1). */
export const privateApiHeaders: Headers = { ...apiHeaders, "Cache-Control": "no-store" };

/** For a JSON answer that a cache asks for each time: a new key signs at once, and who has the old set would refuse its signatures. */
export const checkedApiHeaders: Headers = { ...apiHeaders, "Cache-Control": "no-cache" };

/** For a body that somebody else chose: opened by itself it is of no origin, and runs nothing. */
export const sandboxed: Headers = {
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
};

/** For the icon: an SVG opened by itself must not run anything. */
export const iconHeaders: Headers = {
  "Content-Security-Policy": "default-src 'none'; sandbox",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "public, max-age=86400",
};

/** For the stylesheet and the script. Their addresses have a digest of the content, so they may be kept forever. */
export const assetHeaders: Headers = {
  "X-Content-Type-Options": "nosniff",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Cache-Control": "public, max-age=31536000, immutable",
};
