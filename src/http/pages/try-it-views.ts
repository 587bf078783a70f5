import { formPageHeaders, plainPageHeaders } from "../answer/security-headers.ts";
import { writerOf, type Page } from "./page-writer.ts";
import type { Renderer } from "./render.ts";
import type { FieldView, View } from "./views.ts";

/** The start page, and the pages on which a sign-in by "Try it" ends. */

/** The form that begins a sign-in. */
interface BeginView extends View {
  /** Null: there is no such form. */
  readonly beginAction: string | null;
  /** Of every form of the page. */
  readonly csrf: string;
}

/** The page at the issuer itself. */
export interface HomeView extends BeginView {
  readonly issuer: string;
  readonly discovery: string;
  readonly accountHref: string;
  /** The setting `try_it` is on. */
  readonly tryIt: boolean;
  /** Who is to sign in, by a link of the inspector; null: anybody. */
  readonly loginHint: string | null;
  /** The start page under the issuer's name, where the page was opened under another one; else null. */
  readonly elsewhere: string | null;
  /** The command that signs in from a terminal. */
  readonly command: string;
}

export function renderHome(renderer: Renderer, view: HomeView): Page {
  const { page, say } = writerOf(renderer, view);
  const heading = { state: view.tryIt ? "try-it" : "default", title: say("home.title") };
  return page("home", heading, view, view.beginAction === null ? plainPageHeaders : formPageHeaders);
}

/** What the app received. */
export interface TryItView extends BeginView {
  /** After the sign-in, after another call of UserInfo, or after the access was removed. */
  readonly state: "done" | "called" | "removed";
  /** Calls UserInfo again, and removes the access before that if asked to. */
  readonly action: string;
  readonly accessToken: string;
  /** Null: not after the sign-in. */
  readonly idToken: {
    readonly claims: readonly FieldView[];
    /** Header and payload, as JSON. */
    readonly decoded: string;
  } | null;
  /** Of the last call. */
  readonly userinfo: { readonly path: string; readonly status: number; readonly body: string };
  readonly homeHref: string;
}

export function renderTryIt(renderer: Renderer, view: TryItView): Page {
  const { page, say, field } = writerOf(renderer, view);
  const { idToken, state, userinfo } = view;
  const answered = userinfo.status === 200;
  const title = say(`try-it.title-${state}`);
  return page(
    "try-it",
    { state, title },
    {
      ...view,
      answered,
      sentence: say(state === "done" ? "try-it.done" : answered ? "try-it.answered" : `try-it.${state}-refused`),
      idToken: idToken && { ...idToken, claims: idToken.claims.map(field) },
    },
  );
}

/** No sign-in came of it. */
export interface TryItFailedView extends BeginView {
  /** The server refused; or this browser did not send the request that was answered. */
  readonly state: "refused" | "over";
  readonly error: string;
  readonly description: string;
  readonly homeHref: string;
}

export function renderTryItFailed(renderer: Renderer, view: TryItFailedView): Page {
  const { page, say } = writerOf(renderer, view);
  const { state } = view;
  const heading = { name: "try-it", state, title: say(`try-it.title-${state}`), failed: true };
  return page("try-it-failed", heading, { ...view, sentence: say(`try-it.${state}`) });
}
