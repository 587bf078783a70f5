import fc from "fast-check";
import { harmfulJson, notAnObject, wrongValues } from "../helpers/malformed-bodies.ts";

/** Requests at random: words that the server knows, words that hurt programs, and noise, put where they belong and where they do not. */

/** Names of parameters, and of members of JavaScript's own objects. */
const names = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom(
      ..."response_type client_id client_secret redirect_uri scope state nonce code code_challenge code_challenge_method".split(
        " ",
      ),
      ..."code_verifier prompt max_age login_hint id_token_hint acr_values ui_locales claims response_mode request".split(
        " ",
      ),
      ..."request_uri grant_type refresh_token token token_type_hint client_assertion client_assertion_type resource".split(
        " ",
      ),
      ..."audience device_code user_code decision username password pick csrf dpop_jkt access_token subject_token".split(
        " ",
      ),
      ..."subject_token_type actor_token post_logout_redirect_uri redirect_uris jwks id user client grant users".split(
        " ",
      ),
      ..."clients sources settings as limit alg leeway expires_in type fixtures document source name text".split(" "),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom("__proto__", "constructor", "toString", "hasOwnProperty", "", "a[b]", "a.b", "$ne"),
  },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 20 }) },
);

/** @param known what is good for something at this server: names, secrets, tokens */
const values = (known: () => readonly string[]) =>
  fc.oneof(
    { weight: 6, arbitrary: fc.nat(1000).map((at) => known()[at % known().length] ?? "") },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        ...[
          "",
          " ",
          "\0",
          "\ud800",
          "\u202e",
          "\r\nX-Injected: 1",
          "%",
          "%00",
          "../../etc/passwd",
          "<script>",
          "{{7*7}}",
          "{% x %}",
        ],
        ...[
          "null",
          "-1",
          "1e999",
          "NaN",
          "9".repeat(400),
          "[]",
          "{}",
          '{"userinfo":{"__proto__":null}}',
          "a".repeat(9000),
        ],
        ...[
          "eyJhbGciOiJub25lIn0.e30.",
          "e30.e30.e30",
          "....",
          "data:,x",
          "javascript:alert(1)",
          "http://[::1",
          "https://a@b:c/",
        ],
      ),
    },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 60 }) },
    { weight: 1, arbitrary: fc.webUrl({ withQueryParameters: true, withFragments: true }) },
  );

export interface FuzzedRequest {
  readonly method: string;
  /** With its query. */
  readonly target: string;
  readonly headers: readonly string[];
  /** latin1 */
  readonly body: string;
}

const toLatin1 = (text: string): string => Buffer.from(text).toString("latin1");
/** What a header can hold at all; what it cannot is the raw requests' matter. */
const headerText = (text: string): string => text.replace(/[^\x20-\x7e\x80-\xff]/g, "");
const encode = (text: string): string => encodeURIComponent(text.replace(/[\ud800-\udfff]/gu, "\ufffd"));

/**
 * @param targets the methods of each path; `:name` in a path is filled in
 * @param known as above @param credentials header lines that open something
 */
export function requests(
  targets: readonly (readonly [path: string, methods: readonly string[]])[],
  known: () => readonly string[],
  credentials: () => readonly string[],
): fc.Arbitrary<FuzzedRequest> {
  const value = values(known);
  const pairs = fc.array(fc.tuple(names, value), { maxLength: 12 });
  const encoded = fc.oneof(
    { weight: 19, arbitrary: value.map(encode) },
    // Invalid encodings: bytes that are not UTF-8, and half escapes.
    { weight: 1, arbitrary: fc.constantFrom("%FF", "%C3%28", "%F0%9F%98", "%ED%A0%80", "%", "%4", "%zz", "%u0041") },
  );
  const query = fc
    .array(fc.tuple(names, encoded), { maxLength: 12 })
    .map((all) => all.map(([name, text]) => `${encode(name)}=${text}`).join("&"));
  const json = fc.oneof(
    { weight: 3, arbitrary: pairs.map((all) => JSON.stringify(Object.fromEntries(all))) },
    {
      weight: 2,
      arbitrary: fc
        .dictionary(names, fc.oneof(value, fc.constantFrom(...wrongValues), fc.jsonValue({ maxDepth: 3 })), {
          maxKeys: 10,
        })
        .map((object) => JSON.stringify(object)),
    },
    { weight: 1, arbitrary: fc.json() },
    { weight: 1, arbitrary: fc.constantFrom("", ...notAnObject, ...harmfulJson) },
  );
  const noise = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes).toString("latin1"));
  const body = fc.oneof(
    { weight: 4, arbitrary: query.map((text) => ({ type: "application/x-www-form-urlencoded", text })) },
    { weight: 4, arbitrary: json.map((text) => ({ type: "application/json", text: toLatin1(text) })) },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constantFrom(
          "application/json",
          "application/x-www-form-urlencoded",
          "application/json; charset=utf-16",
          "application/json; charset=ucs-9",
          "multipart/form-data; boundary=x",
          "text/plain",
          "*/*",
          ";",
          "",
        ),
        text: noise,
      }),
    },
    { weight: 1, arbitrary: fc.constant({ type: "", text: "" }) },
  );
  const header = fc.oneof(
    { weight: 6, arbitrary: fc.nat(1000).map((at) => credentials()[at % credentials().length] ?? "X-Nothing: 1") },
    {
      weight: 3,
      arbitrary: fc
        .tuple(
          fc.constantFrom(
            "Authorization: Bearer ",
            "Authorization: Basic ",
            "Authorization: DPoP ",
            "Cookie: ",
            "DPoP: ",
            "Origin: ",
            "Accept: ",
            "Accept-Language: ",
            "Content-Encoding: ",
            "Referer: ",
            "X-Forwarded-Host: ",
            "If-None-Match: ",
            "Range: bytes=",
            "Sec-Fetch-Site: ",
            "Expect: ",
          ),
          value,
        )
        .map(([name, text]) => headerText(name + toLatin1(text))),
    },
    {
      weight: 2,
      arbitrary: fc.constantFrom(
        "Accept: text/html",
        "Accept: application/json",
        "Accept: ;q=",
        "Accept-Language: tr",
        "Accept-Language: *;q=9",
      ),
    },
  );
  const method = fc
    .nat(9)
    .chain((dice) =>
      dice > 0
        ? fc.constant(null)
        : fc.constantFrom("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "PROPFIND"),
    );
  return fc
    .record({
      target: fc.constantFrom(...targets),
      method,
      which: fc.nat(9),
      segment: value,
      query: fc.option(query),
      headers: fc.uniqueArray(header, { maxLength: 4, selector: (line) => line.split(":")[0] }),
      body,
    })
    .map(({ target: [path, methods], method, which, segment, query, headers, body }) => {
      const chosen = method ?? methods[which % methods.length] ?? "GET";
      const filled = path.replace(/:\w+/, () => encode(segment));
      const hasBody = body.text !== "" && chosen !== "GET" && chosen !== "HEAD";
      return {
        method: chosen,
        target: query === null ? filled : `${filled}?${query}`,
        headers: [
          ...headers,
          ...(hasBody && body.type !== "" ? [`Content-Type: ${body.type}`] : []),
          ...(hasBody ? [`Content-Length: ${body.text.length}`] : []),
        ],
        body: hasBody ? body.text : "",
      };
    });
}
