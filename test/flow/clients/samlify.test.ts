import * as samlify from "samlify";
import { expect, test } from "vitest";
import { approve, Browser } from "../../helpers/browser.ts";
import { serve } from "../../helpers/app.ts";
import { postedBy, registerSp } from "../../helpers/saml.ts";

/** samlify as a service provider: it reads our metadata by itself. */

const idp = await serve();
// The library asks for a validator, and brings none.
samlify.setSchemaValidator({ validate: () => Promise.resolve("not validated") });

test.each(["assertion", "both"] as const)("signed: %s", async (sign) => {
  const sp = await registerSp(idp, { sign });
  const metadata = await (await fetch(`${idp.issuer}/saml/metadata`)).text();
  const provider = samlify.IdentityProvider({ metadata });
  const app = samlify.ServiceProvider({
    entityID: sp.entityId,
    assertionConsumerService: [{ Binding: samlify.Constants.namespace.binding.post, Location: sp.acs }],
    wantMessageSigned: sign === "both",
  });
  const { context } = app.createLoginRequest(provider, "redirect");
  const browser = new Browser(idp.issuer);
  const { xml } = postedBy(await approve(browser, await browser.open(context)));
  const { extract } = await app.parseLoginResponse(provider, "post", {
    body: { SAMLResponse: Buffer.from(xml).toString("base64") },
  });
  expect(extract).toMatchObject({ nameID: "alice@example.com", attributes: { email: "alice@example.com" } });
});
