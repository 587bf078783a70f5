import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { serve } from "../../helpers/app.ts";
import { registerSp } from "../../helpers/saml.ts";

/** python3-saml in strict mode, which also validates each response against the schemas of the standard: `saml_sp.py`. */

const idp = await serve();

test.each(["assertion", "response", "both"] as const)("signed: %s", { tags: ["python3-saml"] }, async (sign) => {
  const sp = await registerSp(idp, { sign });
  const { certificate, entity_id, sso_url } = await idp.call("saml.show", {});
  const { SAMLResponse } = await idp.call("issue.saml", { user: "alice", client: sp.entityId, in_response_to: "_r1" });
  const settings = {
    strict: true,
    sp: { entityId: sp.entityId, assertionConsumerService: { url: sp.acs } },
    idp: { entityId: entity_id, singleSignOnService: { url: sso_url }, x509cert: certificate },
    security: { wantAssertionsSigned: sign !== "response", wantMessagesSigned: sign !== "assertion" },
  };
  const { host, pathname: path } = new URL(sp.acs);
  const input = JSON.stringify({ host, path, post: { SAMLResponse }, settings, request_id: "_r1" });
  const printed = execFileSync("python3", [join(import.meta.dirname, "saml_sp.py")], { input, encoding: "utf8" });
  expect(JSON.parse(printed)).toMatchObject({
    errors: [],
    name: "alice@example.com",
    attributes: { email: ["alice@example.com"], name: ["Alice Adams"] },
  });
});
