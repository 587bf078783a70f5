import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { serve } from "../../helpers/app.ts";
import { approve, Browser, formsOf } from "../../helpers/browser.ts";
import { newFolder } from "../../helpers/cli.ts";
import { newKey, postedBy, registerSp, type Sp } from "../../helpers/saml.ts";

/** crewjam/saml, a Go program as a service provider: `crewjam/main.go`. It reads the metadata of this identity provider. */

const idp = await serve();
const program = join(newFolder(afterAll), "sp");
const own = newKey();
const shared = {
  Metadata: await (await fetch(`${idp.issuer}/saml/metadata`)).text(),
  Key: own.key.export({ type: "pkcs8", format: "pem" }).toString(),
  Certificate: own.certificate,
  RelayState: "/after",
};

let isBuilt = false;
function run(input: object): unknown {
  if (!isBuilt) {
    // From the cache of modules alone.
    const env = { ...process.env, GOPROXY: "off", GOFLAGS: "-mod=readonly" };
    execFileSync("go", ["build", "-o", program, "."], { cwd: join(import.meta.dirname, "crewjam"), env });
    isBuilt = true;
  }
  return JSON.parse(execFileSync(program, { input: JSON.stringify({ ...shared, ...input }), encoding: "utf8" }));
}

/** Signs alice in, and returns what the library makes of the response. */
async function signIn(sp: Sp, input: object = {}): Promise<Browser> {
  const at = { EntityID: sp.entityId, ACS: sp.acs, ...input };
  const { id, url } = run(at) as { readonly id: string; readonly url: string };
  const browser = new Browser(idp.issuer);
  const { xml, relayState, action } = postedBy(await approve(browser, await browser.open(url)));
  expect([action, relayState]).toEqual([sp.acs, "/after"]);
  const read = run({ ...at, SAMLResponse: Buffer.from(xml).toString("base64"), RequestID: id });
  expect(read).toMatchObject({
    name: "alice@example.com",
    attributes: { email: "alice@example.com", name: "Alice Adams" },
  });
  return browser;
}

test.each(["assertion", "response", "both"] as const)("signed: %s", { tags: ["crewjam-saml"] }, async (sign) => {
  await signIn(await registerSp(idp, { sign }));
});

// It has no AES-256-GCM.
test("encrypted: cbc", { tags: ["crewjam-saml"] }, async () => {
  await signIn(await registerSp(idp, { encrypt: "cbc", certificates: [own.certificate] }));
});

test("by its own metadata: a signed request, and logout that the app begins", { tags: ["crewjam-saml"] }, async () => {
  const sp = { entityId: "http://localhost:2999/metadata", acs: "http://localhost:2999/acs" };
  const at = { EntityID: sp.entityId, ACS: sp.acs, SignRequest: true };
  const metadata = String(run({ ...at, WantMetadata: true }));
  await idp.call("seed", { clients: [{ client_id: sp.entityId, saml: { metadata } }] });
  const browser = await signIn(sp, at);
  const page = String(run({ ...at, LogoutNameID: "alice@example.com" }));
  const [form] = formsOf(page.replaceAll("&#43;", "+"));
  const body = new URLSearchParams(form?.fields.map(([name, value]) => [name, value]));
  const posted = postedBy(await browser.open(form?.action ?? "", { method: "POST", body }));
  expect([posted.action, posted.response.statuses]).toEqual(["http://localhost:2999/slo", ["Success"]]);
  expect(run({ ...at, LogoutResponse: Buffer.from(posted.xml).toString("base64") })).toBe(true);
  expect((await browser.open("/account")).page).toBe("login");
});
