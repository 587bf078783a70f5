import { otherProviders, notifyClients } from "../sign-in/sessions/backchannel.ts";
import { nameIdAtClient, type ReadTx, type Session, type Tx } from "../../store/store.ts";
import type { Context } from "../context.ts";
import { samlKeys } from "../records/keys/saml-keys.ts";
import type { AskLogout, SignedOut } from "../protocol/logout/logout.ts";
import { useOnce } from "../base/era.ts";
import { hashOf } from "../base/secrets.ts";
import { spaces, type Binding } from "../records/service-providers/names.ts";
import { serviceProvider } from "../records/service-providers/provider.ts";
import { endSessions } from "../sign-in/sessions/sessions.ts";
import { newInteraction, waitingTtl, type Browser, type LogoutRecord } from "../sign-in/interactions.ts";
import { signElement, signQuery, attribute, xml } from "../base/xml/write.ts";
import { childOf, childrenOf, textIn, type XmlElement } from "../base/xml/parse.ts";
import { entityIdOf, samlAddress } from "./addresses.ts";
import { statusXml } from "./draft.ts";
import { checkRelayState, deflateMessage, openMessage, reading, refuseMessage, type Brought } from "./message.ts";
import { checkSignature } from "./signature.ts";
import { providerNamed } from "./request.ts";
import { hadName } from "./purpose.ts";
import { newId } from "./response.ts";

/** Single logout that a service provider begins (SAML Profiles 4.4). Other service providers are not told, and the status says so. */

/** What is needed to answer a LogoutRequest. */
interface LogoutToAnswer {
  readonly clientId: string;
  readonly requestId: string;
  readonly relayState: string | null;
  /** Why nothing was ended; null: it is answered with what happened. */
  readonly refusal: {
    readonly top?: "VersionMismatch";
    readonly second: string | null;
    readonly message: string;
  } | null;
}

declare module "../sign-in/interactions.ts" {
  interface LogoutReplies {
    readonly saml: LogoutToAnswer;
  }
}

/** A checked LogoutRequest. */
export interface TakenLogout {
  readonly answer: LogoutToAnswer;
  /** Null: nobody can tell who sent it, so the person is asked. */
  readonly proven: { readonly nameId: string; readonly indexes: readonly string[] } | null;
  /** Milliseconds: afterwards the request is too old; absent: an unsigned one does not say. */
  readonly until: number | undefined;
  readonly remark: string | null;
}

/** @throws {OAuthError} shown to the person */
export async function takeLogout(
  ctx: Context,
  brought: Brought,
  onSender: (entityId: string) => void,
): Promise<TakenLogout> {
  const { text, read, entityId } = openMessage(brought, ["LogoutRequest"]);
  onSender(entityId);
  const { provider } = await providerNamed(ctx, entityId, null);
  const { message, signature } = checkSignature(brought, text, read, provider);
  const remark = checkRelayState(brought.relayState);
  const answer = {
    clientId: entityId,
    requestId: message.attributes["ID"] ?? "",
    relayState: brought.relayState ?? null,
    refusal: refusalOf(ctx, message),
  };
  const { NotOnOrAfter: end, IssueInstant: issued } = message.attributes;
  if (signature !== "good")
    return { answer, proven: null, remark, until: end === undefined ? undefined : Date.parse(end) };
  const until = end === undefined ? Date.parse(issued ?? "") + maxAge : Date.parse(end);
  const refusal = answer.refusal ?? (until > ctx.now() ? null : tooOld(issued));
  return { answer: { ...answer, refusal }, remark, until, proven: reading(() => namedIn(message)) };
}

/** Milliseconds that a signed request counts for, if it does not say so itself: its ID is remembered as long. */
const maxAge = 300_000;

const tooOld = (issued: string | undefined): LogoutToAnswer["refusal"] => ({
  second: null,
  message: `the LogoutRequest has no NotOnOrAfter, and its IssueInstant "${issued ?? ""}" is not within the last five minutes (SAML Core 3.7.1)`,
});

/** Remembers a signed request, which counts once. @returns why it does not count */
function useRequest(tx: Tx, { clientId, requestId }: LogoutToAnswer, until: number): LogoutToAnswer["refusal"] {
  const id = hashOf(JSON.stringify(["saml-logout", clientId, requestId]));
  const problem = useOnce(tx, "usedAssertions", id, until);
  if (problem === "maybe used")
    return { second: null, message: "the LogoutRequest was made before the clock was set back (SAML Core 3.7.1)" };
  if (problem === "used")
    return { second: null, message: `the LogoutRequest with the ID "${requestId}" was used before (SAML Core 1.3.4)` };
  return null;
}

function refusalOf(ctx: Context, { attributes }: XmlElement): LogoutToAnswer["refusal"] {
  const { Version: version, Destination: destination, NotOnOrAfter: until } = attributes;
  const here = samlAddress(ctx, "slo");
  if (version !== "2.0") {
    return { top: "VersionMismatch", second: null, message: `Version "${version ?? ""}" is not 2.0 (SAML Core 3.2.1)` };
  }
  if (destination !== undefined && destination !== here)
    return { second: null, message: `Destination "${destination}" is not ${here} (SAML Core 3.2.1)` };
  if (until !== undefined && !(Date.parse(until) > ctx.now()))
    return { second: null, message: `the LogoutRequest expired at ${until} (SAML Core 3.7.1)` };
  return null;
}

