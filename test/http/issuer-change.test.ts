import { expect, test } from "vitest";
import { register, serve } from "../helpers/app.ts";
import { jwtPart, userinfo } from "../helpers/client.ts";
import { rawRequest } from "../helpers/raw-http.ts";

/** The issuer changes while the server runs: the outside port of a container is known only later. */

const put = (address: string, adminToken: string, issuer: unknown) =>
  fetch(`${address}/_idp/api/issuer`, {
    method: "PUT",
    headers: { authorization: `Bearer ${adminToken}`, "content-type": "application/json" },
    body: JSON.stringify({ issuer }),
  });

test("scheme, host and port change: tokens of the previous issuer are invalid, sessions stay", async () => {
  const idp = await serve();
  const app = await register(idp);
  const before = idp.issuer;
  const { browser, code } = await app.signIn();
  const tokens = (await app.exchange(code)).json;

  const outside = `http://127.0.0.1:${idp.port}`;
  const response = await put(before, idp.adminToken, outside);
  expect([response.status, await response.json()]).toEqual([200, { issuer: outside }]);
  expect(idp.issuer).toBe(outside);
  expect(await (await fetch(`${before}/.well-known/openid-configuration`)).json()).toMatchObject({
    issuer: outside,
    token_endpoint: `${outside}/api/v2/oauth/token`,
  });
  expect((await userinfo(idp, tokens.access_token)).status).toBe(401);
  expect((await app.refresh(tokens.refresh_token)).json).toMatchObject({ error: "invalid_grant" });

  expect((await browser.open(`${before}/account`)).page).toBe("account");
  const next = await app.tokens();
  expect(jwtPart(next.id_token, 1)).toMatchObject({ iss: outside });
  expect((await userinfo(idp, next.access_token)).status).toBe(200);
});

test("the host of the new issuer is answered, and its pages may use the control API", async () => {
  const idp = await serve({ issuer: "http://idp.test/tenant" });
  const ask = (origin: string) => {
    const lines = [`Host: mapped.test`, `Origin: ${origin}`, `Authorization: Bearer ${idp.adminToken}`];
    return rawRequest(
      idp.port,
      `GET /tenant/_idp/api/status HTTP/1.1\r\n${lines.join("\r\n")}\r\nConnection: close\r\n\r\n`,
    );
  };
  expect((await ask("https://mapped.test:8443")).status).toBe(421);
  await idp.call("issuer.set", { issuer: "https://mapped.test:8443/tenant" });
  expect((await ask("https://mapped.test:8443")).status).toBe(200);
  expect((await ask("https://other.test")).status).toBe(403);
});

test.each([
  ["another path", "http://idp.test/other"],
  ["no path", "http://idp.test"],
  ["a slash more", "http://idp.test/tenant/"],
  ["another scheme", "ftp://idp.test/tenant"],
  ["no URL", "idp.test:4370/tenant"],
  ["a query", "http://idp.test/tenant?a"],
  ["no text", 1],
])("422 for %s, and nothing changes", async (_what, issuer) => {
  const idp = await serve({ issuer: "http://first.test/tenant" });
  const response = await put(`http://localhost:${idp.port}/tenant`, idp.adminToken, issuer);
  expect(response.status).toBe(422);
  expect(idp.issuer).toBe("http://first.test/tenant");
});

test("the refusal of what is not a URL is one, and names it", async () => {
  const idp = await serve({ issuer: "http://first.test/tenant" });
  await expect(idp.call("issuer.set", { issuer: "idp.test:4370/tenant" })).rejects.toMatchObject({
    problems: [
      { path: "issuer", message: expect.stringMatching(/^"idp\.test:4370\/tenant" is not an http or https URL/) },
    ],
  });
});
