import type { Request, RequestHandler, Response } from "express";
import { sendText } from "../answer/answer.ts";
import { apiHeaders } from "../answer/security-headers.ts";
import { withFaults } from "../faults.ts";
import { bodyParameters, clientQuery, queryParameters, single } from "../input/params.ts";
import { anyOrigin } from "../input/cors.ts";
import { formBody } from "../input/bodies.ts";
import { enter, type Route } from "../route.ts";
import type { Web } from "../web.ts";
import { getSlo, postSlo } from "./slo.ts";
import { getSso, getStart, postSso } from "./sso.ts";

/** SAML 2.0. The addresses are those of the issuer, as the metadata has them. */
export function samlRoutes(web: Web): readonly Route[] {
  const { saml } = web.ctx.layout;
  const sso = { kind: "page", name: "saml_sso", body: formBody, get: getSso(web), post: postSso(web) } as const;
  const slo = { kind: "page", name: "saml_slo", body: formBody, get: getSlo(web), post: postSlo(web) } as const;
  // Some vendors have one address for both.
  const both =
    saml.sso === saml.slo
      ? [eitherOf(web, sso, slo, saml.sso)]
      : [
          { ...sso, path: saml.sso },
          { ...slo, path: saml.slo },
        ];
  return [
    { kind: "public", cors: anyOrigin, name: "saml_metadata", path: saml.metadata, get: getMetadata(web) },
    { kind: "page", name: "saml_start", path: saml.start, get: getStart(web) },
    ...both,
  ];
}

/** The metadata of this identity provider. */
const getMetadata = (web: Web) => async (req: Request, res: Response) => {
  const { samlMetadata } = await import("../../core/saml/metadata.ts");
  const text = await samlMetadata(web.ctx, single(clientQuery(req), "sp"));
  sendText(
    res,
    200,
    { ...apiHeaders, "Cache-Control": "no-cache" },
    "application/samlmetadata+xml; charset=utf-8",
    text,
  );
};

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
function eitherOf(web: Web, sso: Endpoint, slo: Endpoint, path: string): Route {
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
