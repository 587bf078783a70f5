import { expect, onTestFinished, test } from "vitest";
import { createIdp, type Idp, type IdpOptions } from "../../src/index.ts";
import { newDatabase } from "../helpers/postgres.ts";

/** The issuer of a shared store is that of all its instances. */

async function start(options: IdpOptions): Promise<Idp> {
  const idp = await createIdp(options);
  onTestFinished(() => idp.close());
  return idp;
}

const issuerAt = async (port: number): Promise<string> => {
  const response = await fetch(`http://localhost:${port}/.well-known/openid-configuration`);
  return ((await response.json()) as { issuer: string }).issuer;
};

test("an instance without an issuer uses that of the store, and all follow one that is started with another", async () => {
  const store = await newDatabase();
  const one = await start({ store });
  const two = await start({ store });
  expect(await issuerAt(two.port)).toBe(one.issuer);
  const three = await start({ store, issuer: "http://idp.localhost:4998" });
  for (const { port } of [one, two, three]) expect(await issuerAt(port)).toBe("http://idp.localhost:4998");
});

test("no instance changes the issuer while it runs: 409", async () => {
  const idp = await start({ store: await newDatabase() });
  const response = await fetch(`http://localhost:${idp.port}/_idp/api/issuer`, {
    method: "PUT",
    headers: { authorization: `Bearer ${idp.adminToken}`, "content-type": "application/json" },
    body: JSON.stringify({ issuer: "http://localhost:4999" }),
  });
  expect([response.status, await response.json()]).toMatchObject([409, { hint: expect.stringContaining("--issuer") }]);
  expect(await issuerAt(idp.port)).toBe(idp.issuer);
});
