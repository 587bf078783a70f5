import type { ReadTx } from "../../../../store/store.ts";
import { single, type RawParameters } from "../../../protocol/authorize/parameters.ts";
import type { Context } from "../../../context.ts";
import { hashOf } from "../../../base/secrets.ts";
import { sessionOf } from "../../../sign-in/sessions/sessions.ts";
import { readToken, verifyIdTokenHint } from "../../../protocol/tokens/accept.ts";
import { jwtOf } from "../../../protocol/tokens/opaque.ts";
import { TokenProblem } from "../../../protocol/tokens/token-problem.ts";
import { readJws } from "../../../records/keys/jws.ts";
import type { FaultEndpoint } from "./endpoints.ts";
import type { FaultRequest } from "./faults.ts";

/** Finds the client and user of an unchecked request without side effects, so that faults can be chosen by them. */

/** What was sent, as the http layer read it. */
interface SentRequest {
  readonly endpoint: FaultEndpoint;
  readonly method: string;
  /** The parameters of the query and the body. */
  readonly parameters: RawParameters;
  /** The `client_id` of the Basic header or of the path. */
  readonly client: string | null;
  /** The access token of the Authorization header. */
  readonly accessToken: string | null;
  /** The session cookie. */
  readonly session: string | null;
}

/** Client and user; each null if the request does not say. */
interface Named {
  readonly clientId: string | null;
  readonly userId: string | null;
}

const nobody: Named = { clientId: null, userId: null };

export async function faultRequestOf(ctx: Context, sent: SentRequest): Promise<FaultRequest> {
  const { endpoint, method, parameters } = sent;
  // GitHub's apps leave it out.
  const usual = endpoint === "token" && ctx.layout.github === true ? "authorization_code" : null;
  const request = { endpoint, method, grantType: single(parameters, "grant_type") ?? usual };
  const said = sent.client ?? single(parameters, "client_id") ?? null;
  if (!ctx.faults.asksFor("client") && !ctx.faults.asksFor("user")) return { ...request, client: said, user: null };
  const named = (await namedByToken(ctx, sent)) ?? (await ctx.store.read((tx) => namedByRecord(tx, sent)));
  const asserted = readJws(single(parameters, "client_assertion") ?? "")?.payload["sub"];
  const client = said ?? (typeof asserted === "string" ? asserted : null) ?? named.clientId;
  const { userId } = named;
  const user = userId === null ? undefined : await ctx.store.read((tx) => tx.get("users", userId));
  return { ...request, client, user: user?.username ?? null };
}

/** The tokens in a request, the one that says most first. */
const tokenNames = ["refresh_token", "subject_token", "token", "access_token"];

async function namedByToken(ctx: Context, { parameters, accessToken }: SentRequest): Promise<Named | null> {
  const sent = tokenNames.map((name) => single(parameters, name)).find((token) => token !== undefined);
  const token = accessToken ?? sent;
  if (token !== undefined) {
    const found = readToken(ctx, await jwtOf(ctx, token));
    return found instanceof TokenProblem ? null : { clientId: found.claims.client_id, userId: found.claims.sub };
  }
  const hint = single(parameters, "id_token_hint");
  if (hint === undefined) return null;
  return verifyIdTokenHint(ctx, hint).then(
    ({ clientId, sub }) => ({ clientId, userId: sub }),
    () => null,
  );
}

function namedByRecord(tx: ReadTx, { parameters, session, endpoint }: SentRequest): Named {
  const [code, deviceCode] = [single(parameters, "code"), single(parameters, "device_code")];
  if (code !== undefined) return tx.get("codes", hashOf(code)) ?? nobody;
  const device = deviceCode === undefined ? undefined : tx.get("deviceRequests", hashOf(deviceCode));
  if (device !== undefined) {
    return { clientId: device.clientId, userId: device.grant?.userId ?? null };
  }
  // Browsers send the cookie to every address of this host, but it matters only at the endpoints that people open.
  const opened = ["authorize", "logout", "saml_sso", "saml_slo", "saml_start"];
  if (!opened.includes(endpoint)) return nobody;
  return { clientId: null, userId: sessionOf(tx, session)?.userId ?? null };
}
