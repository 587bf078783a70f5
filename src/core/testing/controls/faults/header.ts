import { textOf } from "../../../records/fields.ts";

/**
 * The headers that a fault may set. It is served at the origin of idp's own pages, so none may hold beyond its answer: for another page, for
 * the whole origin or host, in a cache, or in the proxy on the way.
 */

interface Class {
  /** The end of the refusal of its headers. */
  readonly why: string;
  /** In small letters; `*` stands for any text. */
  readonly names: string;
}

const classes: readonly Class[] = [
  {
    why: "it would change the policy or the cookies of idp's own pages",
    names: "content-security-policy* set-cookie*",
  },
  {
    why: "browsers keep it for the whole origin, beyond this answer",
    names:
      "strict-transport-security public-key-pins* expect-ct expect-staple clear-site-data nel report-to reporting-endpoints " +
      "alt-svc alternate-protocol service-worker-allowed origin-agent-cluster accept-ch* critical-ch set-login " +
      "*sec-session-* secure-session-* use-as-dictionary available-dictionary speculation-rules activate-storage-access " +
      "attribution-reporting-* observe-browsing-topics shared-storage-write access-control-max-age",
  },
  {
    why: "a cache would keep the answer, and what a fault made is never kept",
    names:
      "*cache-control* cache-tag* cache-group* pragma expires age etag last-modified surrogate-* edge-control *edge-cache-* x-cache* *-ttl",
  },
  {
    why: "it is an order to a proxy",
    names:
      "x-accel-* x-sendfile* x-lighttpd-* x-litespeed-* x-reproxy-* x-middleware-* x-envoy-* x-nginx-* x-varnish* x-proxy-* x-original-* " +
      "x-rewrite-* x-forwarded-* cf-* cdn-* fastly-* x-fastly-* akamai-* x-akamai-* x-vercel-* x-nf-* x-amz-* x-ms-*",
  },
  {
    // Node.js sets some of them itself. The others are about the connection (RFC 9110 7.6.1).
    why: "",
    names:
      "content-length transfer-encoding connection keep-alive proxy-* te trailer upgrade upgrade-insecure-requests http2-settings",
  },
];

const namesOf = ({ names }: Class): readonly string[] => names.split(" ");

/** A name as a regular expression. A JSON Schema has no flag to ignore the case. */
const pattern = (name: string): string =>
  name.replaceAll("*", ".*").replace(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);

const classOf = (given: string): Class | undefined =>
  classes.find((one) => namesOf(one).some((name) => new RegExp(`^${pattern(name)}$`).test(given)));

const refused = classes.flatMap(namesOf).map(pattern);

export const headerName = textOf(new RegExp(`^(?!(?:${refused.join("|")})$)[!#$%&'*+.^_\`|~0-9A-Za-z-]+$`), (given) => {
  const why = classOf(given)?.why ?? "";
  return why === "" ? `"${given}" is not a header that can be set` : `"${given}" cannot be set: ${why}`;
});

/** Parts have headers that browsers read, cookies among them. */
export const headerValue = textOf(/^(?![Mm][Uu][Ll][Tt][Ii][Pp][Aa][Rr][Tt]\/)[\x20-\x7e]*$/, (given) =>
  /^multipart\//i.test(given)
    ? "must not be a multipart type: its parts would have headers"
    : "must be printable ASCII",
);
