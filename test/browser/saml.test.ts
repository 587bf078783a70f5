import { createServer } from "node:http";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createIdp } from "../../src/index.ts";
import { sharedChromium } from "../helpers/chromium.ts";
import { authnRequest, listenOn, readResponse, redirectUrl, type Sp } from "../helpers/saml.ts";

/**
 * A sign-in by SAML in Chromium: the service provider is another site, so its cookies and the page that posts are those of a real browser.
 * @module-tag browser
 */

const chromium = sharedChromium();
const received: URLSearchParams[] = [];
let sp: Sp;
let page = "";
const app = createServer((req, res) => {
  res.setHeader("Content-Type", "text/html");
  if (req.method !== "POST") {
    res.end(page);
    return;
  }
  let body = "";
  req.on("data", (part: Buffer) => (body += part.toString()));
  req.on("end", () => {
    received.push(new URLSearchParams(body));
    res.end("<title>App</title><h1>Back in the app</h1>");
  });
});
beforeAll(async () => {
  const url = await listenOn(app);
  sp = { entityId: `${url}/metadata`, acs: `${url}/acs` };
});
afterAll(() => {
  app.closeAllConnections();
  app.close();
});

async function newPerson(javaScriptEnabled: boolean) {
  const idp = await createIdp({
    port: 0,
    fixtures: {
      users: [{ username: "alice", email: "alice@example.com" }],
      clients: [{ client_id: sp.entityId, saml: { acs: [sp.acs] } }],
    },
  });
  onTestFinished(() => idp.close());
  const context = await (await chromium).newContext({ javaScriptEnabled });
  onTestFinished(() => context.close());
  received.length = 0;
  return { idp, tab: await context.newPage() };
}

const nameIn = (form: URLSearchParams | undefined): string | undefined =>
  readResponse(Buffer.from(form?.get("SAMLResponse") ?? "", "base64").toString()).nameId?.value;

test.each([true, false])("by HTTP-Redirect, scripts: %s", async (hasScripts) => {
  const { idp, tab } = await newPerson(hasScripts);
  await tab.goto(redirectUrl(`${idp.issuer}/saml/sso`, authnRequest(idp, sp), "/after"));
  await tab.getByTestId("login-as-alice").click();
  if (!hasScripts) await tab.getByTestId("saml-submit").click();
  await tab.getByText("Back in the app").waitFor();
  expect(tab.url()).toBe(sp.acs);
  expect([nameIn(received[0]), received[0]?.get("RelayState")]).toEqual(["alice@example.com", "/after"]);
  expect(received).toHaveLength(1);
});

test("by HTTP-POST from another site, with the session of a sign-in before: nobody is asked again", async () => {
  const { idp, tab } = await newPerson(true);
  await tab.goto(redirectUrl(`${idp.issuer}/saml/sso`, authnRequest(idp, sp)));
  await tab.getByTestId("login-as-alice").click();
  await tab.getByText("Back in the app").waitFor();
  const request = Buffer.from(authnRequest(idp, sp)).toString("base64");
  page = `<form method="post" action="${idp.issuer}/saml/sso"><input type="hidden" name="SAMLRequest" value="${request}"><button>Sign in</button></form>`;
  await tab.goto(new URL("/", sp.acs).href);
  await tab.getByText("Sign in").click();
  await tab.getByText("Back in the app").waitFor();
  expect(received.map(nameIn)).toEqual(["alice@example.com", "alice@example.com"]);
});
