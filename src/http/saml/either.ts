import type { Request, RequestHandler, Response } from "express";
import { withFaults } from "../faults.ts";
import { bodyParameters, queryParameters } from "../input/params.ts";
import { enter, type Route } from "../route.ts";
import type { Web } from "../web.ts";

/** The message in a request, by the name of its root; null: it cannot be read, which the endpoint then says. */
async function rootName(req: Request): Promise<string | null> {
  const isPost = req.method === "POST";
  const message = (isPost ? bodyParameters(req) : queryParameters(req))["SAMLRequest"];
  const { decodeMessage, rootOf } = await import("../../core/saml/message.ts");
  try {
    const text = decodeMessage({
      binding: isPost ? "post" : "redirect",
      message: typeof message === "string" ? message : undefined,
    });
    return rootOf(text, ["AuthnRequest", "LogoutRequest"]).name;
  } catch {
    return null;
  }
}

type Endpoint = Omit<Route, "path"> & Pick<Route, "get" | "post">;

/** One address for sign-in and logout: the message says which is meant. A request that was kept says it beside its name. */
export function eitherOf(web: Web, sso: Endpoint, slo: Endpoint, path: string): Route {
  const [one, other] = [sso, slo].map((route) => withFaults(web, { ...route, path } as Route));
  const choose =
    (method: "get" | "post"): RequestHandler =>
    async (req: Request, res: Response, next) => {
      const isLogout = (await rootName(req)) === "LogoutRequest" || queryParameters(req)["for"] === "slo";
      const route = (isLogout ? other : one) as Route;
      enter(route)(req, res, () => undefined);
      await (route[method] as RequestHandler)(req, res, next);
    };
  return { ...(sso as Route), path, faultsInside: true, get: choose("get"), post: choose("post") };
}
