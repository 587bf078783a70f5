import { SignJWT, type JWTPayload } from "jose";
import { describe, expect, test } from "vitest";
import { underAttack } from "../helpers/attack.ts";
import {
  ci,
  fixtures,
  jwtBearer,
  noGrant,
  partner,
  partnerIdJag,
  partnerKey,
  post,
  refused,
} from "../helpers/cross-app.ts";

/** A token of a workload and an ID-JAG: neither counts in the other's place. */

const company = await underAttack({ fixtures });
const tool = { issuer: `${company.issuer}/i/tool` };

describe("where a workload token is accepted", () => {
  const token = (claims: JWTPayload = {}, header: object = {}): Promise<string> =>
    new SignJWT({
      iss: ci,
      sub: "repo:acme/shop",
      aud: tool.issuer,
      exp: Math.floor(Date.now() / 1000) + 300,
      ...claims,
    })
      .setProtectedHeader({ alg: "RS256", kid: "p1", ...header })
      .sign(partnerKey);
  const send = (assertion: string) => post(tool, "agent-at-tool", { grant_type: jwtBearer, assertion });

  test("it gives a token without a user", async () => {
    expect(Object.keys((await send(await token())).json).sort()).toEqual([
      "access_token",
      "expires_in",
      "scope",
      "token_type",
    ]);
  });

  test("an ID-JAG of that issuer is not, nor the token of an issuer that is trusted for ID-JAGs", async () => {
    expect(refused(await send(await partnerIdJag(company, { iss: ci })))).toEqual(noGrant);
    expect(refused(await send(await token({ iss: partner })))).toEqual(noGrant);
    expect(refused(await send(await token({}, { typ: "oauth-id-jag+jwt" })))).toEqual(noGrant);
    expect(refused(await send(await token({}, { typ: "at+jwt" })))).toEqual(noGrant);
  });
});
