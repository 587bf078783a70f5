import { viewFor } from "../pages/reader.ts";
import type { Request, Response } from "express";
import { baseOf } from "../../core/base/endpoints.ts";
import type { SignedOut } from "../../core/protocol/logout/logout.ts";
import type { LogoutReply } from "../../core/sign-in/interactions.ts";
import type { Brought } from "../../core/saml/message.ts";
import { SamlStatusError, type SamlPlan } from "../../core/saml/purpose.ts";
import type { SamlPost } from "../../core/saml/response.ts";
import { redirect } from "../answer/answer.ts";
import { sendPage, renderSamlPost } from "../pages/page-writer.ts";
import { note, notesOf, type Web } from "../web.ts";
import { bodyParameters, queryParameters } from "../input/params.ts";

/** Messages that the browser posts to a service provider, and what the ledger keeps of messages. */

/** The parameter that names a request which came by a cross-site POST. */
export const keptName = "kept";

/** Where such a request goes on. */
export const keptLocation = ({ base, ctx }: Web, name: "sso" | "slo", kept: string): string =>
  `${base}${baseOf(ctx.layout.issuer)}${ctx.layout.saml[name]}?${keptName}=${encodeURIComponent(kept)}${name === "slo" ? "&for=slo" : ""}`;

/** Notes what a message says, without what may be a secret, for the ledger. A message that cannot be read is not noted. */
export async function noteMessage(
  res: Response,
  name: string,
  brought: Brought | { readonly xml: string },
): Promise<void> {
  const { messageParts } = await import("../../core/saml/message.ts");
  const parts = messageParts(brought);
  if (parts !== null) note(res, { saml: { ...notesOf(res).saml, [name]: parts } });
}

/** Has the browser post a message. */
export async function sendSaml(web: Web, req: Request, res: Response, post: SamlPost): Promise<void> {
  const { action, parameters, xml } = post;
  note(res, { answer: { location: action, parameters } });
  await noteMessage(res, "SAMLResponse", { xml });
  sendPage(res, 200, renderSamlPost(web.renderer, { ...viewFor(web, req, res), action, parameters }));
}

/** An assertion, and whose it is. */
export interface SamlResult {
  readonly plan: SamlPlan;
  readonly clientId: string;
  readonly username: string;
}

/** Answers a service provider with the assertion of a sign-in that ended. */
export async function sendAssertion(
  web: Web,
  req: Request,
  res: Response,
  { plan, ...named }: Omit<SamlResult, "plan"> & { readonly plan: SamlPlan | SamlStatusError },
  remarks: readonly string[],
): Promise<void> {
  if (plan instanceof SamlStatusError) throw plan;
  const result = { ...named, plan };
  const { respond } = await import("../../core/saml/response.ts");
  const post = await respond(web.ctx, result.plan);
  res.locals["samlResult"] = result;
  const byPicker = result.plan.byPicker ? [`${result.plan.contextClass.split(":").at(-1) ?? ""} by picker`] : [];
  const said = [...remarks, ...byPicker, ...post.remarks];
  note(res, {
    client: result.clientId,
    user: result.username,
    outcome: { kind: "back-to-the-service-provider", remarks: said },
  });
  await sendSaml(web, req, res, post);
}

/** What a request ended with, if that is an assertion; else null. */
export const samlResultOf = (res: Response): SamlResult | null =>
  (res.locals["samlResult"] as SamlResult | undefined) ?? null;

/** Answers a service provider with a signed status. */
export async function sendStatus(web: Web, req: Request, res: Response, error: SamlStatusError): Promise<void> {
  const { respondStatus } = await import("../../core/saml/response.ts");
  await sendSaml(web, req, res, await respondStatus(web.ctx, error));
}

/** Answers the service provider that asked for a sign-out. @returns whether it has an address for that */
export async function answerLogoutRequest(
  web: Web,
  req: Request,
  res: Response,
  outcome: SignedOut & { readonly reply: LogoutReply },
): Promise<boolean> {
  const { answerLogout } = await import("../../core/saml/logout.ts");
  const answer = await answerLogout(web.ctx, outcome.reply, outcome.others);
  if (answer === null) return false;
  const { binding, action, parameters, xml, statuses } = answer;
  note(res, {
    outcome: {
      kind: outcome.ended ? "signed-out" : "no-session-ended",
      remarks: [`LogoutResponse ${statuses.join(" / ")}`],
    },
    answer: { location: action.split("?")[0] ?? "", parameters },
  });
  await noteMessage(res, "SAMLResponse", { xml });
  if (binding === "redirect") {
    redirect(res, action);
    return true;
  }
  const shown = viewFor(web, req, res);
  const others = outcome.others.map((name) => name(shown.lang));
  sendPage(res, 200, renderSamlPost(web.renderer, { ...shown, action, parameters, others }));
  return true;
}

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Whose message a request brings, before anything is checked; null: that cannot be read, which the endpoint then says. */
export async function senderOf({ ctx }: Web, req: Request): Promise<string | null> {
  const isPost = req.method === "POST";
  const parameters = isPost ? bodyParameters(req) : queryParameters(req);
  const started = text(parameters["sp"]);
  if (started !== undefined) return started;
  const { openMessage } = await import("../../core/saml/message.ts");
  const { keptSender } = await import("../../core/saml/kept.ts");
  const kept = text(parameters["kept"]);
  if (kept !== undefined) return keptSender(ctx, kept);
  try {
    const brought = { binding: isPost ? "post" : "redirect", message: text(parameters["SAMLRequest"]) } as const;
    return openMessage(brought, ["AuthnRequest", "LogoutRequest"]).entityId;
  } catch {
    return null;
  }
}
