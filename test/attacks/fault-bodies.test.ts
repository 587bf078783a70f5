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
    ["userinfo", paths.userinfo, { "Cache-Control": "public" }],
  ] as const)("at %s", async (endpoint, path, header) => {
    for (const after of endpoint === "authorize" ? [false] : [false, true]) {
      await idp.faults.add({ endpoint, ...page, header, after });
      const { headers } = await fetch(idp.issuer + path, { redirect: "manual" });
      expect(headers.get("content-type")).toBe("text/html");
      expect(headers.get("content-security-policy")).toBe("default-src 'none'; frame-ancestors 'none'; sandbox");
    }
  });
});

describe("a header that would hold for the pages of the server is refused", () => {
  test.each([
    "Content-Security-Policy",
    "content-security-policy",
    "CONTENT-security-POLICY",
    "Set-Cookie",
    "set-cookie",
    "sET-cOOKIE",
  ])("%s", async (name) => {
    for (const fault of [page, { status: 503 }]) {
      const answer = await fetch(`${idp.issuer}/_idp/api/faults`, {
        method: "POST",
        headers: { authorization: `Bearer ${idp.adminToken}`, "content-type": "application/json" },
        body: JSON.stringify({ endpoint: "jwks", ...fault, header: { [name]: "script-src 'unsafe-inline'" } }),
      });
      expect(answer.status).toBe(422);
      const { problems } = (await answer.json()) as { problems: readonly { message: string }[] };
      expect(problems).toEqual([
        {
          path: expect.stringContaining("header"),
          message: `"${name}" cannot be set: it would change the policy or the cookies of idp's own pages`,
        },
      ]);
    }
    const fixtures = { faults: [{ endpoint: "jwks", ...page, header: { [name]: "x" } }] };
    await expect(idp.call("seed", fixtures)).rejects.toMatchObject({ code: "invalid" });
    expect(await idp.faults.list()).toEqual([]);
  });
});
