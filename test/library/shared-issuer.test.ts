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

test("an instance that is given no issuer has that of the store, and all follow one that changes it", async () => {
  const store = await newDatabase();
  const one = await start({ store });
  const two = await start({ store });
  expect(await issuerAt(two.port)).toBe(one.issuer);
  await two.call("issuer.set", { issuer: "http://localhost:4999" });
  expect(await issuerAt(one.port)).toBe("http://localhost:4999");
  const three = await start({ store, issuer: "http://idp.localhost:4998" });
  for (const { port } of [one, two, three]) expect(await issuerAt(port)).toBe("http://idp.localhost:4998");
});
