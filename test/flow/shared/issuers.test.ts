import { afterAll, expect, test } from "vitest";
import { call, startInstances } from "../../helpers/instances.ts";

/** The issuers of a shared store are those of all its instances, whichever instance made or removed them. */

const { issuer, at } = await startInstances(2, { users: [{ username: "alice" }] }, { atEnd: afterAll });
const discovery = async (index: number, name: string) => {
  const response = await fetch(`${at(index).issuer}/i/${name}/.well-known/openid-configuration`);
  return { status: response.status, json: (await response.json()) as { readonly issuer?: string } };
};

test("an issuer that one instance makes is at the others at once, as it was made", async () => {
  const fixtures = { users: [{ username: "zoe" }], faults: [{ endpoint: "token", status: 500, times: 3 }] };
  expect(await call(at(0), "POST", "/issuers", { name: "tenant-a", fixtures })).toMatchObject({ status: 201 });
  expect(await discovery(1, "tenant-a")).toMatchObject({ status: 200, json: { issuer: `${issuer}/i/tenant-a` } });
  expect((await call(at(1), "GET", "/issuers")).json).toMatchObject([{ name: "tenant-a", users: 1, problem: null }]);
  const there = { issuer: `${at(1).issuer}/i/tenant-a` };
  expect((await call(there, "GET", "/users")).json).toMatchObject([{ username: "zoe" }]);
  expect((await call(there, "GET", "/faults")).json).toMatchObject([{ remaining: 3 }]);
  expect(await call(at(1), "POST", "/issuers", { name: "tenant-a" })).toMatchObject({ status: 409 });
});

test("an issuer that one instance removes is gone at the others at once, and comes back empty", async () => {
  await call(at(0), "POST", "/issuers", { name: "tenant-b", fixtures: { users: [{ username: "zoe" }] } });
  expect((await discovery(1, "tenant-b")).status).toBe(200);
  expect((await call(at(1), "DELETE", "/issuers/tenant-b")).status).toBeLessThan(300);
  expect((await discovery(0, "tenant-b")).status).toBe(404);
  await call(at(1), "POST", "/issuers", { name: "tenant-b", fixtures: {} });
  expect((await call({ issuer: `${at(0).issuer}/i/tenant-b` }, "GET", "/users")).json).toEqual([]);
});
