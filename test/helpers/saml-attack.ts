import { expect } from "vitest";
import type { Idp, IdpOptions } from "../../src/index.ts";
import { underAttack } from "./attack.ts";
import type { Visit } from "./browser.ts";

/** A server whose endpoints of SAML are under attack. */

export async function samlUnderAttack(
  options: IdpOptions = {},
): Promise<{ readonly idp: Idp; readonly sso: string; readonly slo: string }> {
  const idp = await underAttack(options);
  return { idp, sso: `${idp.issuer}/saml/sso`, slo: `${idp.issuer}/saml/slo` };
}

/** The page of an error, and no response for a service provider. */
export function isRefused({ status, page, body }: Visit): void {
  expect([status, page]).toEqual([400, "error"]);
  expect(body).not.toContain("SAMLResponse");
}
