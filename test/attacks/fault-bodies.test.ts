import { describe, expect, test } from "vitest";
import { underAttack } from "../helpers/attack.ts";
import { authorizeUrl, paths } from "../helpers/client.ts";

/** Who may add faults chooses bodies that are served at the issuer's origin. They get nothing of that origin. `browser/fault-body` runs one in Chromium. */

const idp = await underAttack();
const page = { body: "<script>fetch('/account')</script>", content_type: "text/html" };

describe("a body is sandboxed, whatever headers come with it", () => {
  test.each([
    ["jwks", "/api/v2/oauth/jwks", {}],
    ["discovery", "/.well-known/openid-configuration", { "X-Frame-Options": "ALLOWALL" }],
    ["authorize", authorizeUrl(idp).slice(idp.issuer.length), { "X-Content-Type-Options": "x" }],
    ["logout", "/api/v2/oauth/logout", {}],
    ["userinfo", paths.userinfo, { "Retry-After": "1" }],
  ] as const)("at %s", async (endpoint, path, header) => {
    for (const after of endpoint === "authorize" ? [false] : [false, true]) {
      await idp.faults.add({ endpoint, ...page, header, after });
      const { headers } = await fetch(idp.issuer + path, { redirect: "manual" });
      expect(headers.get("content-type")).toBe("text/html");
      expect(headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'; sandbox");
    }
  });
});

const addOverApi = async (fault: object): Promise<{ status: number; messages: readonly string[] }> => {
  const answer = await fetch(`${idp.issuer}/_idp/api/faults`, {
    method: "POST",
    headers: { authorization: `Bearer ${idp.adminToken}`, "content-type": "application/json" },
    body: JSON.stringify(fault),
  });
  const { problems = [] } = (await answer.json()) as { problems?: readonly { message: string }[] };
  return { status: answer.status, messages: problems.map(({ message }) => message) };
};

const reasons = {
  pages: "it would change the policy or the cookies of idp's own pages",
  origin: "browsers keep it for the whole origin, beyond this answer",
  cache: "a cache would keep the answer, and what a fault made is never kept",
  proxy: "it is an order to a proxy",
} as const;

describe("a header that holds beyond its answer is refused", () => {
  test.each<[string, keyof typeof reasons]>([
    ["Content-Security-Policy", "pages"],
    ["content-security-policy-report-only", "pages"],
    ["CONTENT-security-POLICY", "pages"],
    ["Set-Cookie", "pages"],
    ["set-cookie2", "pages"],
    ["sET-cOOKIE", "pages"],
    ["Clear-Site-Data", "origin"],
    ["Strict-Transport-Security", "origin"],
    ["NEL", "origin"],
    ["Report-To", "origin"],
    ["Reporting-Endpoints", "origin"],
    ["Alt-Svc", "origin"],
    ["Service-Worker-Allowed", "origin"],
    ["Accept-CH", "origin"],
    ["Origin-Agent-Cluster", "origin"],
    ["Set-Login", "origin"],
    ["Access-Control-Max-Age", "origin"],
    ["Cache-Control", "cache"],
    ["CDN-Cache-Control", "cache"],
    ["Surrogate-Key", "cache"],
    ["Expires", "cache"],
    ["X-Accel-Redirect", "proxy"],
    ["x-accel-expires", "proxy"],
    ["X-Sendfile", "proxy"],
    ["X-LIGHTTPD-send-file", "proxy"],
    ["X-Reproxy-URL", "proxy"],
    ["X-Middleware-Rewrite", "proxy"],
  ])("%s", async (name, why) => {
    for (const fault of [{ ...page }, { status: 503 }]) {
      expect(await addOverApi({ endpoint: "jwks", ...fault, header: { [name]: "x" } })).toEqual({
        status: 422,
        messages: [`"${name}" cannot be set: ${reasons[why]}`],
      });
    }
    const fixtures = { faults: [{ endpoint: "jwks", ...page, header: { [name]: "x" } }] };
    await expect(idp.call("seed", fixtures)).rejects.toMatchObject({ code: "invalid" });
    expect(await idp.faults.list()).toEqual([]);
  });

  test.each(["Connection", "Trailer", "Upgrade", "Proxy-Authenticate", "Content-Length"])("%s", async (name) => {
    const { status, messages } = await addOverApi({ endpoint: "jwks", status: 503, header: { [name]: "x" } });
    expect([status, messages]).toEqual([422, [`"${name}" is not a header that can be set`]]);
  });

  test("the parts of a multipart body have headers of their own, so that type is refused", async () => {
    const type = "Multipart/x-mixed-replace; boundary=b";
    for (const given of [{ content_type: type }, { header: { "Content-Type": type } }]) {
      const { status, messages } = await addOverApi({ endpoint: "jwks", body: "--b", ...given });
      expect([status, messages]).toEqual([422, ["must not be a multipart type: its parts would have headers"]]);
    }
  });

  test.each(["Retry-After", "WWW-Authenticate", "Location", "DPoP-Nonce", "X-Request-Id", "X-Frame-Options", "Server"])(
    "%s is about its answer alone, and is sent",
    async (name) => {
      await idp.faults.add({ endpoint: "jwks", status: 410, header: { [name]: "1" } });
      expect((await fetch(`${idp.issuer}/api/v2/oauth/jwks`)).headers.get(name)).toBe("1");
    },
  );
});

describe("no cache keeps what a fault made", () => {
  const discovery = "/.well-known/openid-configuration";
  test.each<[string, string, object]>([
    ["another body", discovery, { endpoint: "discovery", ...page }],
    ["another status", discovery, { endpoint: "discovery", status: 410 }],
    ["a flaw of discovery", discovery, { endpoint: "discovery", flaw: "issuer-mismatch" }],
    ["a flaw of the keys", "/api/v2/oauth/jwks", { endpoint: "jwks", flaw: "keys-empty" }],
    ["an answer that is cut off", discovery, { endpoint: "discovery", drop_after: 5 }],
  ])("%s", async (_what, path, fault) => {
    const usual = await fetch(idp.issuer + path);
    expect(usual.headers.get("cache-control")).not.toBe("no-store");
    expect((await addOverApi(fault)).status).toBe(201);
    const { headers } = await fetch(idp.issuer + path);
    expect(headers.get("cache-control")).toBe("no-store");
  });
});
