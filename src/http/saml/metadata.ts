import type { Request, Response } from "express";
import { sendText } from "../answer/answer.ts";
import { apiHeaders } from "../answer/security-headers.ts";
import type { Web } from "../web.ts";

/** The metadata of this identity provider. */
export const getMetadata = (web: Web) => async (_req: Request, res: Response) => {
  const { samlMetadata } = await import("../../core/saml/metadata.ts");
  const text = await samlMetadata(web.ctx);
  sendText(
    res,
    200,
    { ...apiHeaders, "Cache-Control": "no-cache" },
    "application/samlmetadata+xml; charset=utf-8",
    text,
  );
};
