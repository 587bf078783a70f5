import type { Client, Grant, Tx, User } from "../../store/store.ts";
import { checkStillAllowed, type AuthorizationRequest } from "./request.ts";
import { clientOf } from "../clients/documents.ts";
import { drawCode } from "../tokens/codes.ts";
import type { Context } from "../context.ts";
import { OAuthError, type Guidance } from "../errors.ts";
import { grantFor } from "../grants/granted-scopes.ts";
import { recordGrant } from "../grants/grants.ts";
import type { AuthorizationRecord } from "../sign-in/interactions.ts";
import type { Ending, Needs, SignInOutcome, Purpose } from "../sign-in/purpose.ts";
import { answerClient, RedirectedError } from "../sign-in/response.ts";
import { summarize } from "./request-summary.ts";

/** An authorization request as the purpose of a sign-in: it ends with a code for the client, or with the reason why not. */
export function authorizationPurpose(record: AuthorizationRecord): Purpose {
  const request = requestOf(record);
  const { clientId, document, redirectUri, uiLocales } = request;
  return {
    needs: needsOf(request, record.hintedUserId),
    shown: {
      app: { clientId, document, redirectUri, uiLocales },
      ownPage: null,
      uiLocales,
      summary: () => summarize(request),
    },
    check: (tx, ctx) => void checkStillAllowed(tx, ctx, request),
    refuse: (code, description, guidance) => refuse(request, code, description, guidance),
    finish: (tx, ctx, outcome) => finish(tx, ctx, request, outcome),
  };
}

/** `authorize.ts` put the whole request into the record. */
const requestOf = ({ request }: AuthorizationRecord): AuthorizationRequest => request as AuthorizationRequest;

function needsOf(request: AuthorizationRequest, hintedUserId: string | null): Needs {
  const { prompt, maxAge, loginHint, clientId, document, redirectUri, scopes } = request;
  const login = prompt.includes("select_account") ? "choice" : prompt.includes("login") ? "again" : "once";
  return {
    login,
    maxAge,
    loginHint,
    userId: hintedUserId,
    consent: { clientId, document, redirectUri, scopes, again: prompt.includes("consent") },
    acr: request.acr,
    acrIsEssential: request.acrIsEssential,
    silent: prompt.includes("none"),
  };
}

function finish(tx: Tx, ctx: Context, request: AuthorizationRequest, outcome: SignInOutcome): Ending {
  if (outcome === "canceled") return refused(request, "The user canceled the sign-in");
  if (outcome === "denied") return refused(request, "The user denied the request");
  const { standing } = outcome;
  const { user, session } = outcome.session;
  const client = clientOf(tx, request);
  const grant = settleGrant(tx, ctx, request, { user, client, allowed: outcome.allowed });
  const code = drawCode(tx, ctx, { client, user, grant, session, standing }, request);
  const answer = answerClient(request, { code });
  return { kind: "return", answer, clientId: client.client_id, username: user.username };
}

/** The grant that the code is for: what the user allowed, else the existing one, else one by policy (`skip_consent`, `consent: skip`). */
function settleGrant(
  tx: Tx,
  ctx: Context,
  { scopes }: AuthorizationRequest,
  to: { readonly user: User; readonly client: Client; readonly allowed: readonly string[] | null },
): Grant {
  const { user, client, allowed } = to;
  if (allowed !== null) return recordGrant(tx, ctx, { user, client, asked: scopes, allowed, by: "user" });
  const grant = grantFor(tx, ctx, client, user.id, scopes);
  return grant ?? recordGrant(tx, ctx, { user, client, asked: scopes, allowed: scopes, by: "policy" });
}

const refused = (request: AuthorizationRequest, description: string): Ending => ({
  kind: "refused",
  error: refuse(request, "access_denied", description, {
    rule: "RFC 6749 4.1.2.1",
    fix: "send the person back to the page that they came from, where they can sign in again",
  }),
});

/** A refusal that is sent to the client. */
export const refuse = (
  request: AuthorizationRequest,
  code: Parameters<Purpose["refuse"]>[0] | "access_denied",
  description: string,
  guidance: Guidance,
): RedirectedError => new RedirectedError(new OAuthError(code, description, guidance), request);
