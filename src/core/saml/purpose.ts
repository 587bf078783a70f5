/*
 * core/saml: this issuer as a SAML 2.0 identity provider.
 *
 * message.ts decodes what a browser brings, signature.ts checks whose it is, request.ts checks an AuthnRequest, begin.ts begins the sign-in, kept.ts has messages that wait for their browser, purpose.ts says what that sign-in needs and how it ends
 * (the same pages and sessions as with OpenID Connect), response.ts writes the response. logout.ts has single logout, metadata.ts describes this identity
 * provider, issue.ts makes responses without a browser, and read.ts reads and verifies messages that somebody pastes. core/testing/saml-flaws makes them wrong on purpose. Only purpose.ts, addresses.ts and authn-context.ts are loaded
 * before the first SAML request: they have no XML.
 */
import { nameIdAtClient, type ReadTx, type Session, type Tx } from "../../store/store.ts";
import { findClient } from "../records/clients/clients.ts";
import type { Context } from "../context.ts";
import { OAuthError, type Guidance } from "../base/errors.ts";
import { showClient } from "../records/fix-commands.ts";
import { shownHint } from "../protocol/redaction/values.ts";
import { hashOf } from "../base/secrets.ts";
import { nameIdOf, type NameId } from "../records/service-providers/provider.ts";
import type { NameIdKind } from "../records/service-providers/names.ts";
import type { AskingApp } from "../sign-in/interactions.ts";
import type { Ending, Purpose, SignInOutcome } from "../sign-in/purpose.ts";
import { isUsualClass, reportedClass, type ContextChoice } from "./authn-context.ts";

/** A checked AuthnRequest, or a sign-in that was begun here. `redirectUri` is the address of the service provider that the response is posted to. */
export interface SamlRequest extends AskingApp {
  /** Null: the sign-in was begun here. */
  readonly id: string | null;
  readonly relayState: string | null;
  readonly forceAuthn: boolean;
  readonly isPassive: boolean;
  readonly nameId: NameIdKind;
  /** What the sign-in has to prove, best first; null: nothing was asked for. */
  readonly context: readonly ContextChoice[] | null;
  readonly loginHint: string | null;
  /** The only user about whom an assertion is wanted (`Subject`); null: any. "": one whom nobody here is. */
  readonly userId: string | null;
  /** The parameters as the pages show them to the developer. */
  readonly details: readonly { readonly name: string; readonly value: string }[];
}

/** Kept while the person signs in. */
interface SamlRecord {
  readonly kind: "saml";
  readonly request: SamlRequest;
}

declare module "../sign-in/interactions.ts" {
  interface SignInRecords {
    readonly saml: SamlRecord;
  }
}

declare module "../sign-in/purpose.ts" {
  interface Endings {
    /** An assertion for a service provider, which is signed after the transaction; or why there is none. */
    readonly saml: {
      readonly kind: "saml";
      readonly plan: SamlPlan | SamlStatusError;
      readonly clientId: string;
      readonly username: string;
    };
  }
}

const status = "urn:oasis:names:tc:SAML:2.0:status:";
/** Why there is no assertion (SAML Core 3.2.2.2): who is to blame, and the reason. */
export interface SamlStatus {
  readonly top: "Requester" | "Responder" | "VersionMismatch";
  readonly second:
    | "UnsupportedBinding"
    | "NoPassive"
    | "AuthnFailed"
    | "InvalidNameIDPolicy"
    | "NoAuthnContext"
    | "UnknownPrincipal"
    | null;
}

export const statusUri = (name: string): string => status + name;

/** Where a response goes. */
export type SamlTarget = Pick<SamlRequest, "clientId" | "redirectUri" | "id" | "relayState">;

/** A refusal that goes to the service provider, as a signed status. */
export class SamlStatusError extends Error {
  override readonly name = "SamlStatusError";
  readonly target: SamlTarget;
  readonly status: SamlStatus;
  readonly guidance: Guidance;
  constructor(target: SamlTarget, status: SamlStatus, message: string, guidance: Guidance) {
    super(message);
    this.target = target;
    this.status = status;
    this.guidance = guidance;
  }
}

/** What an assertion will say of a sign-in that ended. */
export interface SamlPlan {
  readonly request: SamlRequest;
  readonly userId: string;
  readonly nameId: NameId;
  /** The `sid` of the session. */
  readonly sessionIndex: string;
  /** Seconds since 1970. */
  readonly authTime: number;
  /** Seconds since 1970: until then the person is signed in here. */
  readonly sessionEnds: number;
  readonly contextClass: string;
  /** How the person signed in (RFC 8176). */
  readonly amr: readonly string[];
  /** A class that means a password was met by the picker. */
  readonly byPicker: boolean;
}

/** An AuthnRequest as the purpose of a sign-in: it ends with an assertion for the service provider, or with the reason why not. */
export function samlPurpose({ request }: SamlRecord): Purpose {
  const { clientId, redirectUri, uiLocales, details, context } = request;
  return {
    needs: {
      login: request.forceAuthn ? "again" : "once",
      maxAge: null,
      userId: request.userId,
      loginHint: request.loginHint,
      consent: null,
      acr: [...new Set(context?.map(({ acr }) => acr))],
      acrIsEssential: context !== null,
      silent: request.isPassive,
    },
    shown: {
      app: { clientId, redirectUri, uiLocales },
      ownPage: null,
      hint: shownHint(request.loginHint),
      uiLocales,
      summary: () => ({ details, notes: [] }),
    },
    check: (tx) => {
      requireProvider(tx, clientId);
    },
    refuse: (code, description, guidance) => refuse(request, code, description, guidance),
    finish: (tx, ctx, outcome) => finish(tx, ctx, request, outcome),
  };
}

