/*
 * core/sign-in/consent: what the user decided. consent.ts records one fact: which scopes are allowed. The page lists the values that
 * the client would get with each of them.
 */
import type { Client, Grant, Interaction, User, ReadTx } from "../../../store/store.ts";
import { clientOf } from "../../records/clients/documents.ts";
import { isLoopbackUrl } from "../../../net/address.ts";
import type { Context } from "../../context.ts";
import { patternHost } from "../../records/clients/redirect-patterns.ts";
import { isCovered, activeGrant, isNewHost } from "../grants/grants.ts";
import { findInteraction, InteractionError, recordFact, type Browser } from "../interactions.ts";
import { advance, nextStep, purposeOf, sessionFor, settle, type StepResult } from "../next-step.ts";
import type { RequestSummary } from "../purpose.ts";
import { requireUserForm, userFormValue } from "../user-form.ts";
import { everythingOf, idTokenClaims, singleClaim, userInfo, type Defaults } from "../../records/scopes/claims.ts";

/** What the consent page says about a scope. */

/** A scope's name, and the description of a fixture by language. */
export interface NamedScope {
  readonly name: string;
  readonly description: Readonly<Record<string, string>> | null;
}

/** The fixture's description by language; null for a built-in scope, which the pages describe. */
const scopeDescription = (tx: ReadTx, name: string): Readonly<Record<string, string>> | null =>
  tx.get("scopes", name)?.description ?? null;

export const namedScopes = (tx: ReadTx, names: readonly string[]): NamedScope[] =>
  names.map((name) => ({ name, description: scopeDescription(tx, name) }));

/** One value that a scope releases. */
export interface ReleasedValue {
  /** The path in the UserInfo answer: `email.domain`. */
  readonly name: string;
  readonly value: string | boolean | null;
}

/** Adds the leaves of a value, with their paths. */
function addLeaves(into: ReleasedValue[], value: unknown, path: string): void {
  if (typeof value !== "object" || value === null) {
    const plain = typeof value === "string" || typeof value === "boolean" || value === null;
    into.push({ name: path, value: plain ? value : JSON.stringify(value) });
    return;
  }
  const keys = Object.keys(value);
  if (keys.length === 0) into.push({ name: path, value: JSON.stringify(value) });
  const isList = Array.isArray(value);
  for (const key of keys) {
    const name = isList ? `${path}[${key}]` : path === "" ? key : `${path}.${key}`;
    addLeaves(into, (value as Record<string, unknown>)[key], name);
  }
}

/** The values of `document` by their paths. */
export function leavesOf(document: Record<string, unknown>): ReleasedValue[] {
  const leaves: ReleasedValue[] = [];
  if (Object.keys(document).length > 0) addLeaves(leaves, document, "");
  return leaves;
}

/** The values of `document` whose paths `known` does not have. */
function newLeavesOf(document: Record<string, unknown>, known: readonly ReleasedValue[]): ReleasedValue[] {
  return leavesOf(document).filter(({ name }) => !known.some((leaf) => leaf.name === name));
}

const prefix = "user.";

/** The names that a page shows: paths of UserInfo without the leading `user.`. */
const shown = (values: readonly ReleasedValue[]): ReleasedValue[] =>
  values.map(({ name, value }) => ({ name: name.startsWith(prefix) ? name.slice(prefix.length) : name, value }));

/** Everything that clients may receive about a user, for the account page. */
export const ownValues = (ctx: Defaults, user: User): readonly ReleasedValue[] =>
  shown(leavesOf(everythingOf(ctx, user)));

/** The user's values that a client would receive. */
interface Released {
  /** The values that UserInfo always sends; `sub` is left out if it equals `id`. */
  readonly always: readonly ReleasedValue[];
  /** The values that are sent because of this scope alone: in UserInfo, or else in the ID token. */
  readonly by: (scope: string) => readonly ReleasedValue[];
}

function releasedValues(tx: ReadTx, ctx: Defaults, client: Client, user: User): Released {
  const base = userInfo(tx, ctx, client, user, [], []);
  const always = leavesOf(base);
  let inIdToken: readonly ReleasedValue[] | null = null;
  return {
    always: shown(base["id"] === base["sub"] ? always.filter(({ name }) => name !== "sub") : always),
    by: (scope) => {
      const claim = singleClaim(scope);
      const named = claim === null ? [] : [claim];
      const inUserInfo = newLeavesOf(userInfo(tx, ctx, client, user, [scope], named), always);
      if (inUserInfo.length > 0) return shown(inUserInfo);
      inIdToken ??= leavesOf(idTokenClaims(tx, ctx, client, user, [], []));
      return newLeavesOf(idTokenClaims(tx, ctx, client, user, [scope], named), inIdToken);
    },
  };
}

