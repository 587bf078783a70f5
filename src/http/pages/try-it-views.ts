import type { FieldView, View } from "./views.ts";
import { formPageHeaders, plainPageHeaders } from "../answer/security-headers.ts";
import { writerOf, type Page } from "./page-writer.ts";
import type { Renderer } from "./templates/render.ts";

/** The start page, and the pages on which a sign-in by "Try it" ends. */

/** The form that begins a sign-in. */
interface BeginView extends View {
  /** Null for a page without this form. */
  readonly beginAction: string | null;
  /** For every form of the page. */
  readonly csrf: string;
}

/** The start page, at the issuer itself. */
export interface HomeView extends BeginView {
  readonly issuer: string;
  readonly discovery: string;
  readonly accountHref: string;
  /** Whether the setting `try_it` is on. */
  readonly tryIt: boolean;
  /** Who is to sign in, by a link of the inspector; null for anybody. */
  readonly loginHint: string | null;
  /** The start page under the issuer's name, if the page was opened under another name; else null. */
  readonly elsewhere: string | null;
  /** The command that signs in from a terminal; null without a client for it. */
  readonly command: string | null;
  /** The command that opens the inspector. */
  readonly inspect: string;
}

export function renderHome(renderer: Renderer, view: HomeView): Page {
  const { page, plain } = writerOf(renderer, view);
  const title = plain({ key: "home.title", values: { name: view.brand.name } });
  const heading = { state: view.tryIt ? "try-it" : "default", title };
  return page("home", heading, view, view.beginAction === null ? plainPageHeaders : formPageHeaders);
}

/** What the app received. */
export interface TryItView extends BeginView {
  /** After the sign-in, after another call of UserInfo, or after the access was removed. */
  readonly state: "done" | "called" | "removed";
  /** Calls UserInfo again; first removes the access, if asked to. */
  readonly action: string;
  readonly accessToken: string;
  /** Null on the pages after the first. */
  readonly idToken: {
    readonly claims: readonly FieldView[];
    /** Header and payload, as JSON. */
    readonly decoded: string;
  } | null;
  /** The last call. */
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

/** The sign-in failed. */
export interface TryItFailedView extends BeginView {
  /** `refused`: by the server. `over`: the response does not belong to a request of this browser. */
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