/** Checks that a service provider is still there. @throws {OAuthError} shown to the person */
function requireProvider(tx: ReadTx, clientId: string): void {
  const client = findClient(tx, clientId);
  if (client.saml !== undefined) return;
  throw new OAuthError("invalid_client", `client "${clientId}" is not a service provider of SAML`, {
    rule: "SAML Profiles 4.1.4.1",
    fix: showClient(client),
  });
}

const passive: Guidance = {
  rule: "SAML Core 3.4.1",
  fix: "send the request again without IsPassive, so that a page can ask",
};

/** The refusals of `nextStep` in the words of SAML. */
function refuse(
  request: SamlRequest,
  code: Parameters<Purpose["refuse"]>[0],
  description: string,
  guidance: Guidance,
): SamlStatusError {
  if (code === "unmet_authentication_requirements") {
    return new SamlStatusError(request, { top: "Responder", second: "NoAuthnContext" }, description, {
      rule: "SAML Core 3.3.2.2.1",
      fix: guidance.fix,
    });
  }
  if (!request.isPassive) return unknownPrincipal(request, "the user who signed in is not the one of the Subject");
  const what = code === "login_required" ? "the user has to sign in" : "the user has to prove more";
  return new SamlStatusError(
    request,
    { top: "Responder", second: "NoPassive" },
    `${what}, and IsPassive forbids asking`,
    passive,
  );
}

/** No assertion about somebody else than the one who was asked for (SAML Profiles 4.1.4.1). */
export const unknownPrincipal = (target: SamlTarget, message: string): SamlStatusError =>
  new SamlStatusError(target, { top: "Responder", second: "UnknownPrincipal" }, message, {
    rule: "SAML Profiles 4.1.4.1",
    fix: "leave Subject out to take any user, or name a user as an assertion named them",
  });

const canceled = (request: SamlRequest): Ending => ({
  kind: "refused",
  error: new SamlStatusError(request, { top: "Responder", second: "AuthnFailed" }, "the user canceled the sign-in", {
    rule: "SAML Core 3.2.2.2",
    fix: "send the person back to the page that they came from, where they can sign in again",
  }),
});

function finish(tx: Tx, ctx: Context, request: SamlRequest, outcome: SignInOutcome): Ending {
  if (typeof outcome === "string") return canceled(request);
  const { session, user } = outcome.session;
  const nameId = nameIdOf(ctx, { kind: request.nameId, entityId: request.clientId }, user);
  // The user is signed in, so the session stays.
  if (nameId === null)
    return {
      kind: "saml",
      plan: withoutName(request, user.username),
      clientId: request.clientId,
      username: user.username,
    };
  const contextClass = reportedClass(request.context ?? [], outcome.authentication.acr);
  rememberProvider(tx, session, { clientId: request.clientId, nameId: nameId.value, format: nameId.format });
  rememberName(tx, ctx, request.clientId, nameId.value);
  const plan: SamlPlan = {
    request,
    userId: user.id,
    nameId,
    sessionIndex: session.sid,
    authTime: outcome.authentication.authTime,
    sessionEnds: session.authTime + ctx.settings.session_ttl,
    contextClass,
    amr: outcome.authentication.amr,
    byPicker: isUsualClass(contextClass) && !outcome.authentication.amr.includes("pwd"),
  };
  return { kind: "saml", plan, clientId: request.clientId, username: user.username };
}

export const withoutName = (request: SamlTarget & Pick<SamlRequest, "nameId">, username: string): SamlStatusError =>
  new SamlStatusError(
    request,
    { top: "Requester", second: "InvalidNameIDPolicy" },
    `${username} has no e-mail address, which the NameID would be`,
    {
      rule: "SAML Core 3.4.1.1",
      fix: {
        text: "To give the user one",
        command: ["idp", "users", "edit", username, "--email", `${username}@example.com`],
      },
    },
  );

/** A session remembers that many names: a transient one is new each time. */
const maxNames = 50;

/** Adds a service provider to a session, so that its LogoutRequest can end that one. */
function rememberProvider(tx: Tx, { id }: Session, named: NonNullable<Session["serviceProviders"]>[number]): void {
  const session = tx.get("sessions", id);
  if (session === undefined) return;
  const { serviceProviders: known = [] } = session;
  if (
    known.some(
      ({ clientId, nameId, format }) =>
        clientId === named.clientId && nameId === named.nameId && format === named.format,
    )
  )
    return;
  tx.put("sessions", { ...session, serviceProviders: [...known, named].slice(-maxNames) });
}

/** Milliseconds after the end of a session in which a service provider may still ask to end it. */
const nameMemory = 30 * 86_400_000;

const usedName = (clientId: string, nameId: string): string => hashOf(`saml name ${nameIdAtClient(clientId, nameId)}`);

/** A service provider may end a session that is over (SAML Core 3.7.3.2), and not one that never was. */
function rememberName(tx: Tx, ctx: Context, clientId: string, nameId: string): void {
  const expiresAt = ctx.now() + ctx.settings.session_ttl * 1000 + nameMemory;
  tx.put("usedAssertions", { id: usedName(clientId, nameId), expiresAt });
}

/** Whether a session of this service provider had this name. */
export const hadName = (tx: ReadTx, clientId: string, nameId: string): boolean =>
  tx.get("usedAssertions", usedName(clientId, nameId)) !== undefined;
