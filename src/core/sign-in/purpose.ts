import type { ReadTx, Tx } from "../../store/store.ts";
import type { Context } from "../context.ts";
import type { Named } from "../records/clients/document-types.ts";
import type { AskingApp, SignInRecord } from "./interactions.ts";
import type { AuthorizationResponse } from "./response.ts";
import type { LiveSession } from "./sessions/sessions.ts";
import type { AuthenticationInfo } from "../records/step-up/acr.ts";
import { OAuthError, type Guidance } from "../base/errors.ts";

/**
 * What a sign-in is for: what it needs, and how it ends. Login, consent and `nextStep` know no more about it than this. There are three:
 * an authorization request (`core/protocol/authorize/purpose.ts`), an AuthnRequest of SAML (`core/saml/purpose.ts`), and one of our own pages.
 */
export interface Purpose {
  readonly needs: Needs;
  /** What the pages say about it. */
  readonly shown: Shown;
  /** Checks again what may have changed since it began. @throws if it is no longer allowed */
  check(tx: ReadTx, ctx: Context): void;
  /** The error of a need that is not met and that no page may ask for. */
  refuse(code: Refusal, description: string, guidance: Guidance): Error;
  /** Ends the sign-in, in the transaction that ends its interaction. */
  finish(tx: Tx, ctx: Context, outcome: SignInOutcome): Ending;
}

export interface Needs {
  /** `again`: the user has to sign in even if they are signed in; `choice`: they also have to choose which user they are. */
  readonly login: "once" | "again" | "choice";
  /** How many seconds ago the sign-in may be; null: any number. */
  readonly maxAge: number | null;
  /** The only user who may sign in; null: any. */
  readonly userId: string | null;
  /** The name of the user who is expected. */
  readonly loginHint: string | null;
  /** The users that the picker shows (Google's `hd`); anybody may sign in. Absent: all. */
  readonly hostedDomain?: string | null;
  /** Null: no consent. */
  readonly consent: Question | null;
  /** What the sign-in must prove: one of these values of `acr`, best first; or any factor that the user has. */
  readonly acr: readonly string[] | "factor";
  /** Where no value of `acr` is known, the request is refused (OpenID Connect Core 5.5.1.1). */
  readonly acrIsEssential: boolean;
  /** No page may be shown: what is missing is refused. */
  readonly silent: boolean;
}

type Refusal = "login_required" | "interaction_required" | "consent_required" | "unmet_authentication_requirements";

/** What the user is asked to consent to. */
export interface Question extends Named {
  /** Where the browser goes afterwards, for the page to name it. */
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** Whether the user is asked even if all of them are granted. */
  readonly isForced: boolean;
}

/** A note on a request for the developer; it is not a reason to refuse the request. */
export type RequestNote =
  | { readonly kind: "no-pkce" | "no-state" | "no-nonce" }
  /** Names that nobody defined: ignored. */
  | { readonly kind: "unknown-scopes"; readonly scopes: readonly string[] };

export interface RequestSummary {
  /** The parameters under their names, in the order of the standard. */
  readonly details: readonly { readonly name: string; readonly value: string }[];
  readonly notes: readonly RequestNote[];
}

interface Shown {
  /** The app that asks; null: one of our own pages. */
  readonly app: AskingApp | null;
  /** The path of that page, below the issuer. */
  readonly ownPage: string | null;
  /** The name of the user who is expected, as a page may show it. */
  readonly hint: string | null;
  /** Languages for the pages, best first. */
  readonly uiLocales: string | null;
  summary(): RequestSummary;
}

/** The outcome of a sign-in. */
export type SignInOutcome =
  | "canceled"
  | "denied"
  | {
      readonly session: LiveSession;
      readonly authentication: AuthenticationInfo;
      /** The scopes that the user allowed; null: nobody had to ask. */
      readonly allowed: readonly string[] | null;
    };

/** Where the browser goes at the end, by the `kind`. A purpose that ends otherwise registers its own (`declare module`). @public */
export interface Endings {
  readonly return: {
    readonly kind: "return";
    readonly answer: AuthorizationResponse;
    readonly clientId: string;
    readonly username: string;
  };
  readonly "own-page": { readonly kind: "own-page"; readonly path: string };
  /** Thrown after the transaction, because the end of the interaction must be kept. */
  readonly refused: { readonly kind: "refused"; readonly error: Error };
}

export type Ending = Endings[keyof Endings];

declare module "../context.ts" {
  interface Context {
    /** The purpose of a request of an app, because this folder knows nothing about such requests. */
    readonly purposeOfRequest: (record: Exclude<SignInRecord, { readonly kind: "page" }>) => Purpose;
  }
}

/** One of our own pages, below the issuer: sign in, then return to it. */
export const ownPagePurpose = (path: string, acr: Needs["acr"] = []): Purpose => ({
  needs: {
    ...{ login: "once", maxAge: null, userId: null, loginHint: null, consent: null },
    ...{ acr, acrIsEssential: false, silent: false },
  },
  shown: { app: null, ownPage: path, hint: null, uiLocales: null, summary: () => ({ details: [], notes: [] }) },
  check: () => undefined,
  refuse: (code, description, guidance) => new OAuthError(code, description, guidance),
  finish: () => ({ kind: "own-page", path }),
});
