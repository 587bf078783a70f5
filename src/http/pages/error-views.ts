import type { AppView, View } from "./views.ts";
import type { Mismatch } from "../../core/base/errors.ts";

/** What the pages of errors show. http/answer/errors.ts fills it in, and pages.ts renders it: `renderError`, `renderEnded`. */

/** A sign-in or a consent that cannot go on: the page says how to start again. */
export interface EndedView extends View {
  readonly step: "login" | "factor" | "consent";
  readonly state: "expired" | "no-cookie" | "finished" | "suspended" | "banned";
  readonly client: AppView | null;
  /** Where to go from here: to the app (expired, finished), or to this page at its right address (no-cookie); null for no link. */
  readonly href: string | null;
  /** The command that makes a suspended or banned user active again; null for no fix. */
  readonly fix: string | null;
  /** The command that opens the sign-in in the inspector. */
  readonly inspect: string | null;
  /** For the developer, in the answer as data. English. */
  readonly message: string;
}

/** What a refusal is about: chooses what the page says to the person in front of it. */
export type ErrorKind =
  | "client"
  | "document"
  | "redirect-uri"
  | "request"
  | "form"
  | "other-user"
  | "not-found"
  | "method"
  | "too-large"
  | "too-many"
  | "host"
  | "server"
  | "unavailable";

export interface ErrorView extends View {
  readonly kind: ErrorKind;
  /** An error code of OAuth, or a word: "not_found". */
  readonly code: string;
  /** For the developer: the rule that failed, what was given. English. */
  readonly message: string;
  /** What to try before the fix, in English; null: nothing. */
  readonly advice: string | null;
  /** A command or a setting that fixes it. */
  readonly fix: string | null;
  /** Its command without what names the server here; null: it is a sentence. */
  readonly command: string | null;
  /** The command that opens the sign-in, or the inspector; null for a request that the inspector does not show. */
  readonly inspect: string | null;
  /** The paragraph that requires the refusal; null: no standard does. */
  readonly rule: string | null;
  /** What was sent, and what would have passed; the page marks the difference. */
  readonly mismatch: Mismatch | null;
  /** HTTP status. */
  readonly status: number;
  /** Seconds until it may be tried again; null: not known. */
  readonly retryAfter: number | null;
  /** Who signed in since the form was shown; null: nobody. */
  readonly otherUser: { readonly username: string } | null;
  /** The page of a form that was refused because it is old; null for other refusals. */
  readonly formHref: string | null;
}
