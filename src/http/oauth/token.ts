import type { Request, Response } from "express";
import { token } from "../../core/protocol/tokens/endpoint.ts";
import { tokenParameters } from "../../core/protocol/tokens/grant-types/list.ts";
import type { AnyTokenResponse } from "../../core/protocol/tokens/settle.ts";
import { sendJson } from "../answer/answer.ts";
import { clientCredentials, proofOf } from "../input/credentials.ts";
import { bodyParameters, every, single } from "../input/params.ts";
import { privateApiHeaders } from "../answer/security-headers.ts";
import { note, type Web } from "../web.ts";

/** RFC 6749 5.1 requires `Pragma` beside `Cache-Control: no-store`. */
const tokenHeaders = { ...privateApiHeaders, Pragma: "no-cache" };

const tokensIn = (response: AnyTokenResponse): string =>
  response.token_type === "N_A"
    ? "ID-JAG"
    : Object.keys(response)
        .filter((name) => name.endsWith("_token"))
        .map((name) => name.replace("_token", ""))
        .join(", ");

/** The token endpoint (RFC 6749 3.2). */
export const postToken = (web: Web) => async (req: Request, res: Response) => {
  sendJson(res, 200, await tokenAnswer(web, req, res), tokenHeaders);
};

/**
 * What the token endpoint answers.
 * @param usual the grant type of a request that names none
 * @throws {OAuthError}
 */
export async function tokenAnswer(web: Web, req: Request, res: Response, usual?: string): Promise<AnyTokenResponse> {
  const body = bodyParameters(req);
  const credentials = clientCredentials(web, req, body);
  const named = single(body, "grant_type");
  const grantType = named ?? usual;
  if (named === undefined && usual !== undefined) note(res, { grantType: usual });
  note(res, { client: credentials.basic?.id ?? credentials.id ?? null });
  const { response, username, remark } = await token(web.ctx, {
    ...credentials,
    proof: proofOf(web, req, "token"),
    grant_type: grantType,
    values: Object.fromEntries(
      tokenParameters.map(([name, kind]) => [name, kind === "list" ? every(body, name) : single(body, name)]),
    ),
  });
  const { scope = "" } = response;
  note(res, {
    user: username,
    outcome: {
      kind: scope === "" ? "tokens-without-scope" : "tokens",
      values: { grant: grantType ?? "", tokens: tokensIn(response), scope },
      ...(remark !== undefined && { remarks: [remark] }),
    },
  });
  return response;
}
