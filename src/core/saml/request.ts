import type { Client, ReadTx } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { OAuthError, type Guidance } from "../base/errors.ts";
import { addServiceProvider, listClients, showClient } from "../records/fix-commands.ts";
import { nearest } from "../base/nearest.ts";
import { askedNameId, serviceProvider, type ServiceProvider } from "../records/service-providers/provider.ts";
import { bindings, nameIdFormats, rightFormat, spaces } from "../records/service-providers/names.ts";
import { allIn, childOf, childrenOf, isTrue, textIn, type XmlElement } from "../base/xml/parse.ts";
import { metadataFor, samlAddress } from "./addresses.ts";
import { choicesOf, comparisons, type AskedContext } from "./authn-context.ts";
import {
  checkRelayState,
  openMessage,
  reading,
  refuseMessage,
  requireSmall,
  senderIn,
  type Brought,
} from "./message.ts";
import { checkSignature } from "./signature.ts";
import { namedUser } from "./subject.ts";
import { SamlStatusError, type SamlRequest, type SamlStatus, type SamlTarget } from "./purpose.ts";

/** An AuthnRequest, from what a browser brings to the sign-in that it begins. The checks stand in the order in which an answer may be sent anywhere. */

/** A checked request, with remarks for the ledger. */
export interface Taken {
  readonly request: SamlRequest;
  readonly remarks: readonly string[];
}

/** The client of an entityID, and what applies to it. @param acs where a sender that nobody knows wants the response @throws {OAuthError} */
export async function providerNamed(
  ctx: Context,
  entityId: string,
  acs: string | null,
): Promise<{ client: Client; provider: ServiceProvider }> {
  const client = await ctx.store.read((tx) => tx.get("clients", entityId) ?? unknown(tx, entityId, acs));
  if (client instanceof OAuthError) throw client;
  const provider = await serviceProvider(client);
  if (provider !== null) return { client, provider };
  throw new OAuthError("invalid_client", `client "${entityId}" is not a service provider of SAML: it has no saml`, {
    rule: "SAML Profiles 4.1.4.1",
    fix: showClient(client),
    status: 400,
  });
}

function unknown(tx: ReadTx, entityId: string, acs: string | null): OAuthError {
  const known = [...tx.all("clients")].slice(0, 200).flatMap((one) => (one.saml === undefined ? [] : [one.client_id]));
  const meant = nearest(entityId, known);
  const wanted = acs === null ? "" : `; it wants its response at "${acs}"`;
  return new OAuthError("invalid_client", `no service provider has the entityID "${entityId}"${wanted}`, {
    rule: "SAML Profiles 4.1.4.1",
    fix: addServiceProvider(entityId, acs) ?? listClients,
    status: 400,
    ...(meant !== undefined && { mismatch: { parameter: "Issuer", sent: entityId, registered: [meant] } }),
  });
}

/** @throws {OAuthError} shown to the person; {SamlStatusError} sent to the service provider */
export async function takeRequest(
  ctx: Context,
  brought: Brought,
  onSender: (entityId: string) => void,
): Promise<Taken> {
  const { text, read, entityId } = openMessage(brought, ["AuthnRequest"]);
  onSender(entityId);
  const { client, provider } = await providerNamed(
    ctx,
    entityId,
    read.attributes["AssertionConsumerServiceURL"] ?? null,
  );
  const { message, signature, isSignedInside = false } = checkSignature(brought, text, read, provider);
  const insideOnly = "its signature is inside the message, and by HTTP-Redirect it belongs in the address";
  if (signature === "none" && provider.requiresSigned) {
    throw refuseMessage(
      `client "${entityId}" has to sign its requests, and this one is not signed${isSignedInside ? `: ${insideOnly}` : ""}${senderIn(read)}`,
      isSignedInside ? "SAML Bindings 3.4.4.1" : "SAML Metadata 2.4.4",
      isSignedInside
        ? "sign the query (SigAlg, Signature), or send the message by HTTP-POST"
        : `sign the request; a library that reads WantAuthnRequestsSigned signs with ${metadataFor(ctx, entityId)}; or set require_signed_requests to false for the client`,
    );
  }
  const acs = acsOf(client, provider, message);
  const remark = checkRelayState(brought.relayState);
  const target = {
    clientId: entityId,
    redirectUri: acs,
    id: message.attributes["ID"] ?? "",
    relayState: brought.relayState ?? null,
  };
  // Whatever the answer will be: what would wait is refused before anything is answered to the service provider.
  requireSmall([target, waitingTexts(message)]);
  const request = requestOf(ctx, message, provider, target);
  const named = await ctx.store.read((tx) => namedUser(tx, ctx, message, provider, target));
  const notChecked =
    signature === "not-checked" ? ["signature not checked: no certificate is registered for this client"] : [];
  const inside = isSignedInside ? [`${insideOnly}: not checked (SAML Bindings 3.4.4.1)`] : [];
  return {
    request: requireSmall({ ...request, ...named }),
    remarks: [...notChecked, ...inside, ...(remark === null ? [] : [remark])],
  };
}

