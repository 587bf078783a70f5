import { decodeProtectedHeader } from "jose";
import type { JsonObject } from "../text/json.ts";
import { attempt, Problem, shown } from "./check.ts";
import { isJwt, jsonOf, refusalOf, send, successOf, type Reply } from "./http.ts";
import { jwtClaims, verifySignature } from "./id-token.ts";
import type { SignIn } from "./tokens.ts";

/**
 * Asks UserInfo who signed in (OpenID Connect Core 5.3). The answer counts only if its `sub` is that of the ID token (5.3.2).
 * @param subject `sub` of the ID token
 * @returns null without a usable answer, or if the provider has no such endpoint
 */
export async function checkUserInfo(run: SignIn, accessToken: string, subject: unknown): Promise<JsonObject | null> {
  const { provider, report } = run;
  const url = provider.endpoints["userinfo_endpoint"];
  if (url === undefined) return null;
  const claims = await attempt(report, "userinfo", async () => {
    const reply = await send({ method: "GET", url, headers: { authorization: `Bearer ${accessToken}` } });
    const read = isJwt(reply) ? await signedClaims(run, reply) : successOrChallenge(reply);
    report.check("userinfo", true, `answered by ${url}`);
    return read;
  });
  if (claims === null) return null;
  const { sub } = claims;
  const same = typeof sub === "string" && sub === subject;
  const detail = `expected ${shown(subject)} as in the ID token, UserInfo has ${shown(sub)}`;
  report.check("userinfo.sub", same, same ? "matches the ID token" : detail);
  return claims;
}

/** A refusal may say the reason only in its challenge (RFC 6750 3). */
function successOrChallenge(reply: Reply): JsonObject {
  const challenge = reply.headers["www-authenticate"];
  if (reply.status < 400 || challenge === undefined) return successOf(reply);
  let refusal: JsonObject = {};
  try {
    refusal = jsonOf(reply);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
  }
  const why = refusalOf(refusal) || ` ${challenge.slice(0, 300)}`;
  throw new Problem(`${reply.url} answers ${reply.status}${why}`, { refusal });
}

async function signedClaims(run: SignIn, { url, text }: Reply): Promise<JsonObject> {
  let header: JsonObject;
  let claims: JsonObject;
  try {
    header = { ...decodeProtectedHeader(text) };
    claims = jwtClaims(text);
  } catch {
    throw new Problem(`${url} answers with a JWT that cannot be read; it may be encrypted`);
  }
  await verifySignature(run, text, header, run.provider.userinfoAlgs);
  return claims;
}
