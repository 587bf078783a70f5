import type { ReadTx, Tx } from "../../store/store.ts";
import type { Context } from "../context.ts";
import type { AskingApp } from "./interactions.ts";
import type { AuthorizationResponse } from "../authorize/response.ts";
import type { RequestSummary } from "../authorize/request-summary.ts";
import type { LiveSession } from "../sessions/sessions.ts";
import { seconds } from "../time.ts";

/**
 * What a sign-in is for: what it needs, and how it ends. Login, consent and `nextStep` know no more about it than this. There are two:
 * an authorization request (`core/authorize/purpose.ts`), and one of our own pages.
 */
export interface Purpose {
  readonly needs: Needs;
  /** What the pages say about it. */
  readonly shown: Shown;
  /** Checks again what may have changed since it began. @throws if it is no longer allowed */
  check(tx: ReadTx, ctx: Context): void;
  /** The error of a need that is not met and that no page may ask for. */
  refuse(code: "login_required" | "consent_required", description: string): Error;
  /** Ends the sign-in, in the transaction that ends its interaction. */
  finish(tx: Tx, ctx: Context, outcome: Outcome): Ending;
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
  /** Null: no consent. */
  readonly consent: Question | null;
  /** No page may be shown: what is missing is refused. */
  readonly silent: boolean;
}

/** What the user is asked to consent to. */
export interface Question {
  readonly clientId: string;
  /** Where the browser goes afterwards, for the page to name it. */
  readonly redirectUri: string;
  readonly scopes: readonly string[];
  /** Even if all of them are granted. */
  readonly again: boolean;
}

interface Shown {
  /** The app that asks; null: one of our own pages. */
  readonly app: AskingApp | null;
  /** The path of that page, below the issuer. */
  readonly ownPage: string | null;
  /** Languages for the pages, best first. */
  readonly uiLocales: string | null;
  summary(): RequestSummary;
}

/** The outcome of a sign-in. */
export type Outcome =
  | "canceled"
  | "denied"
  | {
      readonly session: LiveSession;
      /** The scopes that the user allowed; null: nobody had to ask. */
      readonly allowed: readonly string[] | null;
    };

/** Where the browser goes at the end. */
export type Ending =
  | {
      readonly kind: "return";
      readonly answer: AuthorizationResponse;
      readonly clientId: string;
      readonly username: string;
    }
  | { readonly kind: "own-page"; readonly path: string }
  /** Thrown after the transaction, because the end of the interaction must be kept. */
  | { readonly kind: "refused"; readonly error: Error };

/** This session is not enough for these needs, so the user must sign in again. */
export function mustSignInAgain(ctx: Pick<Context, "now">, needs: Needs, { session, user }: LiveSession): boolean {
  if (needs.login !== "once") return true;
  if (needs.userId !== null && needs.userId !== user.id) return true;
  if (needs.maxAge === null) return false;
  // max_age=0 means the same as prompt=login (OpenID Connect Core 3.1.2.1).
  return needs.maxAge === 0 || seconds(ctx) - session.authTime > needs.maxAge;
}

/** One of our own pages, below the issuer: sign in, then return to it. */
export const ownPagePurpose = (path: string): Purpose => ({
  needs: { login: "once", maxAge: null, userId: null, loginHint: null, consent: null, silent: false },
  shown: { app: null, ownPage: path, uiLocales: null, summary: () => ({ details: [], notes: [] }) },
  check: () => undefined,
  refuse: (_code, description) => new Error(description),
  finish: () => ({ kind: "own-page", path }),
});