/** What a message says about the person and the sign-in. */
const waitingTexts = (message: XmlElement): readonly (string | null)[] =>
  ["Subject", "RequestedAuthnContext"].flatMap((name) =>
    message.children.filter((child) => child.name === name).flatMap((child) => allIn(child).map(({ text }) => text)),
  );

/** Where the response goes: only to an address that is registered, letter by letter. @throws {OAuthError} */
function acsOf(client: Client, { acs }: ServiceProvider, { attributes }: XmlElement): string {
  const { AssertionConsumerServiceURL: url, AssertionConsumerServiceIndex: index } = attributes;
  const registered = acs.map((one) => one.url);
  if (url !== undefined) {
    if (registered.includes(url)) return url;
    throw new OAuthError(
      "invalid_request",
      `AssertionConsumerServiceURL "${url}" is not registered for "${client.client_id}"; registered: ${registered.join("  ")}`,
      {
        rule: "SAML Profiles 4.1.4.1",
        fix: addServiceProvider(client.client_id, url, true) ?? showClient(client),
        mismatch: { parameter: "AssertionConsumerServiceURL", sent: url, registered },
      },
    );
  }
  const found = index === undefined ? acs[0] : acs.find((one) => String(one.index) === index);
  if (found !== undefined) return found.url;
  const known = acs.map((one) => `${one.index === null ? "no index" : `index ${one.index}`}: ${one.url}`).join("  ");
  throw refuseMessage(
    `no AssertionConsumerService of "${client.client_id}" has the index "${index ?? ""}"; registered: ${known}`,
    "SAML Core 3.4.1",
    "send a registered index or AssertionConsumerServiceURL, or neither for the first address",
  );
}

const refuseTo = (target: SamlTarget, status: SamlStatus, message: string, guidance: Guidance): SamlStatusError =>
  new SamlStatusError(target, status, message, guidance);

