import type { Request } from "express";
import { bodyParameters, queryParameters } from "../input/params.ts";
import type { Web } from "../web.ts";

const text = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined);

/** Whose message a request brings, before anything is checked; null: that cannot be read, which the endpoint then says. */
export async function senderOf({ ctx }: Web, req: Request): Promise<string | null> {
  const isPost = req.method === "POST";
  const parameters = isPost ? bodyParameters(req) : queryParameters(req);
  const started = text(parameters["sp"]);
  if (started !== undefined) return started;
  const { openMessage } = await import("../../core/saml/message.ts");
  const { keptSender } = await import("../../core/saml/begin.ts");
  const kept = text(parameters["kept"]);
  if (kept !== undefined) return keptSender(ctx, kept);
  try {
    const brought = { binding: isPost ? "post" : "redirect", message: text(parameters["SAMLRequest"]) } as const;
    return openMessage(brought, ["AuthnRequest", "LogoutRequest"]).entityId;
  } catch {
    return null;
  }
}
