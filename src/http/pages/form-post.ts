import { formPostHeaders } from "../answer/security-headers.ts";
import { writerOf, type Page } from "./page-writer.ts";
import type { Renderer } from "./templates/render.ts";
import type { View } from "./views.ts";

/** Pages whose form the browser posts to a client by itself (OAuth 2.0 Form Post Response Mode; SAML 2.0 Bindings 3.5). */

/** An answer that the browser posts to a client. */
export interface FormPostView extends View {
  /** The redirect URI. */
  readonly action: string;
  readonly parameters: readonly (readonly [name: string, value: string])[];
  /** After a sign-out: service providers that are not told. */
  readonly others?: readonly string[];
}

export function renderFormPost(renderer: Renderer, view: FormPostView): Page {
  const { page, say } = writerOf(renderer, view);
  const parameters = view.parameters.map(([name, value]) => ({ name, value }));
  const heading = { state: "default", title: say("form-post.title") };
  return page("form-post", heading, { action: view.action, parameters }, formPostHeaders);
}

/** A message of SAML that the browser posts. */
export function renderSamlPost(renderer: Renderer, view: FormPostView): Page {
  const { page, say } = writerOf(renderer, view);
  const parameters = view.parameters.map(([name, value]) => ({ name, value }));
  const heading = { state: "default", title: say("form-post.title") };
  return page("saml-post", heading, { action: view.action, parameters, others: view.others ?? [] }, formPostHeaders);
}