/** Everything that may be answered to the service provider. @throws {SamlStatusError} */
function requestOf(ctx: Context, message: XmlElement, provider: ServiceProvider, target: SamlTarget): SamlRequest {
  const {
    Version: version,
    Destination: destination,
    ProtocolBinding: binding,
    ForceAuthn,
    IsPassive,
  } = message.attributes;
  const here = samlAddress(ctx, "sso");
  if (version !== "2.0") {
    throw refuseTo(target, { top: "VersionMismatch", second: null }, `Version "${version ?? ""}" is not 2.0`, {
      rule: "SAML Core 3.2.1",
      fix: 'send Version="2.0"',
    });
  }
  if (destination !== undefined && destination !== here) {
    throw refuseTo(target, { top: "Requester", second: null }, `Destination "${destination}" is not ${here}`, {
      rule: "SAML Core 3.2.1",
      fix: `send the request to ${here}, and name it as its Destination`,
    });
  }
  if (binding !== undefined && binding !== bindings.post) {
    throw refuseTo(
      target,
      { top: "Requester", second: "UnsupportedBinding" },
      `ProtocolBinding "${binding}" is not supported`,
      {
        rule: "SAML Core 3.4.1",
        fix: `leave ProtocolBinding out, or send ${bindings.post}`,
      },
    );
  }
  const nameId = reading(() => nameIdKind(message, provider, target));
  const context = reading(() => askedContext(message, target));
  const choices = context === null ? null : choicesOf(ctx, context);
  if (choices?.length === 0) {
    throw refuseTo(
      target,
      { top: "Responder", second: "NoAuthnContext" },
      `no sign-in here reaches a RequestedAuthnContext of ${context?.comparison ?? "exact"} ${context?.classes.join(" ") ?? ""}`,
      {
        rule: "SAML Core 3.3.2.2.1",
        fix: 'ask for another class, or define it under "acr" in the settings of a fixture file',
      },
    );
  }
  return {
    ...target,
    uiLocales: null,
    forceAuthn: isTrue(ForceAuthn),
    isPassive: isTrue(IsPassive),
    nameId,
    context: choices,
    loginHint: null,
    userId: null,
    details: detailsOf(message, target, context),
  };
}

/** @throws {SamlStatusError} */
function nameIdKind(message: XmlElement, provider: ServiceProvider, target: SamlTarget): SamlRequest["nameId"] {
  const policy = childOf(message, spaces.protocol, "NameIDPolicy");
  const { Format: format = null, SPNameQualifier: qualifier = "" } = policy?.attributes ?? {};
  const refuse = (why: string, fix: string): SamlStatusError =>
    refuseTo(target, { top: "Requester", second: "InvalidNameIDPolicy" }, why, { rule: "SAML Core 3.4.1.1", fix });
  // Of an affiliation of several, which nobody can register here.
  if (qualifier !== "" && qualifier !== provider.entityId)
    throw refuse(
      `the SPNameQualifier "${qualifier}" of NameIDPolicy is not the entityID "${provider.entityId}"`,
      "leave SPNameQualifier out, or send the entityID",
    );
  const kind = askedNameId(format, provider.nameid);
  if (kind !== null) return kind;
  const right = rightFormat(format ?? "");
  throw refuse(
    `the format "${format ?? ""}" of NameIDPolicy is ${right === null ? "not possible here" : `not defined; the right name is ${right}`}`,
    right === null
      ? `ask for one of ${Object.values(nameIdFormats).join(" ")}, or leave NameIDPolicy out`
      : `send Format="${right}", or leave NameIDPolicy out`,
  );
}

function askedContext(message: XmlElement, target: SamlTarget): AskedContext | null {
  const asked = childOf(message, spaces.protocol, "RequestedAuthnContext");
  if (asked === undefined) return null;
  const named = asked.attributes["Comparison"] ?? "exact";
  const comparison = comparisons.find((one) => one === named);
  if (comparison === undefined) {
    throw refuseTo(
      target,
      { top: "Requester", second: null },
      `the Comparison "${named}" of RequestedAuthnContext is not one`,
      {
        rule: "SAML Core 3.3.2.2.1",
        fix: `send ${comparisons.join(", ")}, or leave Comparison out`,
      },
    );
  }
  return { comparison, classes: childrenOf(asked, spaces.assertion, "AuthnContextClassRef").map(textIn) };
}

function detailsOf(
  message: XmlElement,
  { clientId, redirectUri }: SamlTarget,
  context: AskedContext | null,
): SamlRequest["details"] {
  const { ForceAuthn, IsPassive } = message.attributes;
  const rows = [
    ["Issuer", clientId],
    ["AssertionConsumerServiceURL", redirectUri],
    ["ForceAuthn", ForceAuthn],
    ["IsPassive", IsPassive],
    ["RequestedAuthnContext", context === null ? undefined : `${context.comparison} ${context.classes.join(" ")}`],
  ] as const;
  return rows.flatMap(([name, value]) => (value === undefined ? [] : [{ name, value }]));
}
