import type { User } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { listClients } from "../records/fix-commands.ts";
import { samlKeys, type SamlKey } from "../records/keys/saml-keys.ts";
import { serviceProvider, type ServiceProvider } from "../records/service-providers/provider.ts";
import { isXmlText } from "../base/xml/characters.ts";
import { encryptElement, signElement, xml, type Xml } from "../base/xml/write.ts";
import { encryptionAlgorithms, keyTransport, spaces } from "../records/service-providers/names.ts";
import { entityIdOf } from "./addresses.ts";
import {
  attributesOf,
  ClaimProblem,
  assertionXml,
  bearer,
  responseXml,
  type AssertionDraft,
  type ResponseDraft,
} from "./draft.ts";
import { refuseMessage } from "./message.ts";
import { SamlStatusError, type SamlPlan, type SamlTarget } from "./purpose.ts";

/** The response of a sign-in: what it says, what of it is signed, and what is encrypted (SAML Core 2.3.3, 3.3.3; Profiles 4.1.4.2). */

/** What the browser posts to a service provider. */
export interface SamlPost {
  /** The registered address. */
  readonly action: string;
  readonly parameters: readonly (readonly [name: string, value: string])[];
  /** The XML before it was encoded, for the ledger. */
  readonly xml: string;
  /** For the developer. */
  readonly remarks: readonly string[];
}

const seconds = (milliseconds: number): string =>
  new Date(Math.floor(milliseconds / 1000) * 1000).toISOString().replace(".000Z", "Z");

/** A new ID, which begins as an XML name must. */
export const newId = ({ random }: Pick<Context, "random">): string => `_${random(20)}`;

/** Seconds: clocks differ. */
const leeway = 60;

/** What is needed to write a response. */
export interface Material {
  readonly ctx: Context;
  readonly plan: SamlPlan;
  readonly provider: ServiceProvider;
  readonly user: User;
  readonly key: SamlKey;
}

/** @throws {OAuthError} if the service provider was changed meanwhile, so that the address is not registered any more */
export async function materialOf(ctx: Context, plan: SamlPlan): Promise<Material> {
  const { clientId, redirectUri } = plan.request;
  const { client, user } = await ctx.store.read((tx) => ({
    client: tx.get("clients", clientId),
    user: tx.get("users", plan.userId),
  }));
  const provider = client === undefined ? null : await serviceProvider(client);
  if (provider === null || user === undefined || !provider.acs.some(({ url }) => url === redirectUri)) {
    throw refuseMessage(
      `"${redirectUri}" is not registered for "${clientId}" any more`,
      "SAML Profiles 4.1.4.1",
      "begin the sign-in again in the app",
    );
  }
  const [key] = await samlKeys(ctx);
  return { ctx, plan, provider, user, key };
}

/** The usual response, before it is signed. @throws {ClaimProblem} */
function draftsOf({ ctx, plan, provider, user }: Material): {
  readonly response: ResponseDraft;
  readonly assertion: AssertionDraft;
  readonly remarks: readonly string[];
} {
  const { request, nameId } = plan;
  const now = ctx.now();
  const until = seconds(now + provider.assertionTtl * 1000);
  const { attributes, remarks } = attributesOf(ctx, provider, { user, amr: plan.amr });
  if (!isXmlText(nameId.value))
    throw new ClaimProblem(`the NameID of ${user.username} has a character that XML cannot have`);
  return {
    remarks,
    response: responseDraft(ctx, request),
    assertion: {
      id: newId(ctx),
      issuedAt: seconds(now),
      issuer: entityIdOf(ctx),
      nameId,
      confirmation: { method: bearer, recipient: request.redirectUri, notOnOrAfter: until, inResponseTo: request.id },
      notBefore: seconds(now - leeway * 1000),
      notOnOrAfter: until,
      audience: request.clientId,
      authnInstant: seconds(plan.authTime * 1000),
      sessionIndex: plan.sessionIndex,
      sessionNotOnOrAfter: seconds(plan.sessionEnds * 1000),
      contextClass: plan.contextClass,
      nameFormat: provider.nameFormat,
      attributes,
    },
  };
}

