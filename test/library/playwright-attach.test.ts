import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { createIdp } from "../../src/index.ts";
import { idpFixtures } from "../../src/playwright-fixtures.ts";

/** The requests of a failed test of Playwright are in its report, under its name. */

test.each([
  ["failed", 1],
  ["passed", 0],
])("a test that %s", async (status, times) => {
  const printed = vi.spyOn(console, "error").mockImplementation(() => undefined);
  const idp = await createIdp();
  const { issuer, adminToken } = idp;
  // Of a test in another worker, which still needs it.
  await fetch(`${issuer}/api/v2/oauth/userinfo`);
  const [work] = idpFixtures({ issuer, adminToken, perWorker: false }).idpRequests;
  const attached: string[] = [];
  const use = async (): Promise<void> => {
    await fetch(`${issuer}/api/v2/oauth/token`, { method: "POST" });
  };
  const attach = (name: string, { body }: { readonly body: string }): Promise<void> => {
    attached.push(`${name}: ${body}`);
    return Promise.resolve();
  };
  const remote = { ...idp, reset: () => idp.reset() } as never;
  const titlePath = ["shop.spec.ts", "sign-in", "alice signs in"];
  await work({ idp: remote }, use, { status, expectedStatus: "passed", titlePath, attach });
  expect(attached).toHaveLength(times);
  // Playwright prints only the beginning of an attachment, and the output of all workers among each other.
  expect(printed.mock.calls.flat()).toEqual(
    times === 0 ? [] : [expect.stringMatching(/^shop\.spec\.ts › sign-in › alice signs in\nWhat was asked of idp:\n/)],
  );
  if (times === 1) {
    expect(attached[0]).toMatch(/^idp requests: .*token/s);
    expect(attached[0]).toContain("All workers share this issuer");
    expect(attached[0]).not.toContain("userinfo");
  }
  expect((await idp.requests.list()).map(({ endpoint }) => endpoint)).toEqual(["userinfo", "token"]);
  printed.mockRestore();
  await idp.close();
});

test("a certificate that is not trusted is named, with the variable that trusts it", async () => {
  const file = (name: string): string => readFileSync(join(import.meta.dirname, "..", "helpers", "tls", name), "utf8");
  const idp = await createIdp({ tls: { cert: file("cert.pem"), key: file("key.pem") } });
  const { issuer, adminToken } = idp;
  const [work] = idpFixtures({ issuer, adminToken }).idp;
  await expect(work({}, () => Promise.resolve(), { parallelIndex: 0 })).rejects.toThrow(
    /^the certificate of https:\/\/localhost:\d+ is not trusted \(DEPTH_ZERO_SELF_SIGNED_CERT\): start Playwright with NODE_EXTRA_CA_CERTS=/,
  );
  await idp.close();
  await expect(work({}, () => Promise.resolve(), { parallelIndex: 0 })).rejects.toThrow(`nothing answers at ${issuer}`);
});
