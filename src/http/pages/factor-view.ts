import type { FactorPage } from "../../core/factors/factor.ts";
import { formPageHeaders, passkeyPageHeaders } from "../answer/security-headers.ts";
import { writerOf, type Page } from "./page-writer.ts";
import type { PersonView } from "./person.ts";
import { passkeyScript, type Renderer } from "./templates/render.ts";
import { formatDuration } from "./templates/texts.ts";
import type { AppView, RequestView, View } from "./views.ts";

/** What the page `factor` shows, and its HTML. */
export interface FactorView
  extends View, RequestView, Pick<FactorPage, "asked" | "instead" | "code" | "button" | "insecure"> {
  readonly state: "otp" | "passkey" | "error-otp" | "error-passkey";
  readonly action: string;
  readonly csrf: string;
  readonly client: AppView | null;
  readonly user: PersonView;
  /** What the script asks the authenticator for, as JSON; null: no passkey can be used. */
  readonly options: string | null;
  readonly insteadHref: string | null;
  /** The address at which passkeys work, if this page is at another one. */
  readonly elsewhere: string | null;
  /** The page to go back to; null: the form cancels, and the browser goes back to the app. */
  readonly cancelHref: string | null;
}

export function renderFactor(renderer: Renderer, view: FactorView): Page {
  const { page, lang, say, plain } = writerOf(renderer, view);
  const { state, code, asked } = view;
  return page(
    "factor",
    { state, title: say(`factor.title-${asked}`), failed: state.startsWith("error-") },
    {
      ...view,
      notes: view.notes.map(plain),
      code: code?.code ?? null,
      validFor: code?.code == null ? null : formatDuration(code.expiresIn, lang),
      wait: code === null || code.code !== null ? null : formatDuration(code.wait, lang),
      script: view.options === null ? null : passkeyScript(renderer, view.base),
    },
    view.options === null ? formPageHeaders : passkeyPageHeaders,
  );
}
