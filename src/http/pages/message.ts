import { hash } from "node:crypto";
import type { RequestHandler, Response } from "express";
import { escapeHtml } from "./templates/texts.ts";
import { formPostHeaders } from "../answer/security-headers.ts";
import { writerOf, type Page } from "./page-writer.ts";
import type { Renderer } from "./templates/render.ts";
import type { View } from "./views.ts";

/** Pages that send a message to the page that opened or framed them. Nobody sees them, and they change nothing. */

const script = "const{origin,message}=document.body.dataset;(opener??parent).postMessage(JSON.parse(message),origin)";
const scripts = `script-src 'sha256-${hash("sha256", script, "base64")}'`;

/** @param origin the page that may read the message and frame this one; `*` for any page */
export function sendMessage(res: Response, message: unknown, origin: string): void {
  const frames = origin === "null" ? "'none'" : origin;
  res.set({
    "Content-Security-Policy": `default-src 'none'; ${scripts}; base-uri 'none'; frame-ancestors ${frames}`,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
  });
  const data = `data-origin="${escapeHtml(origin)}" data-message="${escapeHtml(JSON.stringify(message))}"`;
  res
    .type("html")
    .send(`<!doctype html><meta charset="utf-8"><title>…</title><body ${data}><script>${script}</script>`);
}

/** A page that sends the same message to everybody. */
export const frame =
  (message: string): RequestHandler =>
  (_req, res) => {
    sendMessage(res, message, "*");
  };

/** An answer that the browser posts to a client by itself (OAuth 2.0 Form Post Response Mode; SAML 2.0 Bindings 3.5). */
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
