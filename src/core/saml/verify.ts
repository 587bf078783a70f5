import type { Context } from "../context.ts";
import { samlKeys } from "../records/keys/saml-keys.ts";
import { serviceProvider } from "../records/service-providers/provider.ts";
import type { Check } from "../../jwt/checks.ts";
import type { Verification } from "../protocol/tokens/read/claim-checks.ts";
import { XmlProblem, type XmlElement } from "../base/xml/parse.ts";
import { SignatureProblem, signedElements } from "../base/xml/verify.ts";
import { entityIdOf } from "./addresses.ts";
import { decodeSaml, type DecodedAssertion, type DecodedSaml } from "./read.ts";

/** Whether a message of SAML that somebody pastes is good. */

interface VerifySamlInput {
  readonly audience?: string | undefined;
  /** Seconds. */
  readonly leeway?: number | undefined;
}

/** Verifies a message: of this identity provider by its keys, of a service provider by the registered certificates. Every check is made. */
export async function verifySaml(
  ctx: Context,
  xml: string,
  { audience, leeway = 0 }: VerifySamlInput,
): Promise<Verification> {
  const said = decodeSaml(xml, ctx.now());
  const isOfSp = said.message === "AuthnRequest" || said.message === "LogoutRequest";
  const sender = isOfSp ? await ctx.store.read((tx) => tx.get("clients", said.issuer ?? "")) : undefined;
  const provider = sender === undefined ? null : await serviceProvider(sender);
  const certificates = isOfSp
    ? (provider?.certificates ?? [])
    : (await samlKeys(ctx)).map(({ certificate }) => certificate);
  const checks: Check[] = [];
  const add = (name: string, problem: string | null, detail: string): void =>
    void checks.push({ name, ok: problem === null, detail: problem ?? detail });
  const covered = signedIn(xml, certificates, provider?.allowSha1 === true);
  add("signature", typeof covered === "string" ? covered : null, "by a certificate that is published or registered");
  const [assertion] = said.assertions;
  const needed = assertion === undefined ? [said.message] : ["Assertion", "Response"];
  const names = typeof covered === "string" ? [] : covered.map((one) => one.name);
  add(
    "signed-part",
    names.some((name) => needed.includes(name))
      ? (wrapped(said, covered) ?? null)
      : `no signature covers ${needed.join(" or ")}`,
    `the signature covers ${names.join(" and ")}`,
  );
  const own = entityIdOf(ctx);
  if (isOfSp)
    add(
      "issuer",
      sender?.saml === undefined ? `no service provider has the entityID "${said.issuer ?? ""}"` : null,
      `client ${said.issuer ?? ""}`,
    );
  else {
    const issuers = [said.issuer, assertion?.issuer].filter((one) => one != null);
    const other = issuers.find((one) => one !== own);
    add(
      "issuer",
      issuers.length === 0 ? "there is no Issuer" : other === undefined ? null : `"${other}" is not ${own}`,
      own,
    );
  }
  if (assertion === undefined) return { valid: checks.every(({ ok }) => ok), checks, notes: [] };
  const [first] = assertion.audience;
  const wanted = audience ?? first;
  const client = await ctx.store.read((tx) => tx.get("clients", first ?? ""));
  add(
    "audience",
    first === undefined
      ? "there is no Audience"
      : !assertion.audience.includes(wanted ?? "")
        ? `"${first}" is not ${wanted ?? ""}`
        : client?.saml === undefined
          ? `"${first}" is not a registered service provider`
          : null,
    first ?? "",
  );
  const registered = client === undefined ? null : await serviceProvider(client);
  const { recipient } = assertion;
  add(
    "recipient",
    recipient === null
      ? "there is no Recipient"
      : registered?.acs.some(({ url }) => url === recipient) === true
        ? null
        : `"${recipient}" is not a registered acs`,
    recipient ?? "",
  );
  add("time", timeProblem(assertion, ctx.now(), leeway), `until ${assertion.notOnOrAfter ?? ""}`);
  add(
    "in-response-to",
    said.message === "Response" && said.inResponseTo !== assertion.inResponseTo
      ? "the response and its assertion answer different requests"
      : null,
    assertion.inResponseTo ?? "unsolicited",
  );
  return { valid: checks.every(({ ok }) => ok), checks, notes: [] };
}

/** What valid signatures cover; or why there is none. */
function signedIn(xml: string, certificates: readonly string[], allowSha1: boolean): readonly XmlElement[] | string {
  try {
    const found = signedElements(xml, { certificates, allowSha1 });
    return found.length === 0 ? "the message is not signed" : found;
  } catch (error) {
    if (error instanceof SignatureProblem || error instanceof XmlProblem) return error.message;
    throw error;
  }
}

/** Whether the assertion that a reader takes is the one that is signed. */
function wrapped({ assertions, id, message }: DecodedSaml, covered: readonly XmlElement[] | string): string | null {
  if (typeof covered === "string" || message !== "Response") return null;
  if (covered.some((one) => one.name === "Response" && one.attributes["ID"] === id)) return null;
  const ids = covered.map((one) => one.attributes["ID"]);
  return assertions.length === 1 && ids.includes(assertions[0]?.id ?? "")
    ? null
    : "the signature covers another assertion than the message has";
}

function timeProblem({ notBefore, notOnOrAfter }: DecodedAssertion, now: number, leeway: number): string | null {
  if (notOnOrAfter === null) return "there is no NotOnOrAfter";
  if (!(Date.parse(notOnOrAfter) + leeway * 1000 > now)) return `it ended at ${notOnOrAfter}`;
  if (notBefore !== null && !(Date.parse(notBefore) - leeway * 1000 <= now)) return `it begins at ${notBefore}`;
  return null;
}