const csrfFor = (interaction: Interaction, user: User): string => userFormValue(interaction.csrf, user.id);

export interface ScopeRow extends NamedScope {
  /** The values that would be sent. */
  readonly values: readonly ReleasedValue[];
  /** The user left it out when asked before. */
  readonly declined: boolean;
}

export interface ConsentPage {
  readonly csrf: string;
  readonly client: Client;
  readonly user: User;
  readonly redirectUri: string;
  /** The user allowed this app before, at other hosts: a pattern of the client lets this one in. */
  readonly isNewHost: boolean;
  /** Where the metadata of a client that nobody registered comes from, and whether this request returns to this machine; else null. */
  readonly document: { readonly url: string; readonly loopback: boolean } | null;
  readonly uiLocales: string | null;
  readonly fresh: readonly ScopeRow[];
  readonly granted: readonly ScopeRow[];
  /** The values that are always sent, unless the row of `openid` shows them. */
  readonly always: readonly ReleasedValue[];
  readonly request: RequestSummary;
}

/**
 * What the consent page shows; null if consent is not the next step (the user signed out, or allowed it in another tab).
 * @throws {InteractionError | RedirectedError}
 */
export const showConsent = (ctx: Context, uid: string, browser: Browser): Promise<ConsentPage | null> =>
  ctx.store.read((tx) => {
    const interaction = findInteraction(tx, ctx, uid, browser);
    const session = sessionFor(tx, interaction, browser);
    const { needs, shown } = purposeOf(ctx, interaction);
    if (needs.consent === null || session === null) return null;
    if (nextStep(tx, ctx, interaction, session).kind !== "consent") return null;
    const { scopes, redirectUri } = needs.consent;
    const client = clientOf(tx, needs.consent);
    const known = activeGrant(tx, session.user.id, client.client_id);
    const grant: Pick<Grant, "scopes" | "declined"> = known ?? { scopes: [] };
    const before = grant.scopes;
    const host = patternHost(ctx, client, redirectUri);
    // Leaves out single claims that a granted scope already releases.
    const asked = scopes.filter((name) => before.includes(name) || !isCovered(tx, ctx, client, grant, name));
    const released = releasedValues(tx, ctx, client, session.user);
    const rows = (names: readonly string[]): ScopeRow[] =>
      namedScopes(tx, names).map(({ name, description }) => ({
        name,
        description,
        values: name === "openid" ? released.always : released.by(name),
        declined: grant.declined?.includes(name) === true,
      }));
    return {
      csrf: csrfFor(interaction, session.user),
      client,
      user: session.user,
      redirectUri,
      isNewHost: known !== undefined && host !== null && isNewHost(known, host),
      document: client.fromDocument ? { url: client.client_id, loopback: isLoopbackUrl(redirectUri) } : null,
      uiLocales: shown.uiLocales,
      fresh: rows(asked.filter((name) => !before.includes(name))),
      granted: rows(asked.filter((name) => before.includes(name))),
      always: scopes.includes("openid") ? [] : released.always,
      request: shown.summary(),
    };
  });

interface ConsentForm {
  readonly csrf: string;
  readonly decision: "allow" | "deny";
  /** The selected scopes. */
  readonly scopes: readonly string[];
}

/**
 * Handles the consent form: records the decision, and takes the next step in the same transaction, so that a decision counts once.
 * @throws {InteractionError}; {RedirectedError} if the user denies
 */
export async function consent(ctx: Context, uid: string, browser: Browser, form: ConsentForm): Promise<StepResult> {
  const result = await ctx.store.transaction((tx) => {
    const interaction = findInteraction(tx, ctx, uid, browser);
    const session = sessionFor(tx, interaction, browser);
    const question = purposeOf(ctx, interaction).needs.consent;
    if (question === null) throw new InteractionError("gone");
    // Signed out since the page was shown: nobody decides.
    if (session === null) return advance(tx, ctx, interaction, null, browser);
    const { user } = session;
    requireUserForm(form.csrf, csrfFor(interaction, user), user.username);
    const decided = { sessionId: session.session.id, allowed: allowedBy(form, question.scopes) };
    return advance(tx, ctx, recordFact(tx, interaction, { consent: decided }), session, browser);
  });
  return settle(ctx, result);
}

/** The scopes that the user allowed: only those that were asked for, whatever the form says, and always openid. Null: denied. */
const allowedBy = (form: ConsentForm, asked: readonly string[]): readonly string[] | null =>
  form.decision === "deny" ? null : asked.filter((name) => name === "openid" || form.scopes.includes(name));
