import { expect, test } from "vitest";
import { serve } from "../helpers/app.ts";
import { openInspector } from "../helpers/inspector.ts";

/** Event streams have a bound: each takes a connection until its reader leaves. */

test("an issuer has 64 streams, of the control API and the inspector together; more get 503, and another issuer has its own", async () => {
  const idp = await serve({ issuers: ["other"] });
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  process.on("warning", warned);
  const { browser, at } = await openInspector(idp);
  const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const leave = new AbortController();
  const api = (base: string) =>
    fetch(`${base}/_idp/api/requests/stream`, {
      headers: { authorization: `Bearer ${idp.adminToken}` },
      signal: leave.signal,
    });
  const inside = () => fetch(at("stream"), { headers: { cookie }, signal: leave.signal });
  const opened = await Promise.all(Array.from({ length: 64 }, (_, at) => (at % 2 === 0 ? api(idp.issuer) : inside())));
  expect(new Set(opened.map(({ status }) => status))).toEqual(new Set([200]));
  for (const refused of [await api(idp.issuer), await inside()]) {
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await refused.text()).toContain("64 event streams");
  }
  expect((await api(idp.issuers.get("other").issuer)).status).toBe(200);
  leave.abort();
  await expect
    .poll(
      async () =>
        (
          await fetch(`${idp.issuer}/_idp/api/requests/stream`, {
            headers: { authorization: `Bearer ${idp.adminToken}` },
            signal: AbortSignal.timeout(1000),
          })
        ).status,
    )
    .toBe(200);
  process.off("warning", warned);
  expect(warnings.map(({ name }) => name)).toEqual([]);
});