const responseDraft = (ctx: Context, { redirectUri, id }: SamlTarget): ResponseDraft => ({
  id: newId(ctx),
  issuedAt: seconds(ctx.now()),
  issuer: entityIdOf(ctx),
  destination: redirectUri,
  inResponseTo: id,
  status: null,
  statusMessage: null,
});

/** The response of a sign-in that ended. @throws {SamlStatusError | OAuthError} */
export async function respond(ctx: Context, plan: SamlPlan): Promise<SamlPost> {
  const material = await materialOf(ctx, plan);
  const { provider, key } = material;
  const { response, assertion, remarks } = drafted(material);
  const signedAssertion =
    provider.sign === "response"
      ? assertionXml(assertion)
      : signElement(assertionXml(assertion), "Assertion", assertion.id, key);
  const whole = responseXml(response, await encrypted(provider, signedAssertion));
  const signed = provider.sign === "assertion" ? whole : signElement(whole, "Response", response.id, key);
  return postOf(plan.request, signed, remarks);
}

/** The drafts, with a claim that cannot be sent as a refusal. @throws {SamlStatusError} */
export function drafted(material: Material): ReturnType<typeof draftsOf> {
  try {
    return draftsOf(material);
  } catch (error) {
    if (!(error instanceof ClaimProblem)) throw error;
    const { plan, user } = material;
    throw new SamlStatusError(plan.request, { top: "Responder", second: "AuthnFailed" }, error.message, {
      rule: "SAML Core 1.3.1",
      fix: { text: "To see the claims", command: ["idp", "users", "show", user.username] },
    });
  }
}

/** The assertion, encrypted where the service provider wants that. */
export async function encrypted({ encryption }: ServiceProvider, assertion: Xml): Promise<Xml> {
  if (encryption === null) return assertion;
  const data = await encryptElement(assertion, encryption.certificate, {
    content: encryptionAlgorithms[encryption.algorithm],
    key: keyTransport,
  });
  return xml`<saml:EncryptedAssertion xmlns:saml="${spaces.assertion}">${data}</saml:EncryptedAssertion>`;
}

export const postOf = (
  { redirectUri, relayState }: SamlTarget,
  message: Xml,
  remarks: readonly string[] = [],
): SamlPost => ({
  action: redirectUri,
  parameters: [
    ["SAMLResponse", Buffer.from(message.text).toString("base64")],
    ...(relayState === null ? [] : [["RelayState", relayState] as const]),
  ],
  xml: message.text,
  remarks,
});

/** Characters that a message for people may have in XML. */
const plain = (text: string): string => (isXmlText(text) ? text : text.replaceAll(/[^\x20-\x7e]/g, "?"));

/** A refusal as a response: signed, with the rule in its StatusMessage. @throws {OAuthError} if the address is not registered any more */
export async function respondStatus(
  ctx: Context,
  { target, status, message, guidance: { rule } }: SamlStatusError,
): Promise<SamlPost> {
  const client = await ctx.store.read((tx) => tx.get("clients", target.clientId));
  const provider = client === undefined ? null : await serviceProvider(client);
  if (!(provider?.acs ?? []).some(({ url }) => url === target.redirectUri))
    throw refuseMessage(
      `"${target.redirectUri}" is not registered for "${target.clientId}"`,
      "SAML Profiles 4.1.4.1",
      listClients.text,
    );
  const [key] = await samlKeys(ctx);
  const statusMessage = plain(rule === null ? message : `${message} (${rule})`);
  const draft = { ...responseDraft(ctx, target), status, statusMessage };
  return postOf(target, signElement(responseXml(draft, null), "Response", draft.id, key));
}
