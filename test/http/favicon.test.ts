import { expect, test } from "vitest";
import { serve } from "../helpers/app.ts";

test("/favicon.ico is the mark, which can run nothing", async () => {
  const idp = await serve();
  const { status, headers, body } = await fetch(`${idp.issuer}/favicon.ico`);
  await body?.cancel();
  expect([status, headers.get("content-type"), headers.get("x-content-type-options")]).toEqual([
    200,
    "image/svg+xml",
    "nosniff",
  ]);
  expect(headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
});
