import { expect, test } from "vitest";
import { Browser } from "../helpers/browser.ts";
import { authorizeUrl, exchange, jwtPart, signIn } from "../helpers/client.ts";
import { serve } from "../helpers/app.ts";

/** `acr` reports what happened (OpenID Connect Core 5.5.1.1). */

const singleFactor = "urn:idp:single-factor";
const essential = (acr: object): string => JSON.stringify({ id_token: { acr: { essential: true, ...acr } } });

test.each([
  ["nothing", {}],
  ["a value that nobody reached", { acr_values: "phr" }],
  ["a voluntary claim", { claims: JSON.stringify({ id_token: { acr: { value: "gold" } } }) }],
  ["an essential claim without values", { claims: essential({}) }],
  ["an essential claim that can be met", { claims: essential({ values: ["gold", singleFactor] }) }],
])("a request for %s gets the acr of the sign-in", async (_what, parameters) => {
  const idp = await serve();
  const { code } = await signIn(idp, { scope: "openid", ...parameters });
  expect(jwtPart((await exchange(idp, code)).json["id_token"], 1)["acr"]).toBe(singleFactor);
});

test.each([{ value: "gold" }, { values: ["gold", "phr"] }, { value: 7 }])(
  "an essential acr of %j is refused",
  async (acr) => {
    const idp = await serve();
    const { left } = await new Browser(idp.issuer).open(authorizeUrl(idp, { claims: essential(acr), state: "s" }));
    expect(left?.searchParams.get("error")).toBe("unmet_authentication_requirements");
    expect(left?.searchParams.get("state")).toBe("s");
  },
);

test("an automatic sign-in earns no more", async () => {
  const idp = await serve({ settings: { login: "auto:alice", consent: "skip" } });
  const { left } = await new Browser(idp.issuer).open(authorizeUrl(idp, { acr_values: "phr" }));
  const { json } = await exchange(idp, left?.searchParams.get("code") ?? "");
  expect(jwtPart(json["id_token"], 1)["acr"]).toBe(singleFactor);
});

test("the metadata lists what is reachable", async () => {
  const idp = await serve();
  const response = await fetch(`${idp.issuer}/.well-known/openid-configuration`);
  expect(await response.json()).toMatchObject({ acr_values_supported: [singleFactor] });
});