function namedIn(message: XmlElement): NonNullable<TakenLogout["proven"]> {
  const name = childOf(message, spaces.assertion, "NameID");
  if (name === undefined) throw refuseMessage("the LogoutRequest has no NameID", "SAML Core 3.7.1");
  return { nameId: textIn(name), indexes: childrenOf(message, spaces.protocol, "SessionIndex").map(textIn) };
}

/** A session, with the part of a service provider in it. */
const sessionsOf = (
  tx: ReadTx,
  clientId: string,
  { nameId, indexes }: NonNullable<TakenLogout["proven"]>,
): readonly Session[] =>
  tx
    .everything("sessions", "nameId", nameIdAtClient(clientId, nameId))
    .filter(({ sid }) => indexes.length === 0 || indexes.includes(sid));

const signedOut = { kind: "signed-out", location: null, back: null, stays: null, uiLocales: undefined } as const;

/** Ends the session that a signed request names, or asks the person. */
export async function beginSamlLogout(
  ctx: Context,
  { answer, proven, until = Infinity }: TakenLogout,
  browser: Browser,
): Promise<SignedOut | AskLogout> {
  const nothing = { ...signedOut, notices: [], ended: false, others: [], stillSignedIn: true };
  if (answer.refusal !== null) return { ...nothing, reply: answer };
  const { clientId } = answer;
  if (proven === null) {
    const record: LogoutRecord = {
      kind: "logout",
      why: "unsigned",
      clientId,
      reply: answer,
      postLogoutRedirectUri: undefined,
      state: undefined,
    };
    return ctx.store.transaction((tx) => {
      // Confirmed later, it would be an old request.
      const interaction = newInteraction(ctx, record, browser, Math.min(waitingTtl, until - ctx.now()));
      tx.insert("interactions", interaction);
      return { kind: "ask", uid: interaction.uid };
    });
  }
  const outcome = await ctx.store.transaction((tx) => {
    const used = useRequest(tx, answer, until);
    if (used !== null) return used;
    const sessions = sessionsOf(tx, clientId, proven);
    // There is such a session, but this service provider has no part in it, or knows the user by another name.
    const isForeign =
      sessions.length === 0 &&
      (!hadName(tx, clientId, proven.nameId) ||
        proven.indexes.some((sid) => tx.find("sessions", "sid", sid) !== undefined));
    const ended = endSessions(tx, sessions);
    return { ended, others: otherProviders(tx, ended, clientId), isForeign };
  });
  if ("message" in outcome) return { ...nothing, reply: { ...answer, refusal: outcome } };
  const { ended, others, isForeign } = outcome;
  const isOwn = ended.some(({ session }) => browser.session !== null && session.id === hashOf(browser.session));
  const notices = await notifyClients(ctx, ended);
  const refusal = isForeign
    ? {
        second: "UnknownPrincipal",
        message: `no session of this service provider has or had this NameID${proven.indexes.length === 0 ? "" : " with this SessionIndex"} (SAML Core 3.7.1)`,
      }
    : null;
  return {
    ...signedOut,
    notices,
    ended: ended.length > 0,
    others,
    reply: { ...answer, refusal },
    stillSignedIn: !isOwn,
  };
}

/** The answer to a LogoutRequest. */
interface LogoutAnswer {
  readonly binding: Binding;
  /** The registered address; with HTTP-Redirect with the whole query. */
  readonly action: string;
  readonly parameters: readonly (readonly [name: string, value: string])[];
  readonly xml: string;
  readonly statuses: readonly string[];
}

/** @returns null: the service provider has no address for it @throws {OAuthError} if it was removed meanwhile */
export async function answerLogout(
  ctx: Context,
  { clientId, requestId, relayState, refusal }: LogoutToAnswer,
  others: SignedOut["others"],
): Promise<LogoutAnswer | null> {
  const client = await ctx.store.read((tx) => tx.get("clients", clientId));
  const provider = client === undefined ? null : await serviceProvider(client);
  if (provider?.slo == null) return null;
  const { binding, responseUrl } = provider.slo;
  const [key] = await samlKeys(ctx);
  const second = refusal === null ? (others.length > 0 ? "PartialLogout" : null) : refusal.second;
  const message =
    refusal?.message ??
    (second === null ? null : "other service providers of the session are not told (SAML Core 3.7.3.2)");
  const status = { top: refusal === null ? "Success" : (refusal.top ?? "Requester"), second } as const;
  const id = newId(ctx);
  const at = new Date(ctx.now()).toISOString().replace(/\.\d+Z$/, "Z");
  const response = xml`<samlp:LogoutResponse xmlns:samlp="${spaces.protocol}" xmlns:saml="${spaces.assertion}" ID="${id}" Version="2.0" IssueInstant="${at}" Destination="${responseUrl}"${attribute("InResponseTo", requestId)}>
    <saml:Issuer>${entityIdOf(ctx)}</saml:Issuer>
    ${statusXml(status as Parameters<typeof statusXml>[0], message)}
    </samlp:LogoutResponse>`;
  const state = relayState === null ? [] : [["RelayState", relayState] as const];
  const statuses = [status.top, ...(second === null ? [] : [second])];
  if (binding === "post") {
    const signed = signElement(response, "LogoutResponse", id, key);
    const parameters = [["SAMLResponse", Buffer.from(signed.text).toString("base64")] as const, ...state];
    return { binding, action: responseUrl, parameters, xml: signed.text, statuses };
  }
  const parameters = [["SAMLResponse", deflateMessage(response.text)] as const, ...state];
  const query = signQuery(parameters, key.key);
  const action = `${responseUrl}${responseUrl.includes("?") ? "&" : "?"}${query}`;
  return { binding, action, parameters, xml: response.text, statuses };
}
